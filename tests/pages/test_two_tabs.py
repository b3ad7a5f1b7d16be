"""Two tabs on one draft: no text is overwritten unseen, and the visitor chooses."""

from rewards_lib.store import Store
from tests.pages.conftest import texts


def weight_in_store():
    return Store().load_draft("mix", "math").content["rules"][0]["weight"]


def test_the_slower_tab_is_told_and_keeps_its_text_until_it_chooses(open_page):
    first, second = open_page("compose"), open_page("compose")
    first.number_input[0].set_value(0.5).run()
    second.number_input[0].set_value(0.7).run()
    assert "changed in another tab" in texts(second)
    assert weight_in_store() == 0.5
    assert second.number_input[0].value == 0.7
    second.button(key="keep_mine_mix").click().run()
    assert "changed in another tab" not in texts(second)
    assert weight_in_store() == 0.7


def test_the_other_tabs_text_can_be_taken(open_page):
    first, second = open_page("compose"), open_page("compose")
    first.number_input[0].set_value(0.5).run()
    second.number_input[0].set_value(0.7).run()
    second.button(key="take_theirs_mix").click().run()
    assert second.number_input[0].value == 0.5
    assert weight_in_store() == 0.5


def test_a_draft_deleted_elsewhere_can_be_saved_anew(open_page):
    page = open_page("compose")
    Store().delete_draft("mix", "math")
    page.number_input[0].set_value(0.7).run()
    assert not page.exception
    assert "renamed or deleted in another tab" in texts(page)
    page.button(key="keep_mine_mix").click().run()
    assert weight_in_store() == 0.7

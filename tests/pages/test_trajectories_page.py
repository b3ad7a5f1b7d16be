"""Trajectories, through app.py: the example is there, strategies move the numbers, one seed gives one run."""

from tests.pages.conftest import texts


def test_a_newcomer_finds_a_trajectory_with_its_mask_and_its_advantage(open_page):
    page = open_page("trajectories")
    assert not page.exception
    assert "pens\\.1" in texts(page)
    assert "advantage **0.866**" in texts(page)


def test_switching_the_strategy_moves_the_numbers(open_page):
    page = open_page("trajectories")
    table = page.dataframe[0].value
    sums = {}
    for strategy in ("last token", "uniform", "every token"):
        page.segmented_control(key="credit_strategy").set_value(strategy).run()
        sums[strategy] = page.dataframe[0].value["sum"].tolist()
    assert len({tuple(own) for own in sums.values()}) == 3
    assert table["trained"].sum() > 0

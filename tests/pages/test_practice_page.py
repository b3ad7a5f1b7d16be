"""Practice, through app.py: an exercise is there, checking grades it, progress is kept, a round from memory works."""

from components import cache
from components.practice.cloze_view import typed_answers
from rewards_lib.practice import exercises, hide_tokens
from rewards_lib.store import Progress
from tests.pages.conftest import texts

FIRST = next(iter(exercises()))


def write(page, text, name=FIRST):
    """Type into the editor, whether it is built here or a plain text area."""
    if page.text_area:
        page.text_area[0].set_value(text)
    else:
        page.session_state[f"exercise_{name}"] = {"value": text}
    return page


def test_a_newcomer_finds_the_first_exercise_with_its_blanks(open_page):
    page = open_page("practice")
    assert not page.exception
    assert "1  Format reward" in "\n".join(one.value for one in page.subheader)
    assert page.selectbox(key="exercise").value == FIRST
    assert page.selectbox(key="exercise").options[0] == "1  Format reward · first steps"


def test_open_blanks_are_told_and_nothing_is_solved(open_page):
    page = open_page("practice")
    page.button(key="exercise_check").click().run()
    assert "3 blanks are still open" in texts(page)
    assert Progress(cache.store()).of(FIRST).tries == 1


def test_the_solution_solves_it_and_the_plan_says_so_after_a_reload(open_page):
    page = open_page("practice")
    write(page, exercises()[FIRST].solution).run()
    page.button(key="exercise_check").click().run()
    count = len(exercises()[FIRST].checks)
    assert f"{count} of {count} cases pass." in texts(page)
    again = open_page("practice")
    assert again.selectbox(key="exercise").value == list(exercises())[1]
    assert again.selectbox(key="exercise").options[0] == "1  Format reward · first steps · solved"
    assert cache.store().load_draft("exercise", FIRST).content["text"] == exercises()[FIRST].solution


def test_a_hint_comes_when_it_is_asked_for_and_one_at_a_time(open_page):
    page = open_page("practice")
    assert "Hint 1" not in texts(page)
    page.button(key="exercise_hint").click().run()
    assert "Hint 1" in texts(page)
    assert "Hint 2" not in texts(page)


def test_the_solution_is_shown_with_its_reasons_and_remembered(open_page):
    page = open_page("practice")
    page.button(key="exercise_solution_button").click().run()
    assert "SHAPE.fullmatch" in "\n".join(one.value for one in page.code)
    assert Progress(cache.store()).of(FIRST).solution_seen


def test_a_round_from_memory_judges_each_gap(open_page):
    page = open_page("practice")
    page.segmented_control(key="practice_mode").set_value("recall").run()
    rounds = page.session_state["cloze_rounds"][FIRST]
    hidden = hide_tokens(exercises()[FIRST].solution, share=rounds.percent / 100, seed=rounds.seed).hidden
    rounds.answers = {token.number: token.text for token in hidden[1:]}
    page.button(key="exercise_check").click().run()
    assert f"**{len(hidden) - 1} of {len(hidden)} right**" in texts(page)
    page.button(key="cloze_show").click().run()
    assert "1 shown" in texts(page)


def test_answers_of_another_round_are_left_aside(monkeypatch):
    from components import state

    held = {"answers": {"round": "30/1", "values": {"2": "b"}}}
    monkeypatch.setattr(state, "widget", lambda key: held)
    assert typed_answers("key", "30/1", {1: "a"}) == {1: "a", 2: "b"}
    assert typed_answers("key", "30/2", {1: "a"}) == {1: "a"}


def test_the_first_case_that_goes_wrong_is_shown_whole_and_the_code_of_the_cases_can_be_read(open_page):
    page = open_page("practice", exercise="mask_shift")
    exercise = exercises()["mask_shift"]
    write(page, exercise.wrong_answers[0].text, name="mask_shift").run()
    page.button(key="exercise_check").click().run()
    shown = "\n".join(one.value for one in page.code)
    assert exercise.checks[0].call in shown
    assert f"expected {exercise.checks[0].gives!r}, got " in shown
    assert exercise.support.strip() in shown

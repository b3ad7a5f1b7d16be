"""The Training metrics page, from the drop zone to the last series."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]
PAGE = "pages/training_metrics.py"


@pytest.fixture
def page(tmp_path, monkeypatch) -> AppTest:
    monkeypatch.setenv("REWARD_CONSOLE_HOME", str(tmp_path))
    monkeypatch.chdir(ROOT)
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run().switch_page(PAGE).run()


def drop(page: AppTest, *files: tuple[str, str]) -> AppTest:
    uploaded = [(name, text.encode(), "text/csv") for name, text in files]
    return page.get("file_uploader")[0].set_value(uploaded).run()


def shown(page: AppTest) -> str:
    """The page's texts without the signs that put Markdown out of action."""
    assert not page.exception
    return "\n".join(element.value for element in [*page.markdown, *page.caption, *page.error]).replace("\\", "")


def test_the_empty_page_says_what_to_drop_and_offers_examples(page):
    assert [button.key for button in page.button if button.key.startswith("example_")] == [
        "example_hacked", "example_truncated", "example_healthy"
    ]  # fmt: skip
    assert "Drop the CSV of a run." in shown(page)


@pytest.mark.parametrize("name", ["hacked", "truncated", "healthy"])
def test_one_click_shows_an_example_run(page, name):
    page.button(key=f"example_{name}").click().run()
    text = shown(page)
    for title in ("Final reward", "Length and truncation", "math_accuracy", "think_answer_format", "Clipping"):
        assert f"**{title}**" in text
    assert "Nothing had to be mended." in text


def test_a_dropped_file_is_read_and_what_was_mended_is_told(page):
    drop(page, ("run.csv", "step,reward,x\n1,0.1,1\n2,0.2,\n1,0.3,oops\n2,0.4,5\n3,0.5,6\n4,0.6\n"))
    text = shown(page)
    assert "The last row was left out: it has 2 of 3 cells" in text
    assert "Cells of x that are not numbers: 1, the first 'oops' in line 4" in text
    assert "restart at 1" in text


def test_a_mean_skips_the_steps_without_a_value(page):
    drop(page, ("run.csv", "step,rewards/code\n1,0.2\n2,nan\n3,NaN\n4,0.9\n"))
    assert "rewards/code · mean 0.55 over 2 steps" in shown(page)


def test_an_unusable_file_is_refused_in_a_sentence_and_can_be_closed(page):
    drop(page, ("run.csv", "step,a\n1,1\n2,2,3\n"))
    (error,) = page.error
    assert "Line 3 has 3 cells, the header has 2." in error.value.replace("\\", "")
    next(button for button in page.button if button.label == "Close run.csv").click().run()
    assert "Drop the CSV of a run." in shown(page)


def test_without_a_step_column_the_visitor_chooses_one_or_the_row_number(page):
    drop(page, ("run.csv", "name,reward,acc\na,0.1,0.5\nb,0.3,0.2\n"))
    assert "No column counts the steps; the columns are name, reward, acc." in shown(page)
    next(box for box in page.selectbox if "counts the steps" in box.label).set_value("row number").run()
    assert "**Final reward**" in shown(page)
    assert not page.error


def test_runs_and_choices_survive_a_switch_of_pages(page):
    page.button(key="example_hacked").click().run()
    page.button_group(key="metric_smoothing").set_value("0.6").run()
    page.slider(key="metric_steps_0_160").set_range(40, 120).run()
    page.switch_page("pages/test.py").run().switch_page(PAGE).run()
    assert page.button_group(key="metric_smoothing").value == "0.6"
    assert page.slider(key="metric_steps_0_160").value == (40, 120)
    assert "hacked.csv" in shown(page)


def test_another_column_can_count_the_steps(page):
    page.button(key="example_healthy").click().run()
    box = next(box for box in page.selectbox if box.label == "Steps counted by")
    box.set_value("train/epoch").run()
    assert "steps counted by train/epoch" in shown(page)
    assert "Steps that came more than once" in shown(page)


def test_further_series_are_filtered_by_a_regular_expression_and_drawn(page):
    page.button(key="example_healthy").click().run()
    page.text_input(key="metric_filter").set_value("grad|judge").run()
    (picker,) = page.multiselect
    assert picker.options == ["train/metrics/judge_seconds", "train/actor/grad_norm"]
    picker.select("train/actor/grad_norm").run()
    assert "**train/actor/grad_norm** " in shown(page)


def test_a_broken_regular_expression_is_told_and_filters_nothing(page):
    page.button(key="example_healthy").click().run()
    page.text_input(key="metric_filter").set_value("(").run()
    assert "is no regular expression" in page.warning[0].value
    assert len(page.multiselect[0].options) > 5


def test_two_runs_are_overlaid_and_all_can_be_closed(page):
    drop(page, ("a.csv", "step,reward\n1,1\n2,2\n"), ("b.csv", "step,reward\n1,1\n2,3\n"))
    assert "a.csv" in shown(page)
    assert "b.csv" in shown(page)
    page.button(key="close_runs").click().run()
    assert "Drop the CSV of a run." in shown(page)

"""The Training metrics page, from the drop zone to the last series."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]
PAGE = "pages/training_metrics.py"


@pytest.fixture
def page(open_page) -> AppTest:
    return open_page("training_metrics")


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
    assert "Drop what your trainer or tracker gave you." in shown(page)


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
    next(button for button in page.button if button.label.replace("\\", "") == "Close run.csv").click().run()
    assert "Drop what your trainer or tracker gave you." in shown(page)


def test_without_a_step_column_the_visitor_chooses_one_or_the_row_number(page):
    drop(page, ("run.csv", "name,reward,acc\na,0.1,0.5\nb,0.3,0.2\n"))
    assert "No column counts the steps; the columns are name, reward, acc." in shown(page)
    next(box for box in page.selectbox if "counts the steps" in box.label).set_value("row number").run()
    assert "**Final reward**" in shown(page)
    assert not page.error


def test_runs_and_choices_survive_a_switch_of_pages(page):
    page.button(key="example_hacked").click().run()
    page.slider(key="metric_smoothing").set_value(0.6).run()
    page.slider(key="metric_steps_0_160").set_range(40, 120).run()
    page.switch_page("pages/test.py").run().switch_page(PAGE).run()
    assert page.slider(key="metric_smoothing").value == 0.6
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
    page.text_input(key="metric_filter").set_value("advantage|judge").run()
    (picker,) = page.multiselect
    assert picker.options == ["train/metrics/judge_seconds", "train/advantage/advantages"]
    picker.select("train/advantage/advantages").run()
    assert "**train/advantage/advantages** " in shown(page)
    (table,) = (frame.value for frame in page.dataframe if "series" in frame.value.columns)
    assert "train/advantage/advantages" in set(table["series"])


def test_a_broken_regular_expression_is_told_and_filters_nothing(page):
    page.button(key="example_healthy").click().run()
    page.text_input(key="metric_filter").set_value("(").run()
    assert "is no regular expression" in page.warning[0].value
    assert len(page.multiselect[0].options) > 5


def test_a_regular_expression_that_can_explode_is_told_and_filters_nothing(page):
    page.button(key="example_healthy").click().run()
    page.text_input(key="metric_filter").set_value("(a+)+$").run()
    assert "is not used as a filter: a repeat inside a repeat" in page.warning[0].value.replace("\\", "")
    assert len(page.multiselect[0].options) > 5


def test_what_was_read_of_a_followed_file_is_kept_in_its_newest_state_alone(page, tmp_path, monkeypatch):
    from components.metrics import files

    path = tmp_path / "job.log"
    path.write_text("step:1 - critic/score/mean:0.5\n")
    page.text_input(key="metric_path_0").set_value(str(path)).run()
    (before,) = page.session_state["metric_files"]
    path.write_text(path.read_text() + "step:2 - critic/score/mean:0.7\n")
    page.run()
    (after,) = page.session_state["metric_files"]
    reads = []
    monkeypatch.setattr(files, "read_export", lambda data, name, **chosen: reads.append(name))
    for file in (before, after):
        files._read(file.digest, file.name, None, path)
    files._read.clear(before.digest, before.name, None, path)
    assert len(reads) == 1


def test_two_runs_are_overlaid_and_all_can_be_closed(page):
    drop(page, ("a.csv", "step,reward\n1,1\n2,2\n"), ("b.csv", "step,reward\n1,1\n2,3\n"))
    assert "a.csv" in shown(page)
    assert "b.csv" in shown(page)
    page.button(key="close_runs").click().run()
    assert "Drop what your trainer or tracker gave you." in shown(page)


# --- the diagnosis -------------------------------------------------------------------------------------------------


def blocks(page: AppTest) -> str:
    """The coloured blocks: title and text."""
    elements = [*page.error, *page.success, *page.info]
    return "\n".join(f"{element.proto.title} {element.value}" for element in elements).replace("\\", "")


def test_files_of_one_name_keep_their_findings_whichever_was_dropped_first(page):
    head = "step,train/generation/response_length.clipfrac\n"
    cut, whole = (head + "".join(f"{step},{share}\n" for step in range(1, 61)) for share in (0.9, 0.01))
    for files, label in (((cut, whole), "run.csv"), ((whole, cut), "run.csv (2)")):
        drop(page, *[("run.csv", text) for text in files])
        before, found, _after = shown(page).partition("Answers are cut")
        assert found
        assert before.splitlines()[-2].endswith(f"**{label}**")
        page.button(key="close_runs").click().run()


def test_the_step_column_is_chosen_of_the_file_that_was_read_not_of_a_refused_one_of_its_name(page):
    drop(page, ("run.csv", "step,a\n1,1\n2,2,3\n"), ("run.csv", "step,epoch,reward\n1,0.5,1\n2,1.0,2\n3,1.5,3\n"))
    next(box for box in page.selectbox if box.label == "Steps counted by").set_value("epoch").run()
    assert next(box for box in page.selectbox if box.label == "Steps counted by").value == "epoch"
    assert page.slider[0].max == 1.5


def test_findings_stand_before_the_curves_in_sentences_with_their_numbers(page):
    page.button(key="example_truncated").click().run()
    told = "Go back to the checkpoint of step 80: around it the tests were best. 3 findings"
    assert f"Something is wrong from step 83 {told}" in blocks(page)
    text = shown(page)
    assert "Answers are cut: truncation **0.21" in text
    assert "limit **30" in text
    assert text.index("Answers are cut") < text.index("**Final reward**")
    assert "28 checks passed" in text
    assert "8 could not be made: no entropy, zero-variance share" in text


def test_a_healthy_run_gets_the_green_block(page):
    page.button(key="example_healthy").click().run()
    assert "Healthy so far 32 checks passed." in blocks(page)
    assert not page.error


def test_a_short_run_is_not_called_healthy(page):
    drop(page, ("run.csv", "step,reward\n1,1\n2,2\n"))
    assert "Nothing wrong so far Too few steps to judge" in blocks(page)


def test_the_button_of_a_finding_sets_the_steps_and_asks_for_its_chart(page):
    page.button(key="example_truncated").click().run()
    page.button(key="zoom_finding_0_truncation_high").click().run()
    assert page.slider(key="metric_steps_0_160").value == (115, 160)
    assert page.session_state["metric_focus"] == ("chart_length", 1)
    page.button(key="all_steps").click().run()
    assert page.slider(key="metric_steps_0_160").value == (0, 160)


def test_a_changed_threshold_changes_the_findings_and_can_be_taken_back(page):
    page.button(key="example_truncated").click().run()
    page.selectbox(key="threshold_rule").set_value(page.selectbox(key="threshold_rule").value).run()
    page.number_input(key="threshold_truncation_high_limit").set_value(0.9).run()
    assert "Answers are cut" not in shown(page)
    page.button(key="reset_thresholds").click().run()
    assert "Answers are cut" in shown(page)


def test_own_rules_are_asked_and_broken_ones_are_told(page):
    page.button(key="example_healthy").click().run()
    rule = "rules:\n- {id: mine, severity: hard, condition: outside, bounds: {train/actor/kl_loss: {above: top}},"
    page.text_area(key="own_rules").set_value(f"{rule} thresholds: {{top: 0.001}}, text: 'KL is {{value}}.'}}").run()
    assert "KL is **0.0" in shown(page)
    assert "Broken from step" in blocks(page)
    page.text_area(key="own_rules").set_value("rules: [[").run()
    assert "This is not YAML" in blocks(page)
    assert "Healthy so far" in blocks(page)


def test_a_chosen_mix_is_checked_against_the_final_reward(page):
    page.switch_page("pages/compose.py").run()  # saves the example mix, whose rules are not those of the run
    page.switch_page(PAGE).run()
    page.button(key="example_healthy").click().run()
    page.selectbox(key="metric_mix").set_value("math").run()
    assert not page.exception
    assert "The mix was not checked: the run does not report accuracy" in shown(page)


def test_the_address_names_the_opened_files(page):
    page.button(key="example_hacked").click().run()
    assert page.query_params["runs"] == "hacked"
    page.button(key="close_runs").click().run()
    assert "runs" not in page.query_params


def test_an_address_opens_its_example_and_says_which_files_are_gone(page, tmp_path):
    fresh = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    fresh.query_params["runs"] = "truncated,0123456789"
    fresh.run().switch_page(PAGE)
    fresh.query_params["runs"] = "truncated,0123456789"
    fresh.run()
    assert "truncated.csv" in shown(fresh)
    assert "files that this console no longer keeps: 1" in blocks(fresh)


def test_a_followed_path_shows_what_was_written_since(page, tmp_path):
    path = tmp_path / "job.log"
    path.write_text("step:1 - critic/score/mean:0.5\nstep:2 - critic/score/mean:0.6\n")
    page.text_input(key="metric_path_0").set_value(str(path)).run()
    assert "2 steps" in shown(page)
    path.write_text(path.read_text() + "step:3 - critic/score/mean:0.7\n")
    page.run()
    assert "3 steps" in shown(page)


def test_values_of_both_signs_get_a_scale_that_is_logarithmic_on_both_sides_of_0(page):
    drop(page, ("run.csv", "step,reward\n0,-1\n2,2\n300,3000\n"))
    page.button_group(key="metric_axes").set_value(["log", "log_x"]).run()
    assert "log scale on both sides of 0" in shown(page)
    assert not page.exception


def test_outliers_out_of_view_are_told(page):
    rows = "".join(f"{step},{44 if step == 50 else 1 + step / 1000}\n" for step in range(1, 101))
    drop(page, ("run.csv", "step,reward\n" + rows))
    page.button_group(key="metric_axes").set_value(["clip"]).run()
    assert "points above: 1, farthest 44 at step 50" in shown(page)


def test_the_shown_series_stand_in_a_table_for_the_steps_looked_at(page):
    drop(page, ("run.csv", "step,reward,x\n1,1,5\n2,4,6\n3,2,7\n"))
    (table,) = (frame.value for frame in page.dataframe if "series" in frame.value.columns)
    row = table.set_index("series").loc["reward"]
    assert (row["first"], row["last"], row["min"], row["max"], row["max at step"]) == (1, 2, 1, 4, 2)


def test_a_file_that_is_no_log_is_not_opened_and_nothing_of_it_is_told(page):
    page.text_input(key="metric_path_0").set_value("/etc/passwd").run()
    (error,) = page.error
    assert "opens files in these folders only" in error.value
    assert "root" not in error.value.replace("/root", "")
    assert page.session_state["metric_files"] == ()


def test_a_branch_of_the_names_narrows_what_can_be_picked(page):
    names = [f"train/env/{one}" for one in "abc"] + [f"train/data/{one}" for one in "xy"] + ["other"]
    rows = "".join(f"{step},{step},1,2,3,4,5\n" for step in range(1, 5))
    drop(page, ("run.csv", f"step,{','.join(names)}\n{rows}"))
    box = next(box for box in page.selectbox if box.label == "Branch")
    assert box.options == ["train/ · 5", "\u2003train/data/ · 2", "\u2003train/env/ · 3"]
    picked = set(page.multiselect[0].value)
    box.set_value("train/data/").run()
    assert set(page.multiselect[0].options) == {"train/data/x · constant", "train/data/y · constant"} | {
        option for option in page.multiselect[0].options if option.split(" ")[0] in picked
    }


def test_the_report_counts_the_checks_as_the_page_does():
    from components.metrics.findings import checks_not_made
    from rewards_lib.training_metrics import diagnose, read_export

    data = (ROOT / "examples" / "training_metrics" / "truncated.csv").read_bytes()
    checks = diagnose(read_export(data, "truncated.csv").runs[0]).checks
    assert any(check.silenced_by for check in checks)
    assert len(checks_not_made(checks)) == 8

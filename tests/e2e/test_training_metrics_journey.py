"""Drop a run, read what is wrong, zoom, overlay another, take the data away, open the address again."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import new_visitor

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "training_metrics"


def drop(visitor, *names):
    visitor.page.locator("input[type=file]").first.set_input_files([EXAMPLES / name for name in names])
    visitor.settle()


@pytest.fixture
def truncated(visitor):
    visitor.open("training_metrics")
    drop(visitor, "truncated.csv")
    return visitor


def lines(visitor, chart):
    """The names of the lines that a chart draws."""
    plot = visitor.keyed(chart).locator(".js-plotly-plot")
    expect(plot).to_be_visible()
    return plot.evaluate("plot => plot._fullData.filter(t => t.showlegend).map(t => t.name)")


def test_a_dropped_run_is_judged_and_drawn_with_its_bands_and_clip_fractions(truncated):
    truncated.sees("Something is wrong from step 83")
    expect(truncated.keyed("metric_findings_0")).to_contain_text("Answers are cut: truncation 0.21")
    assert lines(truncated, "chart_function_math_accuracy") == ["train won to bon", "train", "test won to bon", "test"]
    assert lines(truncated, "chart_clipping") == ["clipfrac", "high", "low", "clipfrac2"]


def test_the_button_of_a_finding_scrolls_to_its_chart_with_the_steps_set(truncated):
    truncated.keyed("zoom_finding_0_truncation_high").get_by_role("button").click()
    truncated.settle()
    expect(truncated.keyed("chart_length")).to_be_in_viewport()
    shown = truncated.keyed("chart_length").locator(".js-plotly-plot").evaluate("p => p._fullLayout.xaxis.range")
    assert shown[0] > 100
    truncated.press("All steps")
    expect(truncated.page.get_by_role("button", name="All steps")).to_have_count(0)


def drag_over(visitor, chart):
    """Drag over some steps of a chart and wait until they are shown."""
    plot = visitor.keyed(chart).locator(".js-plotly-plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    visitor.page.mouse.move(box["x"] + 150, box["y"] + 90)
    visitor.page.mouse.down()
    visitor.page.mouse.move(box["x"] + 300, box["y"] + 95, steps=8)
    visitor.page.mouse.up()
    expect(visitor.page).to_have_url(re.compile("metric_steps="))
    visitor.settle()


def test_steps_that_are_dragged_over_are_shown_in_all_charts(truncated):
    drag_over(truncated, "chart_final_reward")
    ranges = [
        truncated.keyed(key).locator(".js-plotly-plot").evaluate("p => p._fullLayout.xaxis.range")
        for key in ("chart_final_reward", "chart_clipping")
    ]
    assert ranges[0] == ranges[1]
    assert ranges[0][1] - ranges[0][0] < 100


def test_one_cursor_stands_in_all_charts(truncated):
    truncated.keyed("chart_final_reward").locator(".js-plotly-plot").hover(position={"x": 200, "y": 90})
    cursor = truncated.keyed("chart_clipping").locator(".chart-link-cursor")
    expect(cursor).to_be_visible()
    expect(cursor).to_contain_text("clipfrac")


def test_a_second_run_is_laid_over_the_first(truncated):
    truncated.press("Add a run")
    drop(truncated, "healthy.csv")
    assert "healthy.csv train" in lines(truncated, "chart_final_reward")
    truncated.sees("truncated.csv: Something is wrong from step 83")


def test_data_and_report_are_taken_away_and_the_report_opens_without_a_network(truncated, tmp_path, chromium):
    truncated.press("Download")
    for button, name in (("What is shown, as CSV", "shown.csv"), ("Report, one HTML file", "report.html")):
        with truncated.page.expect_download() as download:
            truncated.page.get_by_role("button", name=button).click()
        download.value.save_as(tmp_path / name)
    assert (tmp_path / "shown.csv").read_text().startswith("train/global_step,")
    page = chromium.new_context(offline=True).new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "report.html").as_uri())
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    expect(page.get_by_text("Answers are cut: truncation")).to_be_visible()
    page.context.close()
    assert {url.split(":", 1)[0] for url in asked} <= {"file", "blob", "data"}


def test_a_chart_gives_its_picture(truncated):
    plot = truncated.keyed("chart_final_reward").locator(".js-plotly-plot")
    plot.hover()
    with truncated.page.expect_download() as download:
        plot.locator(".modebar-btn").first.click()
    assert download.value.suggested_filename == "Final reward.png"


def test_the_address_opens_the_same_view_for_somebody_else(truncated, chromium, server):
    truncated.keyed("metric_smoothing").get_by_role("slider").focus()
    for _press in range(15):
        truncated.page.keyboard.press("ArrowRight")
    expect(truncated.page).to_have_url(re.compile("metric_smoothing=0.95"))
    truncated.settle()
    other = new_visitor(chromium, server)
    other.page.goto(truncated.page.url)
    other.settle()
    other.sees("Something is wrong from step 83")
    expect(other.page).to_have_url(re.compile("metric_smoothing=0.95"))
    other.page.context.close()


def test_a_followed_log_grows_on_the_page(visitor, tmp_path):
    log = tmp_path / "job.log"
    log.write_text("step:1 - critic/score/mean:0.5\nstep:2 - critic/score/mean:0.6\n")
    visitor.open("training_metrics")
    field = visitor.page.get_by_role("textbox", name="Or follow a file on this machine")
    field.fill(str(log))
    field.press("Enter")
    visitor.sees("2 steps")
    with log.open("a") as file:
        file.write("step:3 - critic/score/mean:0.7\nstep:4 - critic/sc")
    visitor.sees("3 steps")


def test_a_followed_log_grows_behind_the_steps_that_are_looked_at(visitor, tmp_path):
    log = tmp_path / "job.log"
    log.write_text("".join(f"step:{step} - critic/score/mean:0.5\n" for step in range(1, 101)))
    visitor.open("training_metrics")
    field = visitor.page.get_by_role("textbox", name="Or follow a file on this machine")
    field.fill(str(log))
    field.press("Enter")
    visitor.sees("100 steps")
    visitor.settle()
    drag_over(visitor, "chart_final_reward")
    plot = visitor.keyed("chart_final_reward").locator(".js-plotly-plot")
    shown = plot.evaluate("plot => plot._fullLayout.xaxis.range")
    assert 1 < shown[0] < shown[1] < 100
    with log.open("a") as file:
        file.write("step:101 - critic/score/mean:0.7\n")
    visitor.sees("101 steps")
    visitor.settle()
    assert plot.evaluate("plot => plot._fullLayout.xaxis.range") == shown


def test_what_was_picked_is_part_of_what_is_taken_away(truncated, tmp_path):
    series = "train/advantage/advantages"
    truncated.page.goto(f"{truncated.page.url}&metric_series={series}")
    truncated.settle()
    truncated.press("Download")
    for button, name in (("What is shown, as CSV", "shown.csv"), ("Report, one HTML file", "report.html")):
        with truncated.page.expect_download() as download:
            truncated.page.get_by_role("button", name=button).click()
        download.value.save_as(tmp_path / name)
        assert series in (tmp_path / name).read_text()

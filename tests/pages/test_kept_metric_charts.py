"""Charts of training metrics are drawn once for what they depend on."""

import pytest

from components.metrics import kept_charts


@pytest.fixture
def drawn(monkeypatch):
    """The looks that the known charts were drawn with, one for each time."""
    looks = []

    def draw(runs, look, limits):
        looks.append(look)
        return main_charts(runs, look, limits)

    main_charts = kept_charts.main_charts
    monkeypatch.setattr(kept_charts, "main_charts", draw)
    kept_charts._known_charts.clear()
    return looks


@pytest.fixture
def run(open_page, drawn):
    return open_page("training_metrics", lang="en").button(key="example_truncated").click().run()


def test_what_does_not_change_the_charts_draws_none_anew(run, drawn):
    run.multiselect[0].select("train/advantage/advantages").run()
    run.text_input(key="metric_filter").set_value("judge").run()
    run.run()
    assert len(drawn) == 1


def test_a_look_that_was_seen_before_is_there_at_once(run, drawn):
    for weight in (0.5, 0.8):
        run.slider(key="metric_smoothing").set_value(weight).run()
    assert [look.weight for look in drawn] == [0.8, 0.5]


def test_another_threshold_marks_other_findings(run, drawn):
    run.number_input(key="threshold_truncation_high_limit").set_value(0.9).run()
    assert len(drawn) == 2


def test_charts_speak_the_language_of_each_visitor(open_page, run, drawn):
    chinese = open_page("training_metrics", lang="zh", runs="truncated")
    assert not chinese.exception
    assert len(drawn) == 2
    open_page("training_metrics", lang="zh", runs="truncated")
    assert len(drawn) == 2

"""Training metrics: drop an export of a run, be told what is wrong, then see every series."""

import streamlit as st

from components import shell, state
from components.i18n import _
from components.metrics.chart_link import link_charts
from components.metrics.charts import chart_of, draw, drawn_names
from components.metrics.controls import close_all, look_chooser, picked, picks_of, series_picker
from components.metrics.diagnosis import book_of_visitor, judge_runs, weights_of_mix
from components.metrics.download import download_menu
from components.metrics.drawing import Limits
from components.metrics.facts import facts, how_it_was_read, mended, values_table
from components.metrics.files import example_buttons, key_of, open_exports, uploader
from components.metrics.findings import diagnosis_list
from components.metrics.followed import follow_paths, path_field
from components.metrics.kept_charts import known_charts, picked_chart
from components.metrics.link import follow_link, link_notice, write_link
from components.metrics.thresholds import rules_menu
from components.metrics.view import View
from rewards_lib.training_metrics import runs_of

shell.through_app()


def actions() -> None:
    """What can be done with the opened runs."""
    if exports:
        how_it_was_read(exports)
    with st.popover(_("Add a run"), icon=":material/add:", key="add_run"):
        uploader(key="add_upload")
        path_field()
    st.button(_("Close all"), icon=":material/close:", key="close_runs", on_click=close_all)
    if exports:
        download_menu(exports, runs, judged, [*charts, *drawn], look)


follow_link()
weights = weights_of_mix()
write_link(weights)
opened = bool(state.metric_files.get())
place, controls = st.container(), st.container()
read = open_exports()
exports = list(read.values())
if exports:
    runs = runs_of(exports)
    with controls:
        look = look_chooser(read, runs)
    book = book_of_visitor()
    judged = judge_runs(key_of(read), runs, book, weights)
    view = View(runs, judged, look, Limits.of(book), key_of(read))
    known = known_charts(view)
    charts = known.all
    offered = picks_of(exports, runs, drawn_names(charts))
    drawn = [picked_chart(view, pick) for pick in picked(offered, unasked=not charts)]
with place:
    shell.page_head(
        _("Training metrics"),
        _("Drop an export of a run; be told what is wrong before you look at a chart."),
        actions if opened else None,
    )
    link_notice()

if not opened:
    st.markdown(
        _(
            "**Drop what your trainer or tracker gave you.** A CSV (Ark, W&B, TensorBoard, SwanLab, MLflow, your own), "
            "an event file, a trainer_state.json, a console log or JSON lines; several files are runs to compare."
        )
    )
    uploader(key="first_upload")
    path_field()
    st.caption(_("Or look at one of these; each was simulated:"))
    with st.container(gap="xsmall", key="metric_examples"):
        example_buttons()
elif exports:
    diagnosis_list(judged, runs, charts, rules_menu)
    mended(exports)
    facts(view)
    draw([*known.main, *known.told], runs, look)
    if known.optimiser:
        found = any(chart_of(finding, charts) in known.optimiser for finding in view.findings)
        with st.expander(_("Optimiser: loss, gradient norm, KL, entropy, learning rate"), expanded=found):
            draw(known.optimiser, runs, look)
    series_picker(exports, offered, others=bool(charts))
    draw(drawn, runs, look)
    values_table(view, drawn_names([*charts, *drawn]))
    link_charts(*state.metric_focus.get(), key="chart_link")
follow_paths()

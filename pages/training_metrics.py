"""Training metrics: drop an export of a run, see what was read, then rewards, clipping, truncation and every series."""

import streamlit as st

from components import shell, state
from components.i18n import _
from components.metric_charts import draw, drawn_names, main_charts, series_chart
from components.metric_controls import look_chooser, series_picker
from components.metric_facts import facts, how_it_was_read, mended
from components.metric_files import example_buttons, open_exports, uploader
from rewards_lib.training_metrics import runs_of

shell.through_app()


def actions() -> None:
    """What can be done with the opened runs."""
    if exports:
        how_it_was_read(exports)
    with st.popover(_("Add a run"), icon=":material/add:", key="add_run"):
        uploader(key="add_upload")
    st.button(_("Close all"), icon=":material/close:", key="close_runs", on_click=state.metric_files.set, args=((),))


opened = bool(state.metric_files.get())
place = st.container()
exports = open_exports()
with place:
    shell.page_head(
        _("Training metrics"),
        _("Drop an export of a run; see reward, clipping and truncation before anything else."),
        actions if opened else None,
    )

if not opened:
    st.markdown(
        _("**Drop the CSV of a run.** One row a step, one column a metric, as Ark, W&B or your trainer writes it.")
    )
    uploader(key="first_upload")
    st.caption(_("Or look at one of these; each was simulated:"))
    with st.container(gap="xsmall", key="metric_examples"):
        example_buttons()
elif exports:
    runs = runs_of(exports)
    look = look_chooser(exports, runs)
    mended(exports)
    facts(runs, look)
    known = main_charts(runs, look)
    draw(known)
    picks = series_picker(exports, runs, drawn_names(known))
    draw([series_chart(runs, pick.members, pick.title, look, key=f"chart_series_{pick.title}") for pick in picks])

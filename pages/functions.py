"""Functions: write reward.py on the left, see what it gives and what is refused on the right."""

from datetime import UTC, datetime

import streamlit as st

from components import cache, drafts, function_draft, run_panel, scoring, shell, state
from components.code_editor import code_editor, current_text
from components.findings_list import counts, findings_list, marks
from components.i18n import _
from components.requirements_panel import requirements_panel
from components.samples import all_samples, current_sample, sample_chooser
from components.state import Remembered
from components.version_list import version_list
from rewards_lib.function_sources import draft_version, from_content

shell.through_app()
draft = function_draft.open_function()
editor_key = f"editor_{draft.name}"
text = current_text(draft.content["source"], key=editor_key, version=draft.epoch)
drafts.autosave(draft, draft.content | {"source": text})
pressed: dict[str, bool] = {}


def actions() -> None:
    """Make, publish, run."""
    function_draft.function_menu(draft)
    if st.button(_("Publish …"), icon=":material/cloud_upload:", key="publish"):
        function_draft.publish_dialog(draft)
    pressed["run"] = st.button(_("Run"), type="primary", icon=":material/play_arrow:", key="run", shortcut="Ctrl+Enter")


shell.page_head(
    _("Functions"), _("Write reward.py; refused constructs are marked at their line before anything runs."), actions
)
function_draft.chooser()
write, came = st.columns([6.4, 5], gap="medium")
findings = cache.findings(text)

with write:
    shell.panel_head("reward.py", counts(findings), lambda: drafts.saved_mark(draft))
    drafts.conflict_panel(draft, lambda content: str(content.get("source", "")))
    event = code_editor(
        draft.content["source"],
        key=editor_key,
        version=draft.epoch,
        label="reward.py",
        findings=marks(findings),
        goto=state.go_to_line.get(),
    )
    state.go_to_line.clear()

with came:
    payload = current_sample()
    texts = [completion.text for completion in payload.completions]
    function = from_content(draft.name, draft.content, version=draft_version(draft.content))
    if pressed["run"] or event.run:
        with st.spinner(_("Running …"), show_time=True):
            result = scoring.one_function(draft.name, function, payload, limits=scoring.PAGE_LIMITS)
        state.last_runs.get()[draft.name] = Remembered(str(function), result, datetime.now(UTC))
    run = state.last_runs.get().get(draft.name)
    with st.container(border=True, gap="xsmall", key="last_run"):
        told = _("sample {number} of {count}", number=state.sample_number.get(), count=len(all_samples()))
        shell.panel_head(_("Last run"), told, lambda: sample_chooser(key="functions", visible_pages=0))
        stale = run is not None and run.question != str(function)
        run_panel.last_run(run, texts, stale=stale, limit_seconds=scoring.PAGE_LIMITS.wall_seconds)
    findings += tuple(one for one in run.result.findings if one.line is None) if run and not stale else ()
    mark = f" :red-badge[{len(findings)}]" if findings else ""
    problems, logs, requirements, network, versions = st.tabs(
        [_("Findings") + mark, _("Logs"), _("Requirements"), _("Network"), _("Versions")], key="function_tabs"
    )
    with problems, st.container(gap=None):
        findings_list(findings, key="finding")
        st.caption(_("Refused lines stop a run; hints do not.") if findings else _("Nothing is refused."))
    with logs:
        run_panel.log_view(run.result if run else None)
    with requirements:
        wanted = requirements_panel(draft)
    with network:
        hosts = run_panel.network_view(draft, run.result.rules[0].network_calls if run else ())
    with versions:
        version_list(draft, function_draft.versions_of(draft.name))
    drafts.autosave(draft, draft.content | {"requirements": wanted, "allow_hosts": hosts})

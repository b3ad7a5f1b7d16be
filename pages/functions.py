"""Functions: write reward.py on the left, see what it gives and what is refused on the right."""

import streamlit as st

from components import cache, drafts, function_draft, function_run, run_panel, shell, state
from components.code_editor import code_editor, current_text
from components.findings_list import counts, findings_list, marks
from components.i18n import _
from components.limits_panel import limits_panel
from components.requirements_panel import requirements_panel
from components.samples import all_samples, sample_chooser
from components.version_list import version_list
from rewards_lib.executor import limits_from

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
if pressed["run"]:
    function_run.run(draft)
run = state.last_runs.get().get(draft.name)
stale = run is not None and run.question != function_run.question_of(draft)
editor_side, result_side = st.columns([6.4, 5], gap="medium")
findings = cache.findings(text)

with editor_side:
    shell.panel_head("reward.py", counts(findings), lambda: drafts.saved_mark(draft))
    drafts.conflict_panel(draft, lambda content: str(content.get("source", "")))
    event = code_editor(
        draft.content["source"],
        key=editor_key,
        version=draft.epoch,
        label="reward.py",
        findings=marks([*findings, *(function_run.raised_at(run) if not stale else ())]),
        goto=state.go_to_line.get(),
    )
    state.go_to_line.clear()
    if event.run:
        function_run.run(draft)
        st.rerun()  # the editor above marks the line that raised

with result_side:
    with st.container(border=True, gap="xsmall", key="last_run"):
        told = _("sample {number} of {count}", number=state.sample_number.get(), count=len(all_samples()))
        shell.panel_head(_("Last run"), told, lambda: sample_chooser(key="functions", visible_pages=0))
        run_panel.last_run(run, limits_from(draft.content), stale=stale)
    result = run.result.result if run else None
    findings += run_panel.run_findings(result) if not stale else ()
    mark = f" :{'red' if any(one.severity == 'error' for one in findings) else 'orange'}-badge[{len(findings)}]"
    problems, logs, requirements, network, limits, versions = st.tabs(
        [
            _("Findings") + (mark if findings else ""),
            _("Logs"),
            _("Requirements"),
            _("Network"),
            _("Limits"),
            _("Versions"),
        ],
        key="function_tabs",
    )
    with problems, st.container(gap=None):
        findings_list(findings, key="finding")
        st.caption(_("Refused lines stop a run; hints do not.") if findings else _("Nothing is refused."))
    with logs:
        run_panel.log_view(result)
    with requirements:
        wanted = requirements_panel(draft)
    with network:
        hosts = run_panel.network_view(draft, result.rules[0].network_calls if result else ())
    with limits:
        chosen = limits_panel(draft)
    with versions:
        version_list(draft, function_draft.versions_of(draft.name))
    settings = {"requirements": wanted, "allow_hosts": hosts, "limits": chosen}
    drafts.autosave(draft, draft.content | settings)

"""Functions: write reward.py on the left, see what it gives and what is refused on the right."""

import streamlit as st

from components import cache, drafts, shell, state
from components.code_editor import code_editor, current_text
from components.findings_list import counts, findings_list, marks, what_they_mean
from components.functions import draft as function_draft
from components.functions import last_run, requirements, run
from components.functions.limits import limits_panel
from components.functions.network import network_view
from components.functions.secrets import secrets_panel
from components.functions.versions import version_list
from components.i18n import _
from components.log_view import log_view
from components.samples import all_samples, sample_chooser
from rewards_lib.executor import limits_from

shell.through_app()
draft = function_draft.open_function()
editor_key = f"editor_{draft.name}"
text = current_text(draft.content["source"], key=editor_key, version=draft.epoch)
drafts.autosave(draft, draft.content | {"source": text})
limits_now = limits_from(draft.content)
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
    run.start(draft)
run.collect()
requirements.collect()
answer = state.last_runs.get().get(draft.name)
stale = answer is not None and answer.question != run.question_of(draft)
editor_side, result_side = st.columns([6.4, 5], gap="medium")
findings = cache.findings(text, str(draft.content.get("requirements", "")))

with editor_side:
    shell.panel_head("reward.py", counts(findings), lambda: drafts.saved_mark(draft))
    drafts.conflict_panel(draft, lambda content: str(content.get("source", "")))
    event = code_editor(
        draft.content["source"],
        key=editor_key,
        version=draft.epoch,
        label="reward.py",
        findings=marks([*findings, *(run.raised_at(answer) if not stale else ())]),
        goto=state.go_to_line.get(),
    )
    state.go_to_line.clear()
    if event.run:
        run.start(draft)
        st.rerun()  # the editor above marks the line that raised

with result_side:
    with st.container(border=True, gap="xsmall", key="last_run"):
        told = _("sample {number} of {count}", number=state.sample_number.get(), count=len(all_samples()))
        shell.panel_head(_("Last run"), told, lambda: sample_chooser(key="functions", visible_pages=0))
        if not run.progress(draft, limits_now) or answer:
            last_run.last_run(answer, limits_now, stale=stale)
    result = answer.result.result if answer else None
    findings += last_run.run_findings(result) if not stale else ()
    colour = "red" if any(one.severity == "error" for one in findings) else "orange"
    mark = f" :{colour}-badge[{len(findings)}]" if findings else ""
    problems, logs, needs, network, secrets, limits, versions = st.tabs(
        [
            _("Findings") + mark,
            _("Logs"),
            _("Requirements"),
            _("Network"),
            _("Secrets"),
            _("Limits"),
            _("Versions"),
        ],
        key="function_tabs",
    )
    with problems, st.container(gap=None):
        findings_list(findings, key="finding")
        st.caption(what_they_mean(findings))
    with logs:
        log_view(result)
    with needs:
        wanted = requirements.requirements_panel(draft)
    with network:
        hosts = network_view(draft, result.rules[0].network_calls if result else ())
    with secrets:
        names = secrets_panel(draft)
    with limits:
        chosen = limits_panel(draft)
    with versions:
        version_list(draft, function_draft.versions_of(draft.name))
    settings = {"requirements": wanted, "allow_hosts": hosts, "limits": chosen}
    if names or "secrets" in draft.content:
        settings["secrets"] = names
    drafts.autosave(draft, draft.content | settings)

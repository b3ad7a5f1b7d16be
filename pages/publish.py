"""Publish: freeze a version, serve it to the trainer, watch what comes in."""

import streamlit as st

from components import shell
from components.i18n import _, explain
from components.publish.deeds import export_menu, import_dialog, publish_dialog
from components.publish.names import chooser
from components.publish.service_card import service_card
from components.publish.traffic_panel import latency_chart, requests_panel
from components.publish.trials import load_test, test_call
from components.publish.versions_panel import versions_panel
from components.theme import plain

shell.through_app()
head = st.container()
chosen = chooser()


def actions() -> None:
    """Import, export, publish."""
    if st.button(_("Import …"), icon=":material/upload_file:", key="import_function"):
        import_dialog()
    export_menu(chosen)
    label = _("Publish draft as v{number} …", number=chosen.next_number)
    is_ready = chosen.draft is not None and not chosen.is_unchanged
    if st.button(label, type="primary", icon=":material/cloud_upload:", key="publish_draft", disabled=not is_ready):
        publish_dialog(chosen)


with head:
    shell.page_head(_("Publish"), _("Freeze a version, serve it to the trainer, watch what comes in."), actions)
if chosen.problem:
    title = _("The draft cannot be published as it is")
    st.warning(plain(explain(chosen.problem)), title=title, icon=":material/warning:")
left, right = st.columns([6, 5], gap="medium")
with left:
    service_card(chosen)
    requests, call, load = st.tabs([_("Requests"), _("Test call"), _("Load test")], key="publish_tabs")
    with requests:
        requests_panel(chosen)
    with call:
        test_call(chosen)
    with load:
        load_test(chosen)
with right:
    versions_panel(chosen)
    latency_chart(chosen)

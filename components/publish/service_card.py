"""The reward service: whether it is up, where, how busy, and how a trainer calls it; started and stopped here."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from components import service, shell, state, theme
from components.i18n import _, explain
from components.publish.names import Publishable
from components.publish.snippets import SNIPPETS, snippet
from components.theme import plain
from rewards_lib.errors import RewardConsoleError
from rewards_lib.serving.traffic import traffic
from rewards_lib.serving.whereabouts import Whereabouts, last_words, stop_service


def service_card(chosen: Publishable) -> None:
    """Draw the card; while the service starts it looks again by itself."""
    found = service.find()
    with st.container(border=True, gap="xsmall", key="service_card"):
        if found is not None:
            _head(found)
            _facts(found)
        else:
            _down()
        _how_to_call(chosen)


def _head(found: Whereabouts) -> None:
    seconds = (datetime.now(UTC) - found.started).total_seconds()
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="xsmall"):
        up = _("up {time}", time=theme.span(seconds))
        st.markdown(f"**{_('Reward service')}**  :green-badge[:material/sensors: {up}]", width="content")
        if st.button(_("Stop …"), type="tertiary", icon=":material/stop:", key="service_stop"):
            _stop_dialog(found)


def _facts(found: Whereabouts) -> None:
    """The five numbers of a running service."""
    seen = traffic(service.request_rows(), datetime.now(UTC))
    pace = "—" if seen.p50_ms is None else f"{seen.p50_ms:.0f} / {seen.p95_ms:.0f} ms"
    facts = [
        (_("address"), f"{found.host}:{found.port}"), (_("process"), theme.count(found.pid)),
        (_("requests, last minute"), theme.count(seen.last_minute)), ("p50 / p95", pace),
        (_("refused (503)"), theme.count(seen.refused)),
    ]  # fmt: skip
    with st.container(horizontal=True, gap="medium"):
        for name, value in facts:
            st.markdown(f":small[:gray[{name}]]  \n**{plain(value)}**", width="content")


def _down() -> None:
    """Why there is no service, and the button that starts one."""
    shell.panel_head(_("Reward service"), _("not running"))
    if service.is_starting():
        _wait_for_start()
        return
    said = last_words(service.port()) if state.service_started.get() else ""
    if said:
        st.error(plain(said), title=_("The service did not start"), icon=":material/error:")
    st.caption(
        _("Nothing answers on port {port}. Trainers call the service; this page does not need it.",
          port=service.port())
    )  # fmt: skip
    if st.button(_("Start the service"), icon=":material/play_arrow:", key="service_start"):
        state.service_started.set(True)
        service.start()
        st.rerun()


def _wait_for_start() -> None:
    @st.fragment(run_every=0.5)
    def look() -> None:
        st.caption(_("Starting: its workers are being warmed up …"))
        if not service.is_starting():
            st.rerun()

    look()


def _how_to_call(chosen: Publishable) -> None:
    """The address of the chosen name, per trainer."""
    if chosen.served is None:
        st.caption(_("Publish a version to get its address."))
        return
    how = st.segmented_control(
        _("Call it from"), list(SNIPPETS), default="curl", required=True, label_visibility="collapsed",
        key="call_it_from",
    ) or "curl"  # fmt: skip
    text = snippet(how, service.url(), chosen.name, with_token=service.has_token())
    st.code(text, language=None, wrap_lines=how == "curl", height=200 if text.count("\n") > 9 else "content")
    st.markdown(
        ":small[:gray["
        + _("{bare} follows the newest version; {pinned} stays with one.", bare=f"`/rewards/{plain(chosen.name)}`",
            pinned=f"`/rewards/{plain(chosen.served.label)}`")
        + "]]"
    )  # fmt: skip


def _stop_dialog(found: Whereabouts) -> None:
    @st.dialog(_("Stop the reward service?"))
    def ask() -> None:
        st.markdown(
            _("Requests in progress are finished first. After that nothing answers at {address}: a trainer that calls "
              "it gets no connection, and no rewards.", address=plain(f"{found.host}:{found.port}"))
        )  # fmt: skip
        if st.button(_("Stop the service"), type="primary", key="service_stop_now"):
            try:
                ended = stop_service(found)
            except (OSError, RewardConsoleError) as error:
                st.error(plain(explain(error) if isinstance(error, RewardConsoleError) else str(error)))
                return
            if not ended:
                st.warning(_("It is still finishing requests; look again in a moment."))
                return
            state.service_started.set(False)
            st.rerun()

    ask()

"""The hosts a function may reach, and what became of the connections of its last run."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components import drafts
from components.i18n import _, say
from components.state import OpenDraft
from components.theme import count, duration, plain
from rewards_lib.contract import CallOutcome, NetworkCall


def network_view(draft: OpenDraft, calls: Sequence[NetworkCall]) -> list[str]:
    """The hosts a function may reach, and the calls of the last run. Returns the hosts as they stand in the box."""
    allowed = list(draft.content.get("allow_hosts", []))
    text = (
        st.text_area(
            _("Allowed hosts"),
            "\n".join(allowed),
            height=90,
            key=f"hosts_{draft.name}_{draft.epoch}",
            help=_(
                "One a line: host means ports 80 and 443, host:port exactly that, *.suffix every name below it. "
                "A private address must be allowed as host:port."
            ),
            placeholder=_("No host is allowed. Add 127.0.0.1:8080 to let this function reach one."),
        )
        or ""
    )
    for index, group in enumerate(grouped(calls)):
        _call_line(draft, group, allowed, key=f"allow_{index}")
    return [line.strip() for line in text.split("\n") if line.strip()]


def grouped(calls: Sequence[NetworkCall]) -> list[list[NetworkCall]]:
    """The calls that went to one address with one outcome together, in the order of the first of each."""
    groups: dict[tuple[str, int, CallOutcome], list[NetworkCall]] = {}
    for call in calls:
        groups.setdefault((call.host, call.port, call.outcome), []).append(call)
    return list(groups.values())


def _call_line(draft: OpenDraft, calls: Sequence[NetworkCall], allowed: Sequence[str], *, key: str) -> None:
    first = calls[0]
    address = f"{first.host}:{first.port}"
    times = f" × {len(calls)}" if len(calls) > 1 else ""
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        if first.outcome == "open":
            sent, received = (sum(call.sent_bytes for call in calls), sum(call.received_bytes for call in calls))
            slowest = duration(max(call.duration_ms for call in calls))
            small = f"{count(sent)} B ↑ {count(received)} B ↓ · {slowest}"
            st.markdown(f":green[:material/check:] {plain(address)}{times}  :small[:gray[{small}]]", width="stretch")
            return
        told = f":red[:material/block:] {plain(address)}{times}  :small[:gray[{plain(say(first.why))}]]"
        st.markdown(told, width="stretch")
        if address not in allowed:
            st.button(_("Allow {address}", address=address), key=key, on_click=_allow, args=(draft, address))


def _allow(draft: OpenDraft, address: str) -> None:
    drafts.replace(draft, draft.content | {"allow_hosts": [*draft.content.get("allow_hosts", []), address]})

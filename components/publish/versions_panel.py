"""The versions of a name: choose two to compare, restore one, withdraw one."""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import cache, drafts, shell, state
from components.diff_view import diff_view
from components.i18n import _, explain, say
from components.publish.names import Publishable
from components.theme import plain
from rewards_lib.contract import JsonObject
from rewards_lib.errors import RewardConsoleError
from rewards_lib.publishing import changes_between, restore
from rewards_lib.store import Version
from rewards_lib.strict_json import write_json

SHOWN_CHANGES = 12
DRAFT = "draft"


def versions_panel(chosen: Publishable) -> None:
    """Draw the versions, newest first, and the difference between the two that are chosen."""
    shell.panel_head(_("Versions"), _("choose two to compare"))
    if not chosen.versions:
        st.caption(_("Nothing is published yet. A version keeps code, requirements and weights as they are now."))
        return
    labels = _labels(chosen)
    picked = _table(chosen, labels)
    old, new = _pair(labels, picked)
    if old is None or new is None:
        st.caption(_("Choose two versions, or a version and the draft."))
    else:
        _difference(chosen, old, new)
    _actions(chosen)


def _labels(chosen: Publishable) -> list[str]:
    """What the rows of the table are: the draft where there is one, then the versions."""
    return [*([DRAFT] if chosen.draft is not None else []), *(f"v{version.number}" for version in chosen.versions)]


def _table(chosen: Publishable, labels: list[str]) -> list[int]:
    rows: list[dict[str, Any]] = []
    if chosen.draft is not None:
        newest = chosen.versions[0]
        same = changes_between(newest.content, chosen.draft) == ()
        told = _("same as v{number}", number=newest.number) if same else _("differs from v{n}", n=newest.number)
        rows.append({"version": _("draft"), "state": told, "when": "", "note": "", "sha": ""})
    for version in chosen.versions:
        told = _("withdrawn") if version.withdrawn_at else _("served") if version == chosen.served else _("kept")
        rows.append(
            {"version": f"v{version.number}", "state": told, "when": drafts.clock(version.published_at),
             "note": version.note, "sha": f"{version.sha256[:8]}"}
        )  # fmt: skip
    table = st.dataframe(
        rows, hide_index=True, row_height=30, height=min(36 + 30 * len(rows), 230), on_select="rerun",
        selection_mode="multi-row", key=f"versions_{chosen.kind}_{chosen.name}_{len(rows)}",
        alt=_("Versions of {name}", name=chosen.name),
        column_config={
            "version": st.column_config.TextColumn(_("version"), width=54),
            "state": st.column_config.TextColumn(_("state"), width=106),
            "when": st.column_config.TextColumn(_("when"), width=82),
            "note": st.column_config.TextColumn(_("note"), width=112),
            "sha": st.column_config.TextColumn("sha256", width=72),
        },
    )  # fmt: skip
    selection: Any = table
    return [row for row in selection["selection"]["rows"] if row < len(labels)]


def _pair(labels: list[str], picked: list[int]) -> tuple[str | None, str | None]:
    """The older and the newer of what was chosen; by itself the two newest rows."""
    rows = sorted(picked)[:2] if len(picked) >= 2 else [] if len(picked) == 1 else [0, 1]
    if len(rows) < 2 or rows[1] >= len(labels):
        return None, None
    return labels[rows[1]], labels[rows[0]]


def _content(chosen: Publishable, label: str) -> JsonObject:
    if label == DRAFT:
        return chosen.draft or {}
    return next(version.content for version in chosen.versions if f"v{version.number}" == label)


def _difference(chosen: Publishable, old: str, new: str) -> None:
    before, after = _content(chosen, old), _content(chosen, new)
    changes = changes_between(before, after)
    told = _("{count} changes", count=len(changes)) if changes else _("no difference")
    shown = {DRAFT: _("draft")}
    st.markdown(
        f":small[**{shown.get(old, old)} {_('to')} {shown.get(new, new)}**  :gray[{told}]]",
    )
    texts = [change for change in changes if change.diff]
    for change in [change for change in changes if not change.diff][:SHOWN_CHANGES]:
        st.markdown(f":small[{plain(say(change.told))}]")
    for place, change in enumerate(texts[:4]):
        st.markdown(f":small[**{plain(change.path)}**]")
        diff_view(_text(change.old), _text(change.new), key=f"diff_{place}_{old}_{new}")


def _text(value: object) -> str:
    return value if isinstance(value, str) else write_json(value, indent=1)


def _actions(chosen: Publishable) -> None:
    options = {}
    for version in chosen.versions[:20]:
        options[f"restore:{version.number}"] = _("Restore v{number} to the draft", number=version.number)
        if version.withdrawn_at is None:
            options[f"withdraw:{version.number}"] = _("Withdraw v{number} …", number=version.number)
    action = st.menu_button(
        _("Restore or withdraw"), list(options), format_func=options.__getitem__, type="tertiary",
        icon=":material/history:", key=f"version_menu_{chosen.kind}_{chosen.name}",
    )  # fmt: skip
    if not action:
        return
    deed, _colon, number = action.partition(":")
    version = next(one for one in chosen.versions if one.number == int(number))
    if deed == "restore":
        _restore(version)
    else:
        _withdraw_dialog(chosen, version)


def _restore(version: Version) -> None:
    try:
        restored = restore(cache.store(), version)
    except RewardConsoleError as error:
        shell.show_failure(error)
        return
    state.open_drafts.get().pop((version.kind, version.name), None)  # the editors read the store again
    if restored.kept is not None:
        told = _("The draft that was never published is kept as {name}.", name=restored.kept)
        st.toast(plain(told), icon=":material/content_copy:")
    st.rerun()


def _withdraw_dialog(chosen: Publishable, version: Version) -> None:
    others = [one for one in chosen.versions if one.withdrawn_at is None and one != version]
    then = (
        _("{bare} is then answered by v{number}.", bare=f"/rewards/{chosen.name}", number=others[0].number)
        if others
        else _("{bare} is then answered 410: nothing of this name is served.", bare=f"/rewards/{chosen.name}")
    )

    @st.dialog(_("Withdraw {name} v{number}?", name=version.name, number=version.number))
    def ask() -> None:
        st.markdown(
            plain(_("{pinned} is answered 410 from then on.", pinned=f"/rewards/{version.label}")) + " " + plain(then)
            + " " + _("Its text stays readable and can be restored.")
        )  # fmt: skip
        if st.button(_("Withdraw v{number}", number=version.number), type="primary", key="withdraw_now"):
            try:
                cache.store().withdraw(version.kind, version.name, version.number)
            except RewardConsoleError as error:
                st.error(plain(explain(error)))
                return
            st.rerun()

    ask()

"""What earns a reward that it should not: every attack with what it earned and was allowed, the worst one opened."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from components import cache, theme
from components.i18n import _, say
from components.rollouts.detail import keep_case, open_in_test
from components.rollouts.progress import watch
from components.rollouts.results import Opened, attack_path
from components.theme import UNSCORED, coloured, number, percent, plain
from rewards_lib.contract import Completion, JsonObject, Payload
from rewards_lib.jobs import Job
from rewards_lib.regression_cases import Expected
from rewards_lib.rollouts.attacks.trial import ATTACKS
from rewards_lib.rollouts.rollout import payload_of

TABLE_PX = 300
"""About eight rows: the opened leak stands beneath."""
VERDICTS = ("leak", "holds", "unscored", "skipped")


def find_attack(opened: Opened) -> Job | None:
    """The newest attack on this result; None when there was none."""
    jobs = cache.job_runner().list()
    return next((job for job in jobs if job.request.kind == "attack" and job.request.of == opened.job.id), None)


def read_attack(job: Job | None) -> JsonObject | None:
    """What an attack found; None until it is done."""
    if job is None or job.state != "done" or not attack_path(job).exists():
        return None
    found: JsonObject = json.loads(attack_path(job).read_text(encoding="utf-8"))
    return found


def count_leaking(found: JsonObject | None) -> int:
    """How many attacks leak; 0 while none was made."""
    return sum(bool(row["leaks"]) for row in found["attacks"]) if found else 0


def leaks_told(found: JsonObject | None) -> str:
    """``1 of 5``: attacks that leak, of those that were made."""
    if found is None:
        return _("not tried")
    return _("{leaks} of {made}", leaks=count_leaking(found), made=len(found["attacks"]))


def attacks_tab(opened: Opened, job: Job | None, found: JsonObject | None) -> None:
    """Offer the attack, show it while it runs, then what it found."""
    if opened.mix is None:
        st.info(_("The rewards of this file are its trainer's. Score it with a mix, then attack that mix."))
        return
    if job is not None and job.state == "running":
        watch(job.id)
        return
    if job is not None and job.state == "failed":
        st.error(plain(say(job.error)), title=_("The attack could not be made"), icon=":material/error:")
    if found is None:
        st.markdown(
            _(
                "Real completions are rewritten in ways that must not pay: empty, form without an answer, every "
                "candidate at once, the answer in the reasoning only, padding, instructions to a judge ... Beside "
                "them stand controls, which must pay, and checks of the mix itself."
            )
        )
        label = _("Attack {name}", name=opened.mix.name)
        st.button(label, type="primary", icon=":material/bolt:", key="attack", on_click=_attack, args=(opened,))
        return
    _found(opened, found)
    st.button(_("Attack again"), icon=":material/refresh:", key="attack_again", on_click=_attack, args=(opened,))


def _attack(opened: Opened) -> None:
    request = replace(opened.job.request, kind="attack", of=opened.job.id)
    cache.job_runner().start(request)


def _found(opened: Opened, found: JsonObject) -> None:
    leaking = [row for row in found["attacks"] if row["leaks"]]
    if leaking:
        names = ", ".join(plain(attack_name(row["name"])) for row in leaking)
        st.markdown(f":red[:material/error:] **{_('These earn what they should not: {names}.', names=names)}**")
    else:
        told = _("No leak: {count} attacks were made and earned no more than they may.", count=len(found["attacks"]))
        st.markdown(f":green[:material/check_circle:] **{told}**")
    rows = table_rows(found)
    state = st.dataframe(
        pd.DataFrame(rows), hide_index=True, row_height=32, key="attack_table",
        height=min(36 + 32 * len(rows), TABLE_PX), alt=_("Attacks"), on_select="rerun", selection_mode="single-row",
        placeholder="", selection_default={"selection": {"rows": [0]}}, column_config=_columns(rows),
    )  # fmt: skip
    chosen = rows[state.selection.rows[0]]["name"] if state.selection.rows else rows[0]["name"]
    row = next((one for one in found["attacks"] if one["name"] == chosen), None)
    if row is not None:
        _opened_attack(opened, row)
    _controls(found)
    _checks(found)


def attack_name(name: str) -> str:
    """``answer_only_in_think`` as words; the name itself is what the command line prints."""
    return name.replace("_", " ")


def table_rows(found: JsonObject) -> list[dict[str, Any]]:
    """The table: leaks first, then what holds, what could not be scored, and what was not made."""
    rows = []
    for row in found["attacks"]:
        verdict = "leak" if row["leaks"] else "holds" if row["earned"] is not None else "unscored"
        rows.append({
            "verdict": [_verdict_word(verdict)], "attack": attack_name(row["name"]), "earned": row["earned"],
            "allowed": number(row["expected_max"]),
            "completions": _("{leaks} of {made}", leaks=row["leaks"], made=row["completions"]),
            "in words": _in_words(row), "order": VERDICTS.index(verdict), "name": row["name"],
        })  # fmt: skip
    rows += [
        {
            "verdict": [_verdict_word("skipped")], "attack": attack_name(row["name"]), "earned": None, "allowed": "",
            "completions": "", "in words": _(row["why"]), "order": VERDICTS.index("skipped"), "name": row["name"],
        }
        for row in found["skipped"]
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (row["order"], -((row["earned"] or 0.0) if row["order"] == 0 else 0.0)))


def _verdict_word(verdict: str) -> str:
    return {"leak": _("leak"), "holds": _("holds"), "unscored": _("no number"), "skipped": _("not made")}[verdict]


def _in_words(row: JsonObject) -> str:
    if row.get("examples"):
        paid = row["examples"][0]["paid_by"]
        return "; ".join(
            _("{rule} pays {paid} where {limit} is allowed", rule=rule, paid=number(pair[0]), limit=number(pair[1]))
            for rule, pair in paid.items()
        )
    if row["unscored"]:
        return _("{count} unscored: {why}", count=row["unscored"], why=str(row.get("unscored_why", ""))[:120])
    return ""


def _columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    earned = [row["earned"] for row in rows if row["earned"] is not None]
    low, high = min([*earned, 0.0]), max([*earned, 0.0])
    words = {_verdict_word("leak"): "red", _verdict_word("holds"): "green", _verdict_word("unscored"): "orange"}
    words[_verdict_word("skipped")] = "gray"
    return {
        "verdict": st.column_config.MultiselectColumn(
            _("verdict"), options=list(words), color=list(words.values()), width=92
        ),
        "attack": st.column_config.TextColumn(_("attack"), width=190),
        "earned": st.column_config.ProgressColumn(
            _("earned"), min_value=low, max_value=high if high > low else low + 1, format="%.2f", width=110
        ),
        "allowed": st.column_config.TextColumn(_("allowed"), alignment="right", width=72),
        "completions": st.column_config.TextColumn(_("leaking"), alignment="right", width=84),
        "in words": st.column_config.TextColumn(_("in words"), width=420),
        "order": None,
        "name": None,
    }


# --- one attack ----------------------------------------------------------------------------------------------------


def _opened_attack(opened: Opened, row: JsonObject) -> None:
    """The worst completion of an attack, an honest one beside it, and what closes the leak."""
    examples = row.get("examples") or []
    if not examples:
        return
    worst = examples[0]
    left, right = st.columns(2, gap="medium")
    with left, st.container(border=True, gap="xsmall", key="worst_leak"):
        st.markdown(f":red[:material/error:] **{_('Leak: {name}', name=plain(attack_name(row['name'])))}**")
        st.markdown(
            f":small[:gray[{_('Made from line {line}, ground truth', line=worst['line'])}]  {plain(worst['truth'])}]"
        )
        _completion(worst["completion"], key="worst")
        st.markdown(_sum(opened, worst["rules"], worst["earned"]))
        told = _("Allowed is {limit}.", limit=number(worst["expected_max"]))
        st.markdown(f":small[:gray[{told}]]")
        _deeds(opened, row, worst)
    with right, st.container(border=True, gap="xsmall", key="beside_leak"):
        st.markdown(f"**{_('Beside it: what honest completions of this sample earn')}**")
        for label, one in ((_("the ground truth"), worst["control"]), (_("a plainly wrong answer"), worst["wrong"])):
            if one:
                st.markdown(f":small[:gray[{label}]]")
                _completion(one["completion"], key=f"beside_{label}")
                st.markdown(_sum(opened, one["rules"], one["earned"]))
        st.markdown(
            f"**{_('What closes it')}**  \n{plain(say(ATTACKS[row['name']].advice))}" if row["name"] in ATTACKS else ""
        )
        if st.button(
            _("Change it in Compose"), icon=":material/arrow_forward:", icon_position="right", key="to_compose"
        ):
            st.switch_page("pages/compose.py")


def _completion(completion: Any, *, key: str) -> None:
    text = Completion(completion).text
    with st.container(key=f"attack_text_{key}".replace(" ", "_")):
        st.code(
            text or _("(an empty completion)"),
            language=None,
            wrap_lines=True,
            height=200 if len(text) > 600 else "content",
        )


def _sum(opened: Opened, rules: JsonObject, earned: float | None) -> str:
    weights = opened.weights or {}
    terms = [
        coloured(f"{plain(name)} {number(weights.get(name, 1.0))} × {number(value)}", place)
        for place, (name, value) in enumerate(rules.items())
        if value is not None
    ]
    return f"**{number(earned) if earned is not None else UNSCORED}**  =  {' + '.join(terms)}"


def _deeds(opened: Opened, row: JsonObject, worst: JsonObject) -> None:
    payload = _payload(opened, worst)
    if payload is None:
        return
    with st.container(horizontal=True, gap="xsmall"):
        if st.button(_("Keep as a case"), icon=":material/flag:", key="keep_leak"):
            note = _("attack {name}", name=row["name"])
            keep_case(
                opened, payload, Expected(at_most=worst["expected_max"]), name=f"{row['name']} {worst['id']}", note=note
            )
            st.toast(_("Kept as a case; see Cases."), icon=":material/check:")
        if st.button(_("Open in Test"), type="tertiary", icon=":material/arrow_forward:", icon_position="right",
                     key="leak_to_test"):  # fmt: skip
            open_in_test(payload)


def _payload(opened: Opened, worst: JsonObject) -> Payload | None:
    """The attack's completion with the sample that it was made from."""
    places = [place for place, line in enumerate(opened.table.lines) if line == worst["line"]]
    for rollout in opened.scored.read(places):
        if rollout.id == worst["id"]:
            return replace(payload_of([rollout]), completions=(Completion(worst["completion"]),))
    return None


# --- controls and checks -------------------------------------------------------------------------------------------


def _controls(found: JsonObject) -> None:
    st.markdown(f"**{_('Controls')}**  :small[:gray[{_('what must pay, and what must not')}]]")
    words = {
        "ground_truth": _("The ground truth, written as the mix expects an answer, earns the most"),
        "nothing": _("An empty text earns less than the ground truth"),
    }
    for control in found["controls"]:
        told = words.get(control["name"], control["name"])
        if control.get("skipped"):
            st.markdown(f":gray[:material/remove:] {told}: :gray[{plain(_(control['skipped']))}]")
            continue
        failed = control["failed"]
        mark = ":red[:material/error:]" if failed else ":green[:material/check:]"
        result = _("{failed} of {count} samples fail", failed=len(failed), count=control["samples"])
        st.markdown(f"{mark} {told}: {result if failed else _('all {count} samples', count=control['samples'])}")
        if failed:
            _failing(failed, key=f"control_{control['name']}")


def _failing(failed: list[JsonObject], *, key: str) -> None:
    rows = [
        {
            "line": row["line"], "truth": str(row.get("truth", "")), "earned": number(row.get("earned")),
            "most": number(row.get("most")), "why": str(row.get("why", "")),
        }
        for row in failed
    ]  # fmt: skip
    st.dataframe(
        pd.DataFrame(rows), hide_index=True, row_height=30, key=key, alt=_("Samples that fail"),
        column_config={
            "line": st.column_config.NumberColumn(_("line"), width=60, format="plain"),
            "truth": st.column_config.TextColumn(_("ground truth"), width=160),
            "earned": st.column_config.TextColumn(_("earned"), width=80, alignment="right"),
            "most": st.column_config.TextColumn(_("another earned"), width=110, alignment="right"),
            "why": st.column_config.TextColumn(_("why"), width=360),
        },
    )  # fmt: skip


def _checks(found: JsonObject) -> None:
    st.markdown(f"**{_('Checks of the mix')}**")
    words = {
        "deterministic": _("The same again: equal rewards"),
        "independent_of_order": _("In another order: equal rewards"),
        "independent_of_others": _("Without the other completions: equal rewards"),
        "scored": _("Every completion has a number"),
        "speed": _("Time for a completion"),
        "labels": _("Agreement with the rewards of the file"),
    }
    for check in found["checks"]:
        told = words.get(check["name"], check["name"])
        if check.get("skipped"):
            st.markdown(f":gray[:material/remove:] {told}: :gray[{plain(_(check['skipped']))}]")
        elif check["name"] == "speed":
            st.markdown(f":gray[:material/timer:] {told}: {theme.duration(check['ms_per_completion'])}")
        elif check["name"] == "labels":
            _labels(check, told)
        elif check["holds"]:
            st.markdown(f":green[:material/check:] {told}")
        else:
            lines = ", ".join(str(row["line"]) for row in check["examples"][:10])
            count = _("{count} completions, for example in lines {lines}", count=check["failed"], lines=lines)
            st.markdown(f":red[:material/error:] {told}: {count}")
            if check.get("spread"):
                apart = _(
                    "On average {spread} apart; {share} of the completions change sides.",
                    spread=number(check["spread"]), share=percent(check["changed_sides"]),
                )  # fmt: skip
                st.caption(apart)


def _labels(check: JsonObject, told: str) -> None:
    wrongly, missed = check["false_positives"], check["false_negatives"]
    mark = ":green[:material/check:]" if not wrongly and not missed else ":orange[:material/warning:]"
    st.markdown(
        f"{mark} {told}: {check['agreement'] * 100:.0f}{theme.THIN_SPACE}% "
        f":gray[({_('{count} completions', count=check['rollouts'])})]"
    )
    for label, rows in ((_("paid here, not there"), wrongly), (_("paid there, not here"), missed)):
        if rows:
            st.caption(f"{label}: " + ", ".join(_("line {line}", line=row["line"]) for row in rows))

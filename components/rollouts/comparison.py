"""The same rollouts under two rewards: what changed, whose rank flipped, which rule did it, examples first."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from components import cache
from components.i18n import _
from components.result_table import tail
from components.rollouts.detail import told_reasons
from components.rollouts.progress import told as told_job
from components.rollouts.results import Opened, explain_rollout, open_result
from components.theme import UNSCORED, count, number, plain
from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.jobs import Job
from rewards_lib.rollouts import compare, open_rollouts


def comparison_tab(opened: Opened) -> None:
    """Choose the other result, then read what differs."""
    others = [job for job in cache.job_runner().list() if _can_compare(opened, job)]
    if not others:
        st.info(
            _(
                "There is no other result to compare with. Change the mix on Compose, score this file again, and come "
                "back: changed rewards, flipped ranks and the rules that did it stand here."
            )
        )
        return
    same = [job for job in others if job.request.source == opened.job.request.source]
    ordered = same + [job for job in others if job not in same]
    chosen = st.selectbox(
        _("Compare with"), ordered, format_func=lambda job: f"{job.request.title} · {told_job(job)}",
        key="compare_with_job", width=560,
    )  # fmt: skip
    with st.spinner(_("Comparing ...")):
        found = _compared((chosen.id, opened.job.id), chosen, opened.job)
    if found is None:
        st.info(_("The two results share no rollout; they are matched by id."))
        return
    _examples(opened, open_result(chosen), found)
    _figures(found)
    _rules(found)


def _can_compare(opened: Opened, job: Job) -> bool:
    return job.state == "done" and job.request.kind != "attack" and job.id != opened.job.id and job.scored_path.exists()


@st.cache_data(max_entries=16, show_spinner=False)
def _compared(ids: tuple[str, str], _a: Job, _b: Job) -> JsonObject | None:  # noqa: ARG001 -- the ids are the key
    files = [open_rollouts(job.scored_path, format_name="scored") for job in (_a, _b)]
    try:
        return compare(*files)
    except InputError:
        return None


def _examples(opened: Opened, other: Opened, found: JsonObject) -> None:
    if not found["examples"]:
        st.success(_("No reward differs on {count} rollouts.", count=count(found["rollouts"])), icon=":material/check:")
        return
    told = _(
        "{changed} of {count} rewards differ: {raised} rose, {lowered} fell.", changed=count(found["changed"]),
        count=count(found["rollouts"]), raised=count(found["raised"]), lowered=count(found["lowered"]),
    )  # fmt: skip
    st.markdown(f"**{told}**  :small[:gray[{_('the largest first')}]]")
    places = {int(line): place for place, line in reversed(list(enumerate(opened.table.lines)))}
    left, right = st.columns([6, 5], gap="medium")
    with left:
        shared = {name: "only_in" not in row for name, row in found["rules"].items()}
        rows = [_row(opened, places, example, shared) for example in found["examples"]]
        state = st.dataframe(
            pd.DataFrame(rows), hide_index=True, row_height=30, key="comparison_table", alt=_("Changed rewards"),
            on_select="rerun", selection_mode="single-row", selection_default={"selection": {"rows": [0]}},
            column_config={
                "id": st.column_config.TextColumn(_("id"), width=70),
                "before": st.column_config.TextColumn(_("other"), width=70, alignment="right"),
                "after": st.column_config.TextColumn(_("this"), width=70, alignment="right"),
                "by": st.column_config.TextColumn(_("moved by"), width=240),
                "completion": st.column_config.TextColumn(_("completion"), width=300),
            },
        )  # fmt: skip
    chosen = found["examples"][state.selection.rows[0] if state.selection.rows else 0]
    with right:
        _side_by_side(opened, other, places, chosen)


def _row(opened: Opened, places: dict[int, int], example: JsonObject, shared: dict[str, bool]) -> dict[str, Any]:
    place = places.get(example["line"])
    text = opened.scored.read([place])[0].text if place is not None else ""
    known = {name: pair for name, pair in example["moved_by"].items() if shared.get(name)}
    by = ", ".join(f"{name} {number(pair[0])} → {number(pair[1])}" for name, pair in known.items())
    by = example.get("why_unscored") or by
    return {
        "id": example["id"], "before": number(example["a"]), "after": number(example["b"]),
        "by": by or (_("other rules") if example["moved_by"] else _("the weights")), "completion": tail(text),
    }  # fmt: skip


def _side_by_side(opened: Opened, other: Opened, places: dict[int, int], example: JsonObject) -> None:
    place = places.get(example["line"])
    if place is None:
        return
    rollout = opened.scored.read([place])[0]
    before = {int(line): number_ for number_, line in reversed(list(enumerate(other.table.lines)))}
    with st.container(border=True, gap="xsmall", key="comparison_detail"):
        st.markdown(f"**{plain(str(example['id']))}**  :small[:gray[{_('line {line}', line=example['line'])}]]")
        text = rollout.text
        st.code(
            text or _("(an empty completion)"),
            language=None,
            wrap_lines=True,
            height=200 if len(text) > 600 else "content",
        )
        for result, at, reward in (
            (other, before.get(example["line"]), example["a"]), (opened, place, example["b"]),
        ):  # fmt: skip
            st.markdown(f"**{plain(result.job.request.mix_label or _('the file'))}**: {number(reward)}")
            explained = explain_rollout(result, at) if at is not None else None
            if explained:
                st.markdown(told_reasons(*explained))


def _figures(found: JsonObject) -> None:
    mean = found["mean"]
    shown = [
        (_("Rank flips"), count(found["rank_flips"]), _("Pairs inside groups whose order became the opposite.")),
        (_("Kendall's tau"), number(found["kendall_tau"], 3), _("Mean over groups; 1 is the same order.")),
        (_("Pearson"), number(found["pearson"], 3), _("Over all rollouts with both rewards.")),
        (_("Signs flipped"), count(found["advantage_sign_flips"]), _("Advantages that changed their sign.")),
        (_("Signal lost"), count(found["signal_lost"]), _("Groups whose rewards became equal.")),
        (_("Signal gained"), count(found["signal_gained"]), _("Groups whose rewards are no longer equal.")),
    ]
    for column, (label, value, meaning) in zip(st.columns(6, gap="small"), shown, strict=True):
        column.metric(label, value, help=meaning)
    parts = [_("mean {before} → {after}", before=number(mean["a"]), after=number(mean["b"]))]
    if found["newly_unscored"] or found["newly_scored"]:
        parts.append(
            _("{lost} newly unscored, {found} newly scored", lost=found["newly_unscored"], found=found["newly_scored"])
        )
    if found["only_in_a"] or found["only_in_b"]:
        parts.append(_("{count} rollouts stand in one result alone", count=found["only_in_a"] + found["only_in_b"]))
    st.caption(" · ".join(parts))


def _rules(found: JsonObject) -> None:
    rows = [
        {
            "rule": name, "changed": UNSCORED if "only_in" in row else count(row["changed"]),
            "note": _side(row["only_in"]) if "only_in" in row else _news(row),
        }
        for name, row in found["rules"].items()
    ]  # fmt: skip
    if rows:
        st.dataframe(
            pd.DataFrame(rows), hide_index=True, row_height=30, key="comparison_rules", width=560,
            alt=_("Changes by rule"),
            column_config={
                "rule": st.column_config.TextColumn(_("rule"), width=150),
                "changed": st.column_config.TextColumn(_("changed"), width=90, alignment="right"),
                "note": st.column_config.TextColumn(_("note"), width=280),
            },
        )  # fmt: skip


def _side(which: str) -> str:
    return _("in the other result alone") if which == "a" else _("in this result alone")


def _news(row: JsonObject) -> str:
    parts = []
    if row["newly_unscored"]:
        parts.append(_("{count} without a number now", count=row["newly_unscored"]))
    if row["newly_scored"]:
        parts.append(_("{count} with a number now", count=row["newly_scored"]))
    return ", ".join(parts)

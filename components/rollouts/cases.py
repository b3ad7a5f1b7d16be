"""The regression cases of a mix: run against its draft as it is now, each with what it earns and should."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from components import cache
from components.i18n import _
from components.kept_cases import verdicts
from components.result_table import tail
from components.rollouts.removal import removal
from components.rollouts.scorers import Scorer
from components.shell import show_failure
from components.theme import count, number, plain
from rewards_lib.contract import JsonObject
from rewards_lib.errors import RewardConsoleError
from rewards_lib.regression_cases import Case, read_cases, remove_case, save_case, stored_cases, write_cases
from rewards_lib.scoring import fixed_functions

MAX_FILE_MB = 20


def cases_tab(scorer: Scorer | None) -> None:
    """The cases of the chosen mix, checked anew whenever the mix or a case changes."""
    if scorer is None:
        return
    cases = stored_cases(cache.store(), scorer.case_key)
    name = scorer.case_key.partition(":")[2]
    if not cases:
        st.info(
            _(
                "{name} has no regression case yet. Mark a reward as wrong under Completions, or keep a leak under "
                "Attacks: the payload and what it must earn are kept and checked on each change.",
                name=plain(name),
            )
        )
        _load(scorer)
        return
    try:
        with st.spinner(_("Running {count} cases ...", count=len(cases))):
            found = verdicts(scorer.version, cases, scorer.mix, fixed_functions(scorer.functions))
    except RewardConsoleError as error:
        show_failure(error)
        return
    _told(found, scorer)
    _table(cases, found)
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.download_button(
            _("Download the case file"), write_cases(list(cases.values())), f"{name}.cases.jsonl", "application/jsonl",
            icon=":material/download:", key="download_cases",
        )  # fmt: skip
        st.code(f"python -m rewards_lib test --cases {name}", language=None)
    _load(scorer)


def _told(found: JsonObject, scorer: Scorer) -> None:
    if found["failed"]:
        st.error(
            _(
                "{failed} of {count} cases do not hold for {label}.", failed=found["failed"],
                count=found["failed"] + found["held"], label=plain(scorer.label),
            ),
            icon=":material/error:",
        )  # fmt: skip
    else:
        label = plain(scorer.label)
        one = _("The case holds for {label}.", label=label)
        told = one if found["held"] == 1 else _("All {count} cases hold for {label}.", count=found["held"], label=label)
        st.success(told, icon=":material/check_circle:")


def _table(cases: dict[str, Case], found: JsonObject) -> None:
    rows = [_row(case, row) for case, row in zip(cases.values(), found["cases"], strict=True)]
    state = st.dataframe(
        pd.DataFrame(rows), hide_index=True, row_height=32, key=f"case_table_{len(rows)}", alt=_("Regression cases"),
        on_select="rerun", selection_mode="multi-row",
        column_config={
            "verdict": st.column_config.MultiselectColumn(
                _("verdict"), options=[_("holds"), _("fails")], color=["green", "red"], width=80
            ),
            "name": st.column_config.TextColumn(_("case"), width=200),
            "expected": st.column_config.TextColumn(_("expected"), width=110, alignment="right"),
            "earned": st.column_config.TextColumn(_("earned"), width=80, alignment="right"),
            "note": st.column_config.TextColumn(_("note"), width=180),
            "completion": st.column_config.TextColumn(_("completion"), width=320),
        },
    )  # fmt: skip
    chosen = [list(cases)[row] for row in state.selection.rows if row < len(cases)]
    removal(
        "cases", _("What a completion must earn is then no longer checked. This cannot be undone."),
        partial(_remove, chosen), label=_("Remove {count} chosen", count=count(len(chosen))), is_disabled=not chosen,
    )  # fmt: skip


def _remove(chosen: list[str]) -> None:
    for case_id in chosen:
        remove_case(cache.store(), case_id)


def _row(case: Case, row: JsonObject) -> dict[str, Any]:
    failed = row["failed"][0] if row["failed"] else None
    place = failed["completion"] - 1 if failed else 0
    return {
        "verdict": [_("fails") if failed else _("holds")], "name": case.name,
        "expected": expected_text(case.expected[place].to_json()),
        "earned": number(failed["earned"]) if failed else "", "note": case.note,
        "completion": tail(case.payload.completions[place].text),
    }  # fmt: skip


def expected_text(expected: Any) -> str:
    """``0.1``, ``at most 0``, ``unscored`` or ``anything``."""
    if expected is None:
        return _("unscored")
    if expected == "any":
        return _("anything")
    return _("at most {limit}", limit=number(expected["at_most"])) if isinstance(expected, dict) else number(expected)


def _load(scorer: Scorer) -> None:
    with st.expander(_("Add the cases of a file"), icon=":material/upload_file:", key="load_cases"):
        file = st.file_uploader(_("Case file"), type=["jsonl"], max_upload_size=MAX_FILE_MB, key="case_upload")
        if file is None:
            return
        try:
            cases = read_cases(file.getvalue().decode("utf-8", "replace"), name=file.name)
        except RewardConsoleError as error:
            show_failure(error)
            return
        if st.button(_("Add {count} cases", count=len(cases)), key="case_add"):
            for case in cases:
                save_case(cache.store(), Case(case.name, case.payload, case.expected, scorer.case_key, case.note))
            st.rerun()

"""The regression cases of a mix or a function: what they earn under it, and a warning before it is published."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from components import cache
from components.i18n import _, explain
from components.theme import count, plain
from rewards_lib.contract import JsonObject
from rewards_lib.errors import RewardConsoleError
from rewards_lib.mix import Mix
from rewards_lib.publishing import open_content
from rewards_lib.regression_cases import Case, run_cases, stored_cases, write_cases
from rewards_lib.scoring import FunctionResolver
from rewards_lib.store import Kind

_MOST_NAMED = 5


def verdicts(version: str, cases: Mapping[str, Case], mix: Mix, resolve: FunctionResolver) -> JsonObject:
    """What ``run_cases`` returns; kept while neither the cases nor the mix change and each could be scored.

    ``version`` names everything that decides a reward. Raises as ``run_cases`` does.
    """
    what = (version, write_cases(list(cases.values())), cases, mix, resolve)
    found = _run(*what)
    if any(one["earned"] is None for row in found["cases"] for one in row["failed"]):
        _run.clear(*what)  # a busy machine or a service that is down: another time it may be scored
    return found


@st.cache_data(max_entries=32, show_spinner=False)
def _run(version: str, written: str, _cases: Mapping[str, Case], _mix: Mix, _resolve: FunctionResolver) -> JsonObject:  # noqa: ARG001 -- part of the key
    return run_cases(list(_cases.values()), _mix, resolve=_resolve, executor=cache.executor())


def warn_of_cases(kind: Kind, name: str, content: JsonObject) -> None:
    """Run the cases kept for what is about to be published, and say which do not hold.

    It may be published all the same: who changes a reward on purpose changes what a case should say, too.
    """
    cases = stored_cases(cache.store(), f"{kind}:{name}")
    if not cases:
        return
    try:
        mix, resolve, version = open_content(kind, name, content, label=_("draft"))
        with st.spinner(_("Running {count} cases ...", count=len(cases))):
            found = verdicts(version, cases, mix, resolve)
    except RewardConsoleError as error:
        st.warning(f"{_('The regression cases could not be run.')}  \n{plain(explain(error))}")
        return
    if not found["failed"]:
        one = _("The regression case holds.")
        st.caption(one if len(cases) == 1 else _("All {count} regression cases hold.", count=count(found["held"])))
        return
    names = [str(row["name"]) for row in found["cases"] if not row["holds"]]
    more = " …" if len(names) > _MOST_NAMED else ""
    title = _("{failed} of {count} regression cases do not hold", failed=count(len(names)), count=count(len(cases)))
    told = plain(", ".join(names[:_MOST_NAMED]) + more)
    st.warning(
        f"{told}  \n{_('Look at them on Rollouts, under Regression cases, or publish all the same.')}", title=title,
        icon=":material/rule:",
    )  # fmt: skip

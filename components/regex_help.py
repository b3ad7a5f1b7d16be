"""Help beside a regex_match rule: where the pattern matches the sample, whether it can explode, what its flags mean.

Invariant: the pattern runs in a worker with a time limit, never in this process, and what is shown is plain text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import streamlit as st

from components import cache
from components.i18n import _, say
from components.theme import plain
from rewards_lib.contract import JsonObject
from rewards_lib.errors import InputError
from rewards_lib.presets import check_params
from rewards_lib.presets.patterns import MAX_MATCHES, explosive_parts
from rewards_lib.strict_json import write_json

OPENING, CLOSING, GAP = "⟦", "⟧", " … "
MATCH_SECONDS = 0.5
SHOWN_TEXTS = 3
_AROUND = 60
"""Characters shown on each side of a match; what lies further away is left out."""


def regex_help(params: JsonObject, texts: Sequence[str], *, key: str) -> None:
    """Draw the help for the parameters of a ``regex_match`` rule, tried on the texts of completions.

    Parameters that the preset refuses draw nothing: the card tells what is wrong with them.
    """
    try:
        complete = check_params("regex_match", params)
    except InputError:
        return
    with st.container(gap="xxsmall", key=f"{key}_regex_help"):
        for problem in explosive_parts(complete["pattern"], complete["flags"]):
            st.markdown(f":small[:orange[:material/warning: {say(problem)}]]")
        rows = _matches(write_json(complete), tuple(texts[:SHOWN_TEXTS]))
        for number, (text, found) in enumerate(zip(texts, rows, strict=False), 1):
            st.caption(f"{_('Completion {number}', number=number)}: {told(found)}")
            if found and found["spans"]:
                st.markdown(highlighted(marked(text, found["spans"])))
        for letter, meaning in flag_meanings():
            state = _("on") if letter in complete["flags"] else _("off")
            st.caption(f"`{letter}` {meaning} · {state}")


@st.cache_data(show_spinner=False, max_entries=256)
def _matches(params: str, texts: tuple[str, ...]) -> list[JsonObject | None]:
    """Where a rule matches each text; None where the pattern took too long."""
    items: list[Any] = [{"params": json.loads(params), "text": text} for text in texts]
    entry = "rewards_lib.presets.patterns:find_matches"
    runs = cache.executor().run_items(entry, items, item_seconds=MATCH_SECONDS) if items else []
    return [None if run.error else run.value for run in runs]


def told(found: JsonObject | None) -> str:
    """What is said of the matches in one completion; None stands for a pattern that took too long."""
    if found is None:
        return _("no answer within {seconds} s: the pattern explodes on this text", seconds=MATCH_SECONDS)
    if found["missing"]:
        return _("the graded part is not there")
    count = len(found["spans"])
    if found["more"]:
        return _("more than {count} matches; the last one counts", count=MAX_MATCHES)
    if count > 1:
        return _("{count} matches; the last one counts", count=count)
    return _("one match") if count else _("no match")


def marked(text: str, spans: Sequence[Sequence[int]], around: int = _AROUND) -> str:
    """The text with brackets around the places, in order and apart; what lies far from all of them is left out.

    >>> marked("Answer: 41, Answer: 42", [[8, 10], [20, 22]])
    'Answer: ⟦41⟧, Answer: ⟦42⟧'
    """
    parts, position = [], 0
    for start, end in spans:
        parts += [_between(text[position:start], around, is_first=position == 0), OPENING, text[start:end], CLOSING]
        position = end
    rest = text[position:]
    return "".join(parts) + (rest if len(rest) <= around else rest[:around] + GAP.rstrip())


def highlighted(marked_text: str) -> str:
    r"""A marked text as Markdown in which the matches have a ground of their own, and the brackets stay beside it.

    >>> highlighted("Answer: ⟦41⟧")
    'Answer\\: :orange-background[⟦41⟧]'
    """
    lines = plain(marked_text).replace(OPENING, f":orange-background[{OPENING}").replace(CLOSING, f"{CLOSING}]")
    return "  \n".join(lines.splitlines())


def _between(text: str, around: int, *, is_first: bool) -> str:
    if is_first:
        return text if len(text) <= around else GAP.lstrip() + text[-around:]
    return text if len(text) <= 2 * around else text[:around] + GAP + text[-around:]


def flag_meanings() -> list[tuple[str, str]]:
    """Each flag's letter and what it does."""
    return [
        ("i", _("upper and lower case are the same")),
        ("m", _("^ and $ also match at the start and end of each line")),
        ("s", _("the dot also matches line breaks")),
        ("x", _("blanks in the pattern mean nothing, # begins a comment")),
    ]

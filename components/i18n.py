"""English and Chinese: every visible string goes through ``_()``, every sentence of the library through ``say()``.

Invariant: a missing translation shows the English source, never nothing.
"""

from __future__ import annotations

import gettext
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Literal

import streamlit as st

from components import state
from rewards_lib.contract import Sentence, fill
from rewards_lib.errors import RewardConsoleError

Language = Literal["en", "zh"]

LANGUAGES: dict[Language, str] = {"en": "English", "zh": "中文"}
QUERY_KEY = "lang"
CATALOGUES = Path(__file__).parent / "locale"


def _(text: str, /, **values: object) -> str:
    """Translate a template into the visitor's language and fill it with values."""
    return fill(translations(language()).gettext(text), values)


def say(message: Sentence | None) -> str:
    """Translate a sentence of the library; None is the empty text. Values that are sentences are translated too."""
    if message is None:
        return ""
    values = {key: say(value) if isinstance(value, Sentence) else value for key, value in message.values.items()}
    return _(message.template, **values)


def explain(error: RewardConsoleError) -> str:
    """An error as one text in the visitor's language: where, what happened, what to do."""
    place = f"{say(error.place)}: " if error.place else ""
    return " ".join(filter(None, [place + say(error.message), say(error.remedy)]))


def language() -> Language:
    """The visitor's language: the address's ``lang``, else what was chosen, else the browser's, else English."""
    for wanted in (st.query_params.get(QUERY_KEY), state.language.get(), _browser_language()):
        if wanted in LANGUAGES:
            return "zh" if wanted == "zh" else "en"
    return "en"


def choose_language() -> None:
    """Draw the switch. The choice stands in the address, so that it survives a reload and a restart."""
    chosen = st.segmented_control(
        _("Language"),
        list(LANGUAGES),
        default=language(),
        required=True,
        format_func=LANGUAGES.__getitem__,
        label_visibility="collapsed",
        key=state.LANGUAGE_SWITCH,
    )
    if chosen != language():
        state.language.set(chosen)
        st.query_params[QUERY_KEY] = chosen
        st.rerun()


def keep_language() -> None:
    """Write a choice back into the address, which a page switch empties."""
    chosen = state.language.get() or st.query_params.get(QUERY_KEY)
    if chosen in LANGUAGES:
        state.language.set(chosen)
        if st.query_params.get(QUERY_KEY) != chosen:
            st.query_params[QUERY_KEY] = chosen


@cache
def translations(wanted: Language) -> gettext.NullTranslations:
    """The catalogue of a language, compiled in memory from its .po file at first use."""
    source = CATALOGUES / wanted / "console.po"
    if wanted == "en" or not source.exists():
        return gettext.NullTranslations()
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    compiled = BytesIO()
    with source.open("rb") as file:
        write_mo(compiled, read_po(file, locale=wanted))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


def _browser_language() -> str:
    return (st.context.locale or "en")[:2]

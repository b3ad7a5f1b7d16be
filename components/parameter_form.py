"""The form of a rule's parameters, drawn from the preset's JSON schema."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from components import state
from components.i18n import _
from components.theme import number, plain
from rewards_lib.contract import JsonObject
from rewards_lib.strict_json import write_json

SHOWN_IN_SUMMARY = 3
UNTELLING = frozenset({"answer_field", "after_think", "match", "mismatch"})
"""Parameters that most presets share: they stand in the summary only when they were changed."""


def parameter_form(schema: JsonObject, params: JsonObject, *, key: str) -> JsonObject:
    """Draw one input for each parameter and return those that differ from their default.

    ``schema`` is an object schema with ``properties``; each has a type, a default, a title and a description. What
    is returned may still be refused by the preset's own rules; the caller checks.
    """
    for name, field in schema.get("properties", {}).items():
        _draw(name, field, params.get(name, field.get("default")), key=f"{key}_{name}")
    return form_values(schema, params, key=key)


def form_values(schema: JsonObject, params: JsonObject, *, key: str) -> JsonObject:
    """What ``parameter_form`` returns in this run, told before it is drawn: a line above the form is not late then."""
    chosen: JsonObject = {}
    for name, field in schema.get("properties", {}).items():
        default, own = field.get("default"), f"{key}_{name}"
        value = _value(field, state.widget(own)) if state.is_drawn(own) else params.get(name, default)
        if value != default:
            chosen[name] = value
    return chosen


def summary(schema: JsonObject, params: JsonObject) -> str:
    """The parameters in a line of Markdown: what was changed first, then the most telling defaults.

    >>> summary({"properties": {"extract": {"default": "boxed"}, "strict": {"default": False}}}, {"strict": True})
    'strict on · extract boxed'
    """
    fields = schema.get("properties", {})
    changed = [name for name in fields if name in params and params[name] != fields[name].get("default")]
    rest = [
        name
        for name, field in fields.items()
        if name not in changed and name not in UNTELLING and field.get("default") not in (None, "", "none")
        if not isinstance(field.get("default"), list)
    ]
    told = [
        f"{plain(name)} {_short(params.get(name, fields[name].get('default')))}"
        for name in (changed + rest)[:SHOWN_IN_SUMMARY]
    ]
    return " · ".join(told)


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (int, float)):
        return number(float(value))
    text = value if isinstance(value, str) else write_json(value)
    if not text:
        return "—"
    short = text if len(text) <= 24 else text[:23] + "…"
    return plain(short) if short.replace("_", "").isalnum() else f"`{short.replace('`', '´')}`"


def _label(name: str, title: str) -> str:
    """The name that mix files use, and the title where it says more; a screen reader gets it without markup."""
    same = title.replace("_", " ").casefold() == name.replace("_", " ").casefold()
    return name if same or not title else f"{name} · {title.replace('<', chr(92) + '<')}"


def _draw(name: str, field: JsonObject, value: Any, *, key: str) -> None:
    """Draw the input of one parameter."""
    label = _label(name, field.get("title") or "")
    told = plain(field["description"]) if field.get("description") else None
    kinds = _kinds(field)
    if "enum" in field:
        options = field["enum"]
        st.selectbox(
            label,
            options,
            index=options.index(value) if value in options else 0,
            help=told,
            key=key,
            format_func=lambda option: "—" if option is None else str(option),
        )
    elif kinds == {"boolean"}:
        st.toggle(label, bool(value), help=told, key=key)
    elif "integer" in kinds or "number" in kinds:
        _draw_number(label, field, value, kinds, told, key)
    elif _is_list_of_texts(field):
        lines = "\n".join(value or [])
        st.text_area(label, lines, help=told, key=key, height=90, placeholder=_("One entry a line"))
    elif kinds <= {"string", "null"}:
        st.text_input(label, value or "", help=told, key=key)
    else:
        st.text_area(label, json.dumps(value, ensure_ascii=False, indent=1), help=told, key=key, height=140)


def _value(field: JsonObject, held: Any) -> Any:
    """The parameter's value of what its input holds."""
    kinds = _kinds(field)
    if "enum" in field or kinds & {"boolean", "integer", "number"}:
        return held
    if _is_list_of_texts(field):
        return [line for line in (held or "").split("\n") if line]
    if kinds <= {"string", "null"}:
        return None if "null" in kinds and not held else held or ""
    try:
        return json.loads(held or "null")
    except ValueError:
        return held  # the preset's check then says what is expected here


def _kinds(field: JsonObject) -> set[str]:
    kinds = field.get("type", "object")
    return {kinds} if isinstance(kinds, str) else set(kinds)


def _is_list_of_texts(field: JsonObject) -> bool:
    return "array" in _kinds(field) and bool(field.get("items", {}).get("type") == "string")


def _draw_number(label: str, field: JsonObject, value: Any, kinds: set[str], told: str | None, key: str) -> None:
    whole = "number" not in kinds
    kind: Any = int if whole else float  # the input takes all its numbers of one kind
    low, high = field.get("minimum"), field.get("maximum")
    is_optional = "null" in kinds
    current = state.widget(key) if state.is_drawn(key) else value  # ``value`` is one change behind
    start = None if current is None else kind(current)
    if is_optional:
        # A start value of its own would come back whenever the visitor empties the box. It is told in each run, for a
        # box that a hasty rerun overtakes would else begin empty, and say so.
        state.put_widget(key, start)
    st.number_input(
        label,
        min_value=None if low is None else kind(low),
        max_value=None if high is None else kind(high),
        value=None if is_optional else start,
        step=1 if whole else None,
        format=None if whole else "%g",
        placeholder=_("none") if is_optional else _("a number"),
        required=not is_optional,
        help=told,
        key=key,
    )

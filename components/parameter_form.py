"""The form of a rule's parameters, drawn from the preset's JSON schema."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from components.i18n import _
from components.theme import number, plain
from rewards_lib.contract import JsonObject, write_json

SHOWN_IN_SUMMARY = 3
UNTELLING = frozenset({"answer_field", "after_think", "match", "mismatch"})
"""Parameters that most presets share: they stand in the summary only when they were changed."""


def parameter_form(schema: JsonObject, params: JsonObject, *, key: str) -> JsonObject:
    """Draw one input for each parameter and return those that differ from their default.

    ``schema`` is an object schema with ``properties``; each has a type, a default, a title and a description. What
    is returned may still be refused by the preset's own rules; the caller checks.
    """
    chosen: JsonObject = {}
    for name, field in schema.get("properties", {}).items():
        default = field.get("default")
        value = _field(name, field, params.get(name, default), key=f"{key}_{name}")
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
    short = text if len(text) <= 24 else text[:23] + "…"
    return plain(short) if short.replace("_", "").isalnum() else f"`{short.replace('`', '´')}`"


def _field(name: str, field: JsonObject, value: Any, *, key: str) -> Any:
    label = f"{plain(name)}  :gray[{plain(field['title'])}]" if field.get("title") else plain(name)
    told = plain(field["description"]) if field.get("description") else None
    kinds = _kinds(field)
    if "enum" in field:
        options = field["enum"]
        return st.selectbox(
            label,
            options,
            index=options.index(value) if value in options else 0,
            help=told,
            key=key,
            format_func=lambda option: "—" if option is None else str(option),
        )
    if kinds == {"boolean"}:
        return st.toggle(label, bool(value), help=told, key=key)
    if "integer" in kinds or "number" in kinds:
        return _number(label, field, value, kinds, told, key)
    if "array" in kinds and field.get("items", {}).get("type") == "string":
        lines = st.text_area(
            label, "\n".join(value or []), help=told, key=key, height=90, placeholder=_("One entry a line")
        )
        return [line for line in (lines or "").split("\n") if line]
    if kinds <= {"string", "null"}:
        text = st.text_input(label, value or "", help=told, key=key)
        return None if "null" in kinds and not text else text or ""
    return _json(label, value, told, key)


def _kinds(field: JsonObject) -> set[str]:
    kinds = field.get("type", "object")
    return {kinds} if isinstance(kinds, str) else set(kinds)


def _number(label: str, field: JsonObject, value: Any, kinds: set[str], told: str | None, key: str) -> Any:
    whole = "number" not in kinds
    kind: Any = int if whole else float  # the input takes all its numbers of one kind
    low, high = field.get("minimum"), field.get("maximum")
    return st.number_input(
        label,
        min_value=None if low is None else kind(low),
        max_value=None if high is None else kind(high),
        value=None if value is None else kind(value),
        step=1 if whole else None,
        format=None if whole else "%g",
        placeholder=_("none") if "null" in kinds else None,
        help=told,
        key=key,
    )


def _json(label: str, value: Any, told: str | None, key: str) -> Any:
    text = st.text_area(label, json.dumps(value, ensure_ascii=False, indent=1), help=told, key=key, height=140)
    try:
        return json.loads(text or "null")
    except ValueError:
        return text  # the preset's check then says what is expected here

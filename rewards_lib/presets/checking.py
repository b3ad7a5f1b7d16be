"""Check the parameters of a preset: fill in defaults, refuse what the schema or the preset does not allow.

Invariant: parameters that pass are complete, and the preset's function can rely on their types and ranges.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from rewards_lib.contract import Finding, JsonObject
from rewards_lib.errors import InputError
from rewards_lib.presets.registry import Preset, find_preset
from rewards_lib.strict_json import write_json

if TYPE_CHECKING:
    from jsonschema import ValidationError


_LARGEST = sys.float_info.max


def check_params(name: str, params: JsonObject, *, where: str = "params") -> JsonObject:
    """Fill in the defaults and check the parameters of the preset ``name``.

    Raises ``InputError`` that names the JSON path (below ``where``) and what is allowed.
    """
    from jsonschema import Draft202012Validator

    preset = find_preset(name)
    if not isinstance(params, dict):
        raise InputError("Parameters must be a JSON object.", where=where)
    _refuse_unknown_keys(preset, params, where)
    _refuse_infinities(params, where)
    complete = preset.defaults() | params
    schema = preset.schema()
    for error in Draft202012Validator(schema).iter_errors(complete):
        raise _as_input_error(error, where)
    complete = {name: _as_integer(value, schema["properties"][name]) for name, value in complete.items()}
    if preset.check is not None:
        try:
            preset.check(complete)
        except InputError as error:
            error.where = ".".join(part for part in (where, error.where) if part)
            raise
    return complete


def review_params(name: str, params: JsonObject, *, where: str = "params") -> list[Finding]:
    """List what the preset allows but is likely an accident. ``params`` are complete and checked."""
    preset = find_preset(name)
    findings = preset.advise(params) if preset.advise else []
    return [replace(finding, path=f"{where}.{finding.path}") for finding in findings]


def _refuse_unknown_keys(preset: Preset, params: JsonObject, where: str) -> None:
    known = [parameter.name for parameter in preset.parameters]
    for key in params:
        if key not in known:
            raise InputError(
                "The preset {preset} has no parameter {key!r}.", where=f"{where}.{key}", preset=preset.name, key=key,
                remedy="Allowed are: {known}.", known=", ".join(known) or "none",
            )  # fmt: skip


def _refuse_infinities(value: Any, where: str) -> None:
    if isinstance(value, (int, float)) and not -_LARGEST <= value <= _LARGEST:
        raise InputError("A number must be finite.", where=where)
    if isinstance(value, dict):
        for key, item in value.items():
            _refuse_infinities(item, f"{where}.{key}")
    if isinstance(value, list):
        for index, item in enumerate(value):
            _refuse_infinities(item, f"{where}[{index}]")


def _as_integer(value: Any, rule: JsonObject) -> Any:
    """Write 100.0, an integer to JSON schema but not to Python, as one where an integer is asked for."""
    if isinstance(value, list) and "items" in rule:
        return [_as_integer(item, rule["items"]) for item in value]
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if is_whole and "integer" in _types(rule) and "number" not in _types(rule) else value


def _types(rule: JsonObject) -> list[str]:
    kinds = rule.get("type", [])
    return kinds if isinstance(kinds, list) else [kinds]


def _as_input_error(error: ValidationError, where: str) -> InputError:
    """Say in our words what the schema refuses."""
    path = _json_path(where, error.absolute_path)
    value, rule = cast(Any, error.instance), cast(Any, error.validator_value)  # both are decoded JSON
    if error.validator == "required":
        missing = next(name for name in rule if name not in value)
        return InputError("The parameter {name} must be given.", where=f"{path}.{missing}", name=missing)
    name = path.rpartition(".")[2]
    allowed = {
        "enum": "{name} cannot be {value}; allowed are: {allowed}.",
        "type": "{name} cannot be {value}; it must be of type {allowed}.",
        "minimum": "{name} cannot be {value}; it must be at least {allowed}.",
        "maximum": "{name} cannot be {value}; it must be at most {allowed}.",
        "exclusiveMinimum": "{name} cannot be {value}; it must be more than {allowed}.",
        "minLength": "{name} cannot be {value}; it must have at least {allowed} character.",
        "minItems": "{name} cannot be {value}; it must have at least {allowed} entry.",
        "pattern": "{name} cannot be {value}; it must match {allowed}.",
        "uniqueItems": "{name} cannot be {value}; each entry may occur once.",
    }
    template = allowed.get(str(error.validator), "{name} cannot be {value}.")
    return InputError(template, where=path, name=name, value=_short(value), allowed=_listed(rule))


def _json_path(where: str, parts: Iterable[str | int]) -> str:
    return where + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)


def _short(value: Any) -> str:
    text = write_json(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _listed(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(item if isinstance(item, str) else write_json(item) for item in value)
    return str(value)

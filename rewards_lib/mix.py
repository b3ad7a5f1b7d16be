"""The mix file: at most five rules with names, parameters and weights; read, checked, written, summed.

Invariant: weights are decimals from the file to the sum, so that 0.35 stays 0.35, and every mix there is has passed the
checks.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.errors import ExecutionError, InputError
from rewards_lib.presets import check_params, find_preset
from rewards_lib.strict_json import read_json, write_json

MAX_RULES = 5
MIN_WEIGHT, MAX_WEIGHT, WEIGHT_STEP = Decimal("0.01"), Decimal(1000), Decimal("0.01")
MAX_NAME_LENGTH = 64
_MIX_KEYS = ("name", "rules")
_RULE_KEYS = ("name", "preset", "function", "requirements", "weight", "params", "allow_hosts")
_HOST = re.compile(r"[^\s:/@]+(?::(\d{1,5}))?|\[[0-9A-Fa-f:.]+\](?::(\d{1,5}))?")


@dataclass(frozen=True, slots=True)
class Rule:
    """One reward of a mix: a preset with parameters or a custom function."""

    name: str
    """Unique in the mix; a column of the results."""
    weight: Decimal = Decimal(1)
    """0.01 to 1000 in steps of 0.01."""
    preset: str | None = None
    """The preset's name; exactly one of ``preset`` and ``function`` is set."""
    params: JsonObject = field(default_factory=dict)
    """The preset's parameters as given, defaults not filled in."""
    function: str | None = None
    """A path relative to the mix file, or the name of a stored function, optionally ``name@version``."""
    requirements: str | None = None
    """A path relative to the mix file: what the function needs installed."""
    allow_hosts: tuple[str, ...] = ()
    """``host`` or ``host:port`` that the function may connect to."""

    def __hash__(self) -> int:
        """Hash by name; parameters are a dictionary."""
        return hash((self.name, self.weight))


@dataclass(frozen=True, slots=True)
class Mix:
    """A named list of 1 to 5 rules."""

    name: str
    rules: tuple[Rule, ...]


# --- reading -------------------------------------------------------------------------------------------------------


def read_mix(text: str) -> Mix:
    """Read a mix file.

    Raises ``InputError``, and nothing else, with line and column for invalid JSON and with the JSON path and what is
    allowed for anything else.
    """
    return mix_from_json(read_json(text, parse_float=_read_decimal, unique_keys=True))


def mix_from_json(data: Any) -> Mix:
    """Check a decoded mix, weights given as ``Decimal`` or ``int`` (a float counts as it prints).

    Raises ``InputError`` with the JSON path and what is allowed.
    """
    if not isinstance(data, dict):
        raise InputError("A mix must be a JSON object with name and rules.", where="$")
    _refuse_unknown_keys(data, _MIX_KEYS, "")
    name = _read_name(data["name"], "name") if "name" in data else "mix"
    rows = data.get("rules")
    if not isinstance(rows, list) or not 1 <= len(rows) <= MAX_RULES:
        raise InputError("A mix has 1 to {most} rules.", where="rules", most=MAX_RULES)
    rules: list[Rule] = []
    given = [row.get("name") for row in rows if isinstance(row, dict) and "name" in row]
    for index, row in enumerate(rows):
        rules.append(_read_rule(row, f"rules[{index}]", rules, given))
    return Mix(name, tuple(rules))


def _read_rule(row: Any, where: str, earlier: Sequence[Rule], given: Sequence[Any]) -> Rule:
    if not isinstance(row, dict):
        raise InputError("A rule must be a JSON object.", where=where)
    _refuse_unknown_keys(row, _RULE_KEYS, where)
    if ("preset" in row) == ("function" in row):
        raise InputError("A rule has exactly one of preset and function.", where=where)
    weight = read_weight(row.get("weight", 1), where=f"{where}.weight")
    if "name" in row:
        name = _read_name(row["name"], f"{where}.name")
        if name in {rule.name for rule in earlier}:
            raise InputError(
                "The name {name!r} is taken; rules need different names.", where=f"{where}.name", name=name
            )
    else:
        name = _free_name(row, where, {rule.name for rule in earlier} | {n for n in given if isinstance(n, str)})
    if "preset" in row:
        return _read_preset_rule(row, where, name, weight)
    return _read_function_rule(row, where, name, weight)


def _read_preset_rule(row: JsonObject, where: str, name: str, weight: Decimal) -> Rule:
    for key in ("requirements", "allow_hosts"):
        if key in row:
            raise InputError("{key} goes with a function, not with a preset.", where=f"{where}.{key}", key=key)
    if not isinstance(row["preset"], str):
        raise InputError("preset must be a preset's name.", where=f"{where}.preset")
    try:
        find_preset(row["preset"])
    except InputError as error:
        error.where = f"{where}.preset"
        raise
    params = _plain_numbers(row.get("params", {}))
    check_params(row["preset"], params, where=f"{where}.params")
    return Rule(name, weight, preset=row["preset"], params=params)


def _read_function_rule(row: JsonObject, where: str, name: str, weight: Decimal) -> Rule:
    if row.get("params", {}) != {}:
        raise InputError("params go with a preset, not with a function.", where=f"{where}.params")
    for key in ("function", "requirements"):
        if key in row and not (isinstance(row[key], str) and row[key].strip()):
            raise InputError("{key} must be a path or a name.", where=f"{where}.{key}", key=key)
    hosts = row.get("allow_hosts", [])
    if not isinstance(hosts, list):
        raise InputError("allow_hosts must be a list of host or host:port.", where=f"{where}.allow_hosts")
    for index, host in enumerate(hosts):
        if not isinstance(host, str) or not _is_host(host):
            raise InputError("A host is host or host:port.", where=f"{where}.allow_hosts[{index}]")
    return Rule(name, weight, function=row["function"], requirements=row.get("requirements"), allow_hosts=tuple(hosts))


def _is_host(host: str) -> bool:
    match = _HOST.fullmatch(host)
    port = match and (match[1] or match[2])
    return bool(match) and (not port or 1 <= int(port) <= 65535)


def read_weight(value: Any, *, where: str = "weight") -> Decimal:
    """Check a weight: 0.01 to 1000 in steps of 0.01. Raises ``InputError``.

    >>> read_weight(0.35)
    Decimal('0.35')
    """
    if isinstance(value, float) and math.isfinite(value):
        value = Decimal(repr(value))
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)) or not MIN_WEIGHT <= value <= MAX_WEIGHT:
        raise InputError("A weight is a number from {low} to {high}.", where=where, low=MIN_WEIGHT, high=MAX_WEIGHT)
    weight = Decimal(value)
    if Fraction(weight) % Fraction(WEIGHT_STEP):
        raise InputError("A weight goes in steps of {step}.", where=where, step=WEIGHT_STEP)
    return weight


def _read_name(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_NAME_LENGTH or not value.isprintable():
        raise InputError("A name is a text of 1 to {most} printable characters.", where=where, most=MAX_NAME_LENGTH)
    return value


def _free_name(row: JsonObject, where: str, taken: set[str]) -> str:
    """Name a rule after its preset or function, numbered from 2 where the name is taken."""
    source = row.get("preset") if "preset" in row else row["function"]
    if not isinstance(source, str):
        key = "preset" if "preset" in row else "function"
        raise InputError("{key} must be a text.", where=f"{where}.{key}", key=key)
    stem = PurePosixPath(source.partition("@")[0]).stem if "function" in row else source
    base = "".join(c for c in stem if c.isprintable())[: MAX_NAME_LENGTH - 3].strip() or "rule"
    return next(name for name in [base, *(f"{base}_{n}" for n in range(2, MAX_RULES + 2))] if name not in taken)


def _refuse_unknown_keys(row: JsonObject, known: Sequence[str], where: str) -> None:
    for key in row:
        if key not in known:
            raise InputError(
                "The key {key!r} is unknown.", where=f"{where}.{key}".lstrip("."), key=key,
                remedy="Allowed are: {known}.", known=", ".join(known),
            )  # fmt: skip


def _read_decimal(digits: str) -> Decimal:
    try:
        return Decimal(digits)
    except InvalidOperation:  # an exponent of more than 18 digits
        raise InputError("The number {digits} is out of range.", digits=digits[:40]) from None


def _plain_numbers(value: Any) -> Any:
    """Turn the decimals of a decoded mix into floats; weights are the only numbers that stay decimal."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {key: _plain_numbers(item) for key, item in value.items()}
    return [_plain_numbers(item) for item in value] if isinstance(value, list) else value


# --- writing -------------------------------------------------------------------------------------------------------


def write_mix(mix: Mix) -> str:
    """Write the mix file: one rule a line, keys in a fixed order, what is at its default left out except the weight.

    ``read_mix(write_mix(mix)) == mix``.
    """
    rules = (",\n" + " " * 11).join(_rule_text(rule) for rule in mix.rules)
    return f'{{"name": {write_json(mix.name)},\n "rules": [{rules}]}}\n'


def mix_to_json(mix: Mix) -> JsonObject:
    """The mix as decoded JSON, weights as floats."""
    row: JsonObject = json.loads(write_mix(mix))
    return row


def _rule_text(rule: Rule) -> str:
    fields = {
        "name": write_json(rule.name),
        "preset": write_json(rule.preset) if rule.preset is not None else None,
        "function": write_json(rule.function) if rule.function is not None else None,
        "requirements": write_json(rule.requirements) if rule.requirements is not None else None,
        "weight": weight_text(rule.weight),
        "params": write_json(rule.params) if rule.params else None,
        "allow_hosts": write_json(rule.allow_hosts) if rule.allow_hosts else None,
    }
    return "{" + ", ".join(f'"{key}": {value}' for key, value in fields.items() if value is not None) + "}"


def weight_text(weight: Decimal) -> str:
    """Write a weight with one decimal at least: ``1.0``, ``0.35``."""
    text = f"{weight:.2f}"
    return text[:-1] if text.endswith("0") else text


# --- versions and sums ---------------------------------------------------------------------------------------------


def mix_version(mix: Mix, function_hashes: Mapping[str, str]) -> str:
    """Name what the mix computes: 12 hexadecimal digits of a hash over rules, presets' versions and functions.

    ``function_hashes`` gives the content hash of the function for the name of each rule that has one.
    Renaming the mix, spelling out a default or writing 1 as 1.0 does not change the version. Raises KeyError when a
    function's hash is missing.
    """
    return _version(mix, tuple(sorted(function_hashes.items())))


@lru_cache(maxsize=256)
def _version(mix: Mix, function_hashes: tuple[tuple[str, str], ...]) -> str:
    """Remembered, because checking parameters takes longer than scoring under them, and a service asks each time."""
    hashes = dict(function_hashes)
    rows = [
        {
            "name": rule.name, "weight": weight_text(rule.weight), "allow_hosts": sorted(rule.allow_hosts),
            "preset": rule.preset and f"{rule.preset} v{find_preset(rule.preset).version}",
            "params": _canonical(check_params(rule.preset, rule.params)) if rule.preset else {},
            "function": None if rule.preset else hashes[rule.name],
        }
        for rule in mix.rules
    ]  # fmt: skip
    text = json.dumps(rows, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _canonical(value: Any) -> Any:
    """Spell equal numbers alike: 1.0 as 1."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items()}
    return [_canonical(item) for item in value] if isinstance(value, list) else value


def weighted_sum(weights: Sequence[Decimal], rewards: Sequence[float]) -> float:
    """Sum ``weight * reward``, each reward as the decimal that it prints, rounded once to the nearest float.

    Raises ``ExecutionError`` when the sum is beyond the range of floats.

    >>> weighted_sum([Decimal(1), Decimal(1), Decimal(1)], [0.1, 0.1, 0.1])
    0.3
    """
    total = sum((Fraction(w) * Fraction(repr(float(r))) for w, r in zip(weights, rewards, strict=True)), Fraction(0))
    try:
        return float(total) + 0.0
    except OverflowError:
        raise ExecutionError("The weighted sum of the rewards is too large for a number.") from None

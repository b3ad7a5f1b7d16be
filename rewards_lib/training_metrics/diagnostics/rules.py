"""The rules as data: reading rules.yaml and a person's own rules, and changing their thresholds.

Invariant: a rule that was read is whole; what is missing or misspelt is refused with the rule's id and what is allowed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

from rewards_lib.errors import InputError
from rewards_lib.training_metrics.diagnostics.findings import Text
from rewards_lib.training_metrics.diagnostics.outcomes import SEVERITIES, Severity

PATH = Path(__file__).parent.parent / "rules.yaml"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; rules.yaml says what each field means."""

    id: str
    number: int
    title: Text
    severity: Severity
    condition: str
    texts: Mapping[str, Text]
    """``text``, and the other sentences of rules that have several."""
    meaning: Text
    advice: Text
    source: str = ""
    strong: Severity | None = None
    needs: tuple[str, ...] = ()
    bounds: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    window: int = 20
    min_steps: int = 30
    min_tests: int = 0
    k: int = 3
    thresholds: Mapping[str, float] = field(default_factory=dict)
    silenced_by: tuple[str, ...] = ()
    unit: str = "number"

    def limit(self, name: str) -> float:
        """One of its thresholds. Raises InputError when an own rule forgot to give it."""
        if name not in self.thresholds:
            raise InputError(
                "The rule needs the threshold {name}.", name=name, where=f"rule {self.id}", remedy="Add it."
            )
        return self.thresholds[name]


@dataclass(frozen=True, slots=True)
class RuleBook:
    """All rules, in order, and the words for what they need."""

    rules: tuple[Rule, ...]
    concepts: Mapping[str, Text]

    def concept(self, need: str) -> Text:
        """The word for a canonical name; the name itself where there is none."""
        return self.concepts.get(need, {"en": need.removeprefix("train/")})

    def with_thresholds(self, changed: Mapping[str, Mapping[str, float]]) -> RuleBook:
        """The same rules with other numbers: rule id to threshold name to value."""
        return replace(
            self,
            rules=tuple(
                replace(rule, thresholds={**rule.thresholds, **changed[rule.id]}) if rule.id in changed else rule
                for rule in self.rules
            ),
        )

    def with_rules(self, own: Iterable[Rule]) -> RuleBook:
        """These rules and a person's own; one with a known id takes that rule's place."""
        rules = {rule.id: rule for rule in self.rules} | {rule.id: rule for rule in own}
        return replace(self, rules=tuple(rules.values()))


@cache
def rule_book() -> RuleBook:
    """The rules that ship with us."""
    data = _load(PATH.read_text(encoding="utf-8"), PATH.name)
    return RuleBook(tuple(_read_rule(row, place) for place, row in enumerate(data["rules"], 1)), data["concepts"])


def read_rules(text: str, *, name: str = "rules.yaml") -> tuple[Rule, ...]:
    """A person's own rules: YAML with ``rules``, in the shape of rules.yaml; numbers may be left out.

    Raises InputError that names the rule and what is allowed.
    """
    data = _load(text, name)
    rows = data.get("rules") if isinstance(data, dict) else data
    if not isinstance(rows, list) or not rows:
        raise InputError("There are no rules here.", where=name, remedy="Write a list under rules:.")
    own = tuple(_read_rule(row, 100 + place) for place, row in enumerate(rows, 1))
    for rule in own:
        _check_words(rule)
    return own


def _load(text: str, name: str) -> Any:
    import yaml

    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 -- a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{name}, line {mark.line + 1}" if mark else name
        problem = getattr(error, "problem", None) or "unknown structure"
        raise InputError("This is not YAML: {problem}.", problem=problem, where=place) from None
    except RecursionError:
        raise InputError("The YAML is nested too deeply.", where=name) from None


_KEYS = frozenset(one.name for one in fields(Rule)) - {"texts"}
_INTEGERS = ("number", "window", "min_steps", "min_tests", "k")
_FROM_ONE = ("window", "k")
_LISTS = ("needs", "silenced_by")
_SIDES = ("above", "from", "below")
_UNITS = ("number", "share")
_OF_ITS_NEEDS = ("non_finite", "spike", "rising_between", "times_its_baseline", "zero_at_a_step", "always_zero")
"""Conditions that look at whatever series a rule needs, and so at none where it names none."""
_WORDS = frozenset({"series", "begin", "end", "value", "threshold", "n"})
"""What the sentence of any finding may speak of, in braces."""


def _read_rule(row: Any, number: int) -> Rule:
    from rewards_lib.training_metrics.diagnostics.conditions import CONDITIONS

    where = f"rule {row.get('id', number)}" if isinstance(row, dict) else f"rule {number}"
    if not isinstance(row, dict) or not isinstance(row.get("id"), str) or not row["id"].strip():
        raise InputError("A rule needs an id.", where=where)
    values: dict[str, Any] = {"number": number} | {key: value for key, value in row.items() if key in _KEYS}
    texts = {str(key): _text(key, row[key], where) for key in row if key not in _KEYS}
    if "text" not in texts:
        raise InputError("The rule has no text.", where=where, remedy="Add text: with en and zh.")
    for key, usual in (("title", row["id"].replace("_", " ")), ("meaning", ""), ("advice", "")):
        values[key] = _text(key, row.get(key, usual), where)
    _check("severity", values.get("severity"), SEVERITIES, where)
    _check("condition", values.get("condition"), sorted(CONDITIONS), where)
    if values.get("strong") is not None:
        _check("strong", values["strong"], SEVERITIES, where)
    _check("unit", values.get("unit", _UNITS[0]), _UNITS, where)
    for key in _INTEGERS:
        least = 1 if key in _FROM_ONE else 0
        if key in values and (type(values[key]) is not int or values[key] < least):
            raise InputError("{key} must be a whole number from {least}.", key=key, least=least, where=where)
    values["thresholds"] = _numbers(values.get("thresholds", {}), where)
    values["bounds"] = _bounds(values.get("bounds", {}), where)
    for key in _LISTS:
        values[key] = _names(key, values.get(key, []), where)
    values["needs"] = values["needs"] or tuple([" | ".join(values["bounds"])] * bool(values["bounds"]))
    values["source"] = str(values.get("source") or "")
    rule = Rule(texts=texts, **values)
    _check_needs(rule, where)
    return rule


def _bounds(value: Any, where: str) -> Mapping[str, Mapping[str, str]]:
    if isinstance(value, dict) and all(isinstance(k, str) and isinstance(v, dict) and v for k, v in value.items()):
        for side, name in (pair for sides in value.values() for pair in sides.items()):
            _check("a bound", side, _SIDES, where)
            if not isinstance(name, str):
                raise InputError("A bound must be the name of a threshold, not {name!r}.", name=name, where=where)
        return value
    told = "bounds must be names of metrics, each with above, from or below and the name of a threshold."
    raise InputError(told, where=where)


def _names(key: str, value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(value)
    raise InputError("{key} must be a list of names.", key=key, where=where)


def _check_needs(rule: Rule, where: str) -> None:
    """Raise InputError where a rule names fewer series than its condition looks at."""
    named = sum(len(need.split("|")) for need in rule.needs)
    least = 2 if rule.condition == "truncation_artefact" else int(rule.condition in _OF_ITS_NEEDS)
    if named < least or (rule.condition == "outside" and not rule.bounds):
        key = "bounds" if rule.condition == "outside" else "needs"
        raise InputError("The condition {condition} looks at series that {key} must name.",
                         condition=rule.condition, key=key, where=where)  # fmt: skip


def _check_words(rule: Rule) -> None:
    """Raise InputError where a sentence of an own rule has braces round a word that its findings do not know."""
    alike = [one for one in rule_book().rules if one.condition == rule.condition]
    known = _WORDS | {word for one in alike for text in one.texts.values() for word in _words(text, one.id)}
    for text in (*rule.texts.values(), rule.advice):
        for word in _words(text, rule.id):
            _check("a word in braces", word, sorted(known), f"rule {rule.id}")


def _words(text: Text, rule: str) -> list[str]:
    """The words that stand in braces in a text, each as it is written there."""
    found = []
    for sentence in text.values():
        try:
            parts = list(Formatter().parse(sentence))
        except ValueError as error:
            raise InputError("The braces of a text do not fit: {why}.", why=str(error), where=f"rule {rule}") from None
        found += [
            f"{name}{'!' + conversion if conversion else ''}{':' + form if form else ''}"
            for _, name, form, conversion in parts
            if name is not None
        ]
    return found


def _text(key: object, value: Any, where: str) -> Text:
    if isinstance(value, str):
        return {"en": value}
    if isinstance(value, dict) and isinstance(value.get("en"), str) and all(isinstance(v, str) for v in value.values()):
        return {str(key): text for key, text in value.items()}
    raise InputError("{key} must be a text, or en and zh; it is no other key of a rule.", key=str(key), where=where)


def _numbers(value: Any, where: str) -> Mapping[str, float]:
    if not isinstance(value, dict) or not all(
        isinstance(v, int | float) and not isinstance(v, bool) and not math.isnan(v) for v in value.values()
    ):
        raise InputError("Thresholds must be names with numbers.", where=where)
    return {str(key): float(number) for key, number in value.items()}


def _check(key: str, value: Any, allowed: Iterable[str], where: str) -> None:
    if value not in allowed:
        raise InputError(
            "{key} cannot be {value!r}; it may be {allowed}.",
            key=key,
            value=value,
            allowed=", ".join(allowed),
            where=where,
        )

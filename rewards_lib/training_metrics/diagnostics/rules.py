"""The rules as data: reading rules.yaml and a person's own rules, and changing their thresholds.

Invariant: a rule that was read is whole; what is missing or misspelt is refused with the rule's id and what is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from rewards_lib.errors import InputError
from rewards_lib.training_metrics.diagnostics.findings import Text
from rewards_lib.training_metrics.diagnostics.outcomes import SEVERITIES, Severity

PATH = Path(__file__).parent.parent / "rules.yaml"
LANGUAGES = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; rules.yaml says what each field means."""

    id: str
    number: int
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
    return tuple(_read_rule(row, 100 + place) for place, row in enumerate(rows, 1))


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


def _read_rule(row: Any, number: int) -> Rule:
    from rewards_lib.training_metrics.diagnostics.conditions import CONDITIONS

    where = f"rule {row.get('id', number)}" if isinstance(row, dict) else f"rule {number}"
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        raise InputError("A rule needs an id.", where=where)
    values: dict[str, Any] = {"number": number} | {key: value for key, value in row.items() if key in _KEYS}
    texts = {key: _text(row[key], where) for key in row if key not in _KEYS}
    if "text" not in texts:
        raise InputError("The rule has no text.", where=where, remedy="Add text: with en and zh.")
    for key in ("meaning", "advice"):
        values[key] = _text(row.get(key, ""), where)
    _check("severity", values.get("severity"), SEVERITIES, where)
    _check("condition", values.get("condition"), sorted(CONDITIONS), where)
    for key in _INTEGERS:
        if key in values and (not isinstance(values[key], int) or values[key] < 0):
            raise InputError("{key} must be a whole number from 0.", key=key, where=where)
    values["thresholds"] = _numbers(values.get("thresholds", {}), where)
    values["needs"] = tuple(values.get("needs", ())) or tuple(
        [" | ".join(values.get("bounds", {}))] * bool(values.get("bounds"))
    )
    values["silenced_by"] = tuple(values.get("silenced_by", ()))
    return Rule(texts=texts, **values)


def _text(value: Any, where: str) -> Text:
    if isinstance(value, str):
        return {"en": value}
    if isinstance(value, dict) and isinstance(value.get("en"), str) and all(isinstance(v, str) for v in value.values()):
        return {str(key): text for key, text in value.items()}
    raise InputError("A text must be a text, or en and zh.", where=where)


def _numbers(value: Any, where: str) -> Mapping[str, float]:
    if not isinstance(value, dict) or not all(
        isinstance(v, int | float) and not isinstance(v, bool) for v in value.values()
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

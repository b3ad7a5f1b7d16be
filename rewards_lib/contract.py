"""The words everything else speaks: samples, completions, scores, findings, isolation.

Invariant: a reward is a finite float or it is absent with a reason. Nothing here makes a number up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A decoded JSON value."""

JsonObject: TypeAlias = dict[str, Any]
"""A decoded JSON object whose values have not been looked at yet."""


# --- sentences -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence for people: an English template and its values, apart, so that a screen can translate the template.

    >>> str(Sentence("took {answer}", {"answer": "42"}))
    'took 42'
    """

    template: str
    values: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        """The English sentence."""
        return fill(self.template, self.values)

    def to_json(self) -> JsonObject:
        """Template and values apart, for another process or the store; what is no plain value becomes its text."""
        values = {
            name: {"sentence": value.to_json()} if isinstance(value, Sentence)
            else value if isinstance(value, (bool, int, float, str, type(None))) else str(value)
            for name, value in self.values.items()
        }  # fmt: skip
        return {"template": self.template, "values": values}

    @classmethod
    def from_json(cls, row: JsonObject) -> Sentence:
        """The sentence that ``to_json`` wrote. Raises KeyError for anything else."""
        values = {
            name: cls.from_json(value["sentence"]) if isinstance(value, dict) else value
            for name, value in row["values"].items()
        }
        return cls(row["template"], values)


def sentence(template: str, **values: object) -> Sentence:
    """Build a ``Sentence``; message catalogues are extracted from the first argument of this call."""
    return Sentence(template, values)


def fill(template: str, values: Mapping[str, object]) -> str:
    """Put values into a template; without values the template stands as it is, braces included."""
    return template.format_map(values) if values else template


# --- samples and completions ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sample:
    """One dataset row."""

    messages: tuple[JsonObject, ...] = ()
    """The prompt, as chat messages."""
    extra: JsonObject = field(default_factory=dict)
    """Whatever the row carries for its reward; the ground truth is ``extra["answer"]`` by default."""
    tools: tuple[JsonObject, ...] = ()

    def to_json(self) -> JsonObject:
        """The row as reward functions receive it."""
        return {"messages": list(self.messages), "extra": self.extra, "tools": list(self.tools)}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Sample:
        """The sample of a row whose shape has been checked; what it lacks is empty."""
        return cls(tuple(row.get("messages") or ()), row.get("extra") or {}, tuple(row.get("tools") or ()))

    @property
    def prompt(self) -> str:
        """The text of the last user message; empty when there is none."""
        return next((text_of(m) for m in reversed(self.messages) if m.get("role") == "user"), "")


@dataclass(frozen=True, slots=True)
class Completion:
    """What the policy wrote, in whichever of the accepted shapes it arrived (see ``messages_of``)."""

    raw: Json
    """The completion as it arrived; custom functions receive this."""

    @property
    def messages(self) -> list[JsonObject]:
        """Its chat messages, in order; a plain string counts as one assistant message."""
        return messages_of(self.raw)

    @property
    def text(self) -> str:
        """The text of its last assistant message; empty when there is none."""
        return next((text_of(m) for m in reversed(self.messages) if m.get("role", "assistant") == "assistant"), "")

    @property
    def token_count(self) -> int | None:
        """Tokens as the payload states them (``completion_ids`` or ``usage.completion_tokens``), else None."""
        if not isinstance(self.raw, Mapping):
            return None
        ids, usage = self.raw.get("completion_ids"), self.raw.get("usage")
        if isinstance(ids, list):
            return len(ids)
        count = usage.get("completion_tokens") if isinstance(usage, Mapping) else None
        return count if isinstance(count, int) and not isinstance(count, bool) else None

    def to_json(self) -> Json:
        """The completion as reward functions receive it: a mapping with ``messages``, other keys kept."""
        raw = self.raw
        is_whole = isinstance(raw, Mapping) and ("messages" in raw or not ("role" in raw or "content" in raw))
        return raw if is_whole else {"messages": messages_of(raw)}


def messages_of(raw: Json) -> list[JsonObject]:
    """List the messages of a completion given as a string, one message, a list of messages or ``{"messages": ...}``.

    Entries that are not objects are left out, so the answer may be empty.
    """
    if isinstance(raw, str):
        return [{"role": "assistant", "content": raw}]
    if isinstance(raw, Mapping):
        if "messages" in raw:
            return messages_of(raw["messages"])
        return [dict(raw)]
    if not isinstance(raw, (list, tuple)):
        return []
    return [dict(message) for message in raw if isinstance(message, Mapping)]


def text_of(message: Mapping[str, Any]) -> str:
    """Read a message's content: a string as it is, null as empty, a list of parts as its text parts joined."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, (list, tuple)):
        return ""
    parts = (
        part if isinstance(part, str) else part.get("text") if isinstance(part, Mapping) else None for part in content
    )
    return "".join(part for part in parts if isinstance(part, str))


@dataclass(frozen=True, slots=True)
class Payload:
    """What is scored in one call: a sample and the completions of its group."""

    sample: Sample
    completions: tuple[Completion, ...]
    context: JsonObject = field(default_factory=dict)
    dialect: str = "bare"
    """The wire format it came in: ``ark`` (the envelope), ``bare`` or ``dataset row``."""
    findings: tuple[Finding, ...] = ()
    """Likely accidents in the payload that do not stop it from being scored."""


# --- scores --------------------------------------------------------------------------------------------------------


class ScoreState(StrEnum):
    """What became of one completion under one rule."""

    SCORED = "scored"
    ABSTAINED = "abstained"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Score:
    """One completion under one rule: a finite number, or none and why."""

    state: ScoreState
    value: float | None
    why: Sentence | None = None
    spans: tuple[tuple[int, int], ...] = ()
    """Parts of the completion's text that decided, as (start, end) in code points."""
    metrics: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep the invariant: scored means a finite number, anything else means none."""
        if (self.state is ScoreState.SCORED) != (self.value is not None and math.isfinite(self.value)):
            raise ValueError(f"a {self.state} score cannot have the value {self.value}")

    @classmethod
    def scored(
        cls,
        value: float,
        why: Sentence | None = None,
        *,
        spans: Sequence[tuple[int, int]] = (),
        metrics: Mapping[str, float] | None = None,
    ) -> Score:
        """A computed reward; -0.0 becomes 0.0. Raises ValueError for NaN and infinities."""
        return cls(ScoreState.SCORED, float(value) + 0.0, why, tuple(spans), metrics or {})

    @classmethod
    def abstained(cls, why: Sentence | None = None) -> Score:
        """The rule has no opinion on this completion: it is left out of the completion's sum."""
        return cls(ScoreState.ABSTAINED, None, why)

    @classmethod
    def failed(cls, why: Sentence) -> Score:
        """The reward could not be computed: the completion is unscored in the mix."""
        return cls(ScoreState.FAILED, None, why)


Status: TypeAlias = Literal["success", "failure"]
Severity: TypeAlias = Literal["error", "warning", "hint"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found: how bad, where, and a sentence that says what to do."""

    severity: Severity
    message: Sentence
    path: str = ""
    """JSON path or file name."""
    rule: str = ""
    """The stable id of the check."""
    line: int | None = None
    """From 1; None where lines mean nothing."""
    column: int | None = None
    """From 1."""
    end_column: int | None = None
    """One past the last marked column, from 1."""

    def to_json(self) -> JsonObject:
        """The finding as the command line prints it; fields that do not apply are left out."""
        row: JsonObject = {"severity": self.severity, "path": self.path, "message": str(self.message)}
        optional = {"rule": self.rule or None, "line": self.line, "column": self.column, "end_column": self.end_column}
        return row | {key: value for key, value in optional.items() if value is not None}


Tier: TypeAlias = Literal["A", "B", "C"]


@dataclass(frozen=True, slots=True)
class Isolation:
    """How confined a run was."""

    tier: Tier
    """A: own namespaces and system call filter; B: no namespaces; C: resource limits and execution policy only."""
    layers: tuple[str, ...] = ()
    """What was in force, e.g. ``("bubblewrap", "seccomp", "landlock", "rlimits")``."""
    lacks: tuple[Sentence, ...] = ()
    """Why the tier is not higher, one reason each."""

    def to_json(self) -> JsonObject:
        """The isolation as the command line prints it."""
        return {"tier": self.tier, "layers": list(self.layers), "lacks": [str(reason) for reason in self.lacks]}

    @classmethod
    def from_json(cls, row: JsonObject) -> Isolation:
        """The isolation that ``to_json`` wrote; its reasons are English texts then."""
        lacks = tuple(sentence("{text}", text=reason) for reason in row["lacks"])
        return cls(row["tier"], tuple(row["layers"]), lacks)


CallOutcome: TypeAlias = Literal["open", "not_allowed", "private", "unresolved", "failed"]
"""What became of a connection: made, not on the allow-list, to a private address, of an unknown name, or broken."""


@dataclass(frozen=True, slots=True)
class NetworkCall:
    """One connection that a custom function asked for."""

    host: str
    port: int
    outcome: CallOutcome
    why: Sentence | None = None
    """Why there was no connection, or how it broke; None when it was open to its end."""
    sent_bytes: int = 0
    received_bytes: int = 0
    duration_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One rule over the completions of one payload."""

    name: str
    weight: float
    scores: tuple[Score, ...]
    """One entry for each completion, in order."""
    status: Status
    version: str
    """Which preset or function, in which version, made the scores."""
    error: Sentence | None = None
    """Why the status is failure, or a function's own error text."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    duration_ms: float | None = None
    """None where it was not measured."""
    logs: str = ""
    traceback: str = ""
    """The author's frames only; empty unless the author's code raised."""
    error_line: int | None = None
    """The author's line that raised, from 1."""
    findings: tuple[Finding, ...] = ()
    network_calls: tuple[NetworkCall, ...] = ()
    memory_mb: float | None = None
    isolation: Isolation | None = None

    @property
    def rewards(self) -> list[float | None]:
        """The unweighted rewards, one for each completion; None where there is none."""
        return [score.value for score in self.scores]

    def to_json(self) -> JsonObject:
        """The rule as the command line prints it."""
        row: JsonObject = {
            "name": self.name,
            "weight": self.weight,
            "rewards": self.rewards,
            "metrics": dict(self.metrics),
            "status": self.status,
            "error": str(self.error or ""),
            "duration_ms": None if self.duration_ms is None else round(self.duration_ms, 3),
            "version": self.version,
            "reasons": [str(score.why or "") for score in self.scores],
        }
        return row | ({"traceback": self.traceback} if self.traceback else {})


@dataclass(frozen=True, slots=True)
class MixResult:
    """A mix over the completions of one payload."""

    rules: tuple[RuleResult, ...]
    rewards: tuple[float | None, ...]
    """The final reward of each completion, in order; None is unscored."""
    status: Status
    mix_version: str
    error: Sentence | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    isolation: Isolation | None = None
    duration_ms: float | None = None
    """None where it was not measured."""

    @property
    def logs(self) -> str:
        """What the custom functions printed, rule after rule."""
        return "".join(rule.logs for rule in self.rules)

    def response(self) -> JsonObject:
        """The answer a trainer gets."""
        body: JsonObject = {"rewards": list(self.rewards), "metrics": dict(self.metrics), "status": self.status}
        return body | ({"error": str(self.error)} if self.error else {})

    def to_json(self) -> JsonObject:
        """The result as ``python -m rewards_lib test`` prints it."""
        return {
            "status": self.status,
            "error": str(self.error or ""),
            "rewards": list(self.rewards),
            "metrics": dict(self.metrics),
            "rules": [rule.to_json() for rule in self.rules],
            "logs": self.logs,
            "findings": [finding.to_json() for finding in self.findings],
            "isolation": self.isolation.to_json() if self.isolation else None,
            "mix_version": self.mix_version,
            "duration_ms": None if self.duration_ms is None else round(self.duration_ms, 3),
        }

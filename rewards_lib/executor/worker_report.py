"""From what a worker wrote to a ``FunctionRun``: every word of the worker is doubted and checked again.

Invariant: a number leaves here only if it is a finite float and its run ended as it should.
"""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from rewards_lib.contract import Finding, Isolation, NetworkCall, Score, Sentence, Status, sentence
from rewards_lib.executor.limits import FLOOD_BYTES, Limits
from rewards_lib.executor.results import FunctionRun
from rewards_lib.executor.run_channel import RunEnd
from rewards_lib.executor.worker_words import read_words

_MOST_METRICS = 1_000
_BIGGEST_NAME = 200
_BIGGEST_TEXT = 4_000
_MOST_FINDINGS = 1_000


@dataclass
class WorkerReport:
    """What arrived from one run."""

    count: int
    """Completions of the call."""
    phase: str = ""
    """``compile``, ``load`` or ``call``: how far the run came."""
    result: Mapping[str, Any] | None = None
    end: RunEnd = field(default_factory=RunEnd)
    logs: str = ""
    network_calls: tuple[NetworkCall, ...] = ()
    findings: tuple[Finding, ...] = ()
    """What is known of the source beforehand."""
    duration_ms: float | None = None


def read_findings(rows: Any) -> tuple[Finding, ...]:
    """Turn the worker's rows into findings; rows that are none are left out."""
    found = []
    for row in _list(rows)[:_MOST_FINDINGS]:
        words = read_words(row.get("message")) if isinstance(row, Mapping) else None
        if words is not None and row.get("severity") in ("error", "warning", "hint"):
            found.append(
                Finding(
                    row["severity"], words, rule=str(row.get("rule", "")), line=_position(row.get("line")),
                    column=_position(row.get("column")), end_column=_position(row.get("end_column")),
                )
            )  # fmt: skip
    return tuple(found)


def function_run(got: WorkerReport, limits: Limits, isolation: Isolation) -> FunctionRun:
    """Build the result of one call of ``reward_fn``."""
    result = got.result or {}
    findings = (
        *got.findings,
        *read_findings(result.get("findings")),
        *_dropped_metrics(result),
        *_network_findings(got.network_calls),
    )
    error, line = _fault(got, limits)
    scores = _scores(result.get("rewards"), got.count) if error is None else None
    if error is None and scores is None:
        error = sentence("The worker wrote no usable result.")
    if error is not None or scores is None:
        scores = tuple(Score.failed(error or sentence("no result")) for _ in range(got.count))
    elif any(score.why for score in scores if score.value is None):
        error = _first_reason(scores)
    status: Status = "failure" if error is not None else "success"
    raised = _mapping(result.get("raised"))
    return FunctionRun(
        scores=scores, status=status, isolation=isolation, error=error, error_line=line,
        metrics=_metrics(result.get("metrics")), logs=got.logs, traceback=_text(raised.get("traceback"), 20_000),
        findings=findings, duration_ms=got.duration_ms, memory_mb=got.end.memory_mb, network_calls=got.network_calls,
    )  # fmt: skip


def _fault(got: WorkerReport, limits: Limits) -> tuple[Sentence | None, int | None]:
    """Say why the run gave no rewards, and at which line; (None, None) when it gave some."""
    result = got.result
    if result is None:
        return end_sentence(got.end, limits, got.phase), None
    if result.get("refused"):
        errors = [finding for finding in read_findings(result.get("findings")) if finding.severity == "error"]
        return _refusal(errors)
    raised = _mapping(result.get("raised"))
    if raised:
        line = _position(raised.get("line"))
        return raised_sentence(raised, limits), line
    fault = read_words(result.get("fault"))
    if fault is not None:
        return fault, _position(fault.values.get("line"))
    if result.get("status") == "failure":
        text = _text(result.get("error"), _BIGGEST_TEXT)
        return (sentence("{text}", text=text) if text else sentence("reward_fn reported a failure.")), None
    if result.get("status") != "success":
        return sentence("The worker wrote no usable result."), None
    return None, None


def _refusal(errors: Sequence[Finding]) -> tuple[Sentence, int | None]:
    if not errors:
        return sentence("The code was refused."), None
    first, more = errors[0], len(errors) - 1
    template = "line {line}: {finding} {more} more refused." if more else "line {line}: {finding}"
    return sentence(template, line=first.line, finding=first.message, more=more), first.line


def raised_sentence(raised: Mapping[str, Any], limits: Limits) -> Sentence:
    """One sentence for an exception of the author's code."""
    kind, text, line = _text(raised.get("kind"), 200), _text(raised.get("text"), _BIGGEST_TEXT), raised.get("line")
    if kind == "MemoryError":
        text = text or f"the run needed more than {limits.memory_mb} MB"
    if isinstance(line, int):
        template = "line {line}: {kind}: {text}" if text else "line {line}: {kind}"
    else:
        template = "{kind}: {text}" if text else "{kind}"
    return sentence(template, line=line, kind=kind, text=text)


_PHASES = {
    "": sentence("before it started"),
    "compile": sentence("while it was compiled"),
    "load": sentence("while its top level ran"),
    "call": sentence("inside reward_fn"),
}


def end_sentence(end: RunEnd, limits: Limits, phase: str = "call") -> Sentence:
    """Say why a run ended without a result."""
    if end.no_process:
        return sentence(
            "The system had no process for this run ({why}). This says nothing about the function.", why=end.no_process
        )
    if end.worker_gone:
        return sentence("The worker was ended from outside again and again. This says nothing about the function.")
    where = _PHASES.get(phase, _PHASES["call"])
    if end.killed_for == "wall":
        return sentence(
            "The time limit of {seconds:g} s was reached {where}.", seconds=limits.wall_seconds, where=where
        )
    if end.killed_for == "stopped":
        return sentence("The run was stopped.")
    if end.killed_for == "output":
        return sentence("The function printed more than {limit} MB and was ended.", limit=FLOOD_BYTES >> 20)
    if end.killed_for == "result":
        return sentence("The result is larger than {limit} bytes.", limit=limits.result_bytes)
    number = os.WTERMSIG(end.status) if end.status is not None and os.WIFSIGNALED(end.status) else 0
    if number in (signal.SIGXCPU, signal.SIGPROF) or (number == signal.SIGKILL and _over_cpu(end, limits)):
        # a batch is held to its limit by SIGPROF, to the millisecond; a run by SIGXCPU, in whole seconds
        whole = limits.for_worker()["cpu_seconds"]
        seconds = limits.cpu_seconds or whole if number == signal.SIGPROF else whole
        return sentence("The processor time limit of {seconds:g} s was reached {where}.", seconds=seconds, where=where)
    if number == signal.SIGKILL:
        return sentence(
            "The worker process was killed from outside {where}: the machine may be out of memory.", where=where
        )
    if phase == "compile":
        return sentence("The code is nested too deeply to be compiled.")
    if number:
        name = signal.Signals(number).name if number in {item.value for item in signal.Signals} else str(number)
        return sentence("The worker process died ({signal}) {where}.", signal=name, where=where)
    return sentence("The worker process ended without a result {where}.", where=where)


def _over_cpu(end: RunEnd, limits: Limits) -> bool:
    return end.cpu_seconds is not None and end.cpu_seconds >= limits.for_worker()["cpu_seconds"]


def _scores(rewards: Any, count: int) -> tuple[Score, ...] | None:
    """Check the worker's rewards once more; None when they are no list of the right length."""
    if not isinstance(rewards, list) or len(rewards) != count:
        return None
    return tuple(_score(entry) for entry in rewards)


def _score(entry: Any) -> Score:
    if type(entry) is float and math.isfinite(entry):  # nearly all of them
        return _scored(entry + 0.0)
    if entry is None:
        return Score.abstained()
    if isinstance(entry, (int, float)) and not isinstance(entry, bool):
        value = _finite(entry)
        if value is not None:
            return _scored(value)
    words = read_words(_mapping(entry).get("why"))
    return Score.failed(words or sentence("the reward is not a finite number"))


@lru_cache(4_096)
def _scored(value: float) -> Score:
    """Rewards are few numbers many times, and scores never change."""
    return Score.scored(value)


def _finite(value: float) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    return number + 0.0 if math.isfinite(number) else None


def _first_reason(scores: Sequence[Score]) -> Sentence:
    failed = [(place, score.why) for place, score in enumerate(scores, 1) if score.why is not None]
    place, why = failed[0]
    template = "Completion {place}: {why}."
    if len(failed) > 1:
        template = "Completion {place}: {why} (and {more} more without a reward)."
    return sentence(template, place=place, why=why, more=len(failed) - 1)


def _metrics(metrics: Any) -> dict[str, float]:
    kept: dict[str, float] = {}
    for name, value in list(_mapping(metrics).items())[:_MOST_METRICS]:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and len(str(name)) <= _BIGGEST_NAME:
            number = _finite(value)
            if number is not None:
                kept[str(name)] = number
    return kept


def _dropped_metrics(result: Mapping[str, Any]) -> list[Finding]:
    words = [read_words(entry) for entry in _list(result.get("dropped"))[:_MOST_METRICS]]
    return [Finding("warning", entry, rule="metrics") for entry in words if entry is not None]


def _network_findings(calls: Sequence[NetworkCall]) -> list[Finding]:
    """Name each refused host once, so that the console can offer to allow it."""
    refused = {(call.host, call.port): call.why for call in calls if call.outcome in ("not_allowed", "private")}
    return [
        Finding(
            "warning",
            sentence("The function asked for {host}:{port} and was refused: {why}.", host=host, port=port, why=why),
            path=f"{host}:{port}", rule="network",
        )
        for (host, port), why in refused.items()
    ]  # fmt: skip


# --- reading the worker's JSON --------------------------------------------------------------------------------------


def _text(value: Any, limit: int) -> str:
    return value[:limit] if isinstance(value, str) else ""


def _position(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 31 else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []

"""Scoring many groups with one custom function: a few children work through them, each group for itself.

Invariant: there is exactly one ``FunctionRun`` for each group, in order, wherever a batch is cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import Any

from rewards_lib.contract import Finding, Isolation, NetworkCall, Payload
from rewards_lib.executor.batch import Batch, Entry, Lease
from rewards_lib.executor.gateway import Gateway
from rewards_lib.executor.limits import Limits
from rewards_lib.executor.redaction import Redaction
from rewards_lib.executor.results import FunctionRun, FunctionSource
from rewards_lib.executor.run_channel import RunEnd
from rewards_lib.executor.stopping import StopSwitch
from rewards_lib.executor.worker_report import WorkerReport, function_run, read_findings
from rewards_lib.executor.zygotes import ZygoteProcess
from rewards_lib.plain_frames import pack_frame

_MOST_LOG_BYTES = 16 << 20
"""Kept over a child's whole share of a batch."""
_LOGS_FULL = f"[the logs of this batch are full: {_MOST_LOG_BYTES >> 20} MB]\n"


def arguments_of(payload: Payload) -> dict[str, Any]:
    """What ``reward_fn`` is called with."""
    completions = [entry.to_json() for entry in payload.completions]
    return {"context": payload.context, "sample": payload.sample.to_json(), "completions": completions}


def run_side_by_side(
    job: Callable[[], GroupsJob], payloads: Sequence[Payload], lease: Lease, *, children: int
) -> list[FunctionRun]:
    """Score groups in a few children at once, each of which takes every so-manyth group; one run each, in order."""
    children = min(children, len(payloads))
    if children <= 1:
        return job().run(payloads, lease)
    runs: dict[int, FunctionRun] = {}
    with ThreadPoolExecutor(children, thread_name_prefix="batch") as pool:
        parts = pool.map(lambda first: job().run(payloads[first::children], lease), range(children))
        for first, part in enumerate(parts):
            runs.update(zip(range(first, len(payloads), children), part, strict=True))
    return [runs[place] for place in range(len(payloads))]


class GroupsJob:
    """One child's share of a call of ``Executor.run_functions``."""

    kind = "groups"
    preload: tuple[str, ...] = ()

    def __init__(
        self, request: Mapping[str, Any], function: FunctionSource, *, stop: StopSwitch, limits: Limits,
        group_seconds: float, isolation: Callable[[], Isolation],
    ) -> None:  # fmt: skip
        self._group_limits = replace(limits, wall_seconds=group_seconds)
        cpu_seconds = limits.cpu_seconds or 2 * group_seconds
        self.request: Mapping[str, Any] = {**request, "cpu_seconds": cpu_seconds}
        self.limits = replace(limits, wall_seconds=max(limits.wall_seconds, group_seconds), cpu_seconds=86_400.0)
        self._seconds = group_seconds
        self.stop = stop
        self._allow_hosts = function.allow_hosts
        self.redaction = Redaction(function.environ.items())
        self._isolation = cache(isolation)
        self._findings: tuple[Finding, ...] = ()
        self._gateway: Gateway | None = None
        self._log_room = _MOST_LOG_BYTES
        self._first_of_child = 0
        self._done: list[FunctionRun | WorkerReport] = []
        """A group that used the network waits as a report: all its calls are known at the end of its child."""

    def run(self, payloads: Iterable[Payload], lease: Lease) -> list[FunctionRun]:
        """Call ``reward_fn`` on every group."""
        Batch(self, self._entries(payloads)).run(lease)
        self._settle()
        return [run for run in self._done if isinstance(run, FunctionRun)]

    def _entries(self, payloads: Iterable[Payload]) -> Iterator[Entry]:
        for payload in payloads:
            yield Entry(pack_frame(arguments_of(payload)), self._seconds, len(payload.completions))

    # --- what a batch asks for and tells -----------------------------------------------------------------------------

    def gateway(self) -> Gateway:
        """A new way to the network for each child; its calls are counted group by group."""
        self._settle()
        self._gateway = Gateway(self._allow_hosts)
        self._gateway.begin_group(len(self._done))
        return self._gateway

    def ready(self, row: Mapping[str, Any]) -> None:
        """Take the findings of the source, which are those of every group."""
        self._findings = read_findings(row.get("findings"))

    def answered(self, entry: Entry, row: Mapping[str, Any], logs: str) -> None:
        """Take the result of one group."""
        result = row.get("result")
        report = WorkerReport(entry.size, result=result if isinstance(result, Mapping) else None, logs=logs)
        report.duration_ms = _milliseconds(report.result or {})
        self._add(report)

    def missing(self, entry: Entry, end: RunEnd, logs: str) -> None:
        """Say why a group has no rewards."""
        duration_ms = self._seconds * 1e3 if end.killed_for == "wall" else None
        self._add(WorkerReport(entry.size, phase="call", end=end, logs=logs, duration_ms=duration_ms))

    def broken(self, entry: Entry, row: Mapping[str, Any] | None, end: RunEnd, logs: str) -> None:
        """Give a group the reason for which there is no function to call."""
        report = WorkerReport(entry.size, phase="load", result=row, end=end, logs=logs)
        self._done.append(function_run(report, self.limits, self._isolation()))

    def child_over(self, row: Mapping[str, Any], zygote: ZygoteProcess) -> None:
        """Settle what waited for the network, and keep warm what the function imported."""
        self._settle()
        imported = row.get("imported")
        if isinstance(imported, list) and zygote.is_alive:
            zygote.keep_warm(imported)

    def _add(self, report: WorkerReport) -> None:
        report.findings = self._findings
        report.logs = self._within_room(report.logs)
        place = len(self._done)
        waits = self._gateway is not None and self._gateway.has_calls(place)
        self._done.append(report if waits else function_run(report, self._group_limits, self._isolation()))
        if self._gateway is not None:
            self._gateway.begin_group(place + 1)

    def _settle(self) -> None:
        """Make the results of the groups that waited; their child's gateway is closed by now."""
        for place in range(self._first_of_child, len(self._done)):
            report = self._done[place]
            if isinstance(report, WorkerReport):
                report.network_calls = self._calls_of(place)
                self._done[place] = function_run(report, self._group_limits, self._isolation())
        self._first_of_child = len(self._done)

    def _calls_of(self, place: int) -> tuple[NetworkCall, ...]:
        calls = self._gateway.calls_of(place) if self._gateway is not None else ()
        return tuple(map(self.redaction.call, calls))

    def _within_room(self, logs: str) -> str:
        self._log_room -= len(logs)
        return logs if self._log_room >= 0 or not logs else _LOGS_FULL


def _milliseconds(result: Mapping[str, Any]) -> float | None:
    """The child's own measurement, doubted like every word of it."""
    duration_ms = result.get("call_ms")
    if isinstance(duration_ms, (int, float)) and math.isfinite(duration_ms) and duration_ms >= 0:
        return float(duration_ms)
    return None

"""The executor: runs author code and our own risky code in confined, killable workers.

Invariant: nothing of the author's is parsed, compiled or run in this process.
"""

from __future__ import annotations

import atexit
import copy
import functools
import os
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast

from rewards_lib.contract import Finding, Isolation, Json, Payload, Score, Tier, sentence
from rewards_lib.data_directory import data_directory
from rewards_lib.errors import BusyError, DependencyError, InputError, RewardConsoleError
from rewards_lib.executor import places
from rewards_lib.executor.checking import check_once, check_request, unparsable
from rewards_lib.executor.environments import NO_PACKAGES, Environment, Environments
from rewards_lib.executor.gateway import Gateway
from rewards_lib.executor.groups import GroupsJob, arguments_of, run_side_by_side
from rewards_lib.executor.installing import InstallWatch
from rewards_lib.executor.items import ItemsJob
from rewards_lib.executor.limits import Limits
from rewards_lib.executor.pool import ZygotePool
from rewards_lib.executor.redaction import Redaction
from rewards_lib.executor.results import FunctionRun, FunctionSource, ItemRun
from rewards_lib.executor.run_channel import RunChannel
from rewards_lib.executor.run_queue import RunQueue
from rewards_lib.executor.standing import StandingWorkers, holds
from rewards_lib.executor.stopping import StopSwitch
from rewards_lib.executor.worker_report import WorkerReport, function_run, read_findings
from rewards_lib.executor.zygotes import WorkerPlan, WorkerUnavailableError

_CHECK_LIMITS = Limits(wall_seconds=10.0, memory_mb=1024)
_TEST_SWITCH = "REWARD_CONSOLE_TEST_EXECUTOR"
"""For tests of the layers one by one: ``tier=B``, ``policy=off``. What it takes away is told in every result."""
_executors: weakref.WeakSet[Executor] = weakref.WeakSet()


class Executor:
    """Owns the warm workers. Thread-safe; close it, or use it as a context manager."""

    def __init__(
        self, *, require: Tier | None = None, home: Path | None = None, queue: RunQueue | None = None,
        standing: int = 0, batch_children: int | None = None,
    ) -> None:  # fmt: skip
        """Start nothing yet.

        ``standing`` is the number of children that stay between the runs of our own code: a service asks for some, who
        scores now and then forks for each run. ``batch_children`` share the groups of one ``run_functions``: as many
        as there are processors when None.
        """
        switches = dict(part.partition("=")[::2] for part in os.environ.get(_TEST_SWITCH, "").split())
        self._guarded = switches.get("policy") != "off"
        self._pool = ZygotePool(require or _required_tier(), _forced_confinement(switches))
        self._environments = Environments(home or data_directory())
        self._queue = queue or RunQueue()
        self._batch_children = batch_children or os.cpu_count() or 1
        self._caller = ""
        self._stop = StopSwitch()
        self._standing = StandingWorkers(standing, lambda: self._pool.lease(builtin_plan())) if standing else None
        _executors.add(self)

    def on_behalf_of(self, caller: str) -> Executor:
        """This executor, its runs queued under a caller of their own (a session, a job): callers take turns."""
        same = copy.copy(self)
        same._caller = caller
        return same

    def stopped_by(self, switch: StopSwitch) -> Executor:
        """This executor, whose runs end when the switch is pressed: what was not scored says so."""
        same = copy.copy(self)
        same._stop = switch
        return same

    def ending(self, end: Callable[[], None]) -> AbstractContextManager[None]:
        """Call ``end`` when the switch of this executor is pressed while the block runs."""
        return self._stop.ending(end)

    # --- the policy ------------------------------------------------------------------------------------------------

    def check(self, source: str, requirements: str | None = None) -> tuple[Finding, ...]:
        """List everything the policy refuses in a source, and its hints, in the order of the lines.

        With ``requirements``, the text of a requirements.txt, also what will fail when it runs: a missing or misspelt
        ``reward_fn``, and imports that are not among the packages if those are installed. Never raises on any text;
        text that is not Python is a finding with the rule ``syntax``.
        """
        packages, advice = self._offered(requirements), requirements is not None
        request = check_request(source, packages, advice=advice)
        try:
            with (
                self._pool.lease(_plain_plan()) as zygote,
                RunChannel(zygote, "check", request, _CHECK_LIMITS) as channel,
            ):
                rows = [row for row in channel.lines() if "findings" in row]
        except (WorkerUnavailableError, DependencyError):
            return check_once(source, packages, advice=advice)
        return read_findings(rows[-1]["findings"]) if rows else (unparsable(),)

    def _offered(self, requirements: str | None) -> frozenset[str] | None:
        """The packages that requirements offer; None when that is not known before they are installed."""
        if requirements is None:
            return None
        try:
            environment = self._environments.find(requirements)
        except InputError:
            return None
        return environment.packages if environment is not None else None

    # --- custom functions ------------------------------------------------------------------------------------------

    def run_function(self, function: FunctionSource, payload: Payload, *, limits: Limits | None = None) -> FunctionRun:
        """Call ``reward_fn`` once over the completions of a payload.

        Faults of the author's code, of its requirements and of its limits are values of the result, and so is a
        queue that is full. Raises DependencyError when this machine cannot run any worker in the isolation that is
        required.
        """
        limits = limits or Limits()
        try:
            environment = self._prepare(function)
        except (InputError, DependencyError) as error:
            return self._failed(payload, error)
        try:
            with self._queue.turn(self._caller, self._stop):
                got = self._call_again(function, payload, limits, environment)
        except BusyError as error:
            return self._failed(payload, error)
        return function_run(got, limits, self.isolation())

    def _call_again(
        self, function: FunctionSource, payload: Payload, limits: Limits, environment: Environment
    ) -> WorkerReport:
        """Call, and call once more when the worker was lost before it answered."""
        start = time.monotonic()
        for _ in range(2):
            got = self._call(function, payload, limits, environment)
            if not (got.end.worker_gone and got.result is None):
                break
        got.duration_ms = (time.monotonic() - start) * 1e3
        return got

    def _call(
        self, function: FunctionSource, payload: Payload, limits: Limits, environment: Environment
    ) -> WorkerReport:
        message = _program(function, environment, guarded=self._guarded) | arguments_of(payload)
        got = WorkerReport(len(payload.completions))
        with self._pool.lease(_function_plan(environment)) as zygote:
            gateway, redaction = Gateway(function.allow_hosts), Redaction(function.environ.items())
            try:
                with (
                    RunChannel(zygote, "function", message, limits, gateway=gateway, redaction=redaction) as channel,
                    self._stop.ending(channel.stop),
                ):
                    for row in channel.lines():
                        got.phase = str(row.get("phase", got.phase))
                        got.result = row.get("result", got.result)
                got.end, got.logs = channel.end, channel.printed.take(limits.output_bytes)
            except WorkerUnavailableError:
                got.end.worker_gone = True
            got.network_calls = tuple(map(redaction.call, gateway.calls))
            imported = (got.result or {}).get("imported")
            if isinstance(imported, list) and imported and zygote.is_alive:
                _keep_warm(zygote, imported)
        return got

    def run_functions(
        self, function: FunctionSource, payloads: Sequence[Payload], *, limits: Limits | None = None,
        group_seconds: float | None = None,
    ) -> list[FunctionRun]:  # fmt: skip
        """Call ``reward_fn`` on the groups of many payloads, a few children sharing them; one run each, in order.

        ``group_seconds`` is the time limit of one group, the wall limit when None; the wall limit itself is for the
        top level. A group that hangs, crashes or runs out of memory costs its own completions alone. Each group gets a
        module, arguments and random numbers of its own, so that no result depends on where a batch is cut; what
        third-party packages keep to themselves may last.
        """
        limits = limits or Limits()
        try:
            environment = self._prepare(function)
        except (InputError, DependencyError) as error:
            return [self._failed(payload, error) for payload in payloads]
        job = functools.partial(
            GroupsJob, _program(function, environment, guarded=self._guarded), function, stop=self._stop, limits=limits,
            group_seconds=group_seconds or limits.wall_seconds, isolation=self.isolation,
        )  # fmt: skip
        try:
            with self._queue.turn(self._caller, self._stop):
                lease = functools.partial(self._pool.lease, _function_plan(environment))
                return run_side_by_side(job, payloads, lease, children=self._batch_children)
        except BusyError as error:
            return [self._failed(payload, error) for payload in payloads]

    def _prepare(self, function: FunctionSource) -> Environment:
        """Have at hand what a function needs; raises InputError or DependencyError when that cannot be."""
        for name in function.unset_secrets:
            raise InputError("The secret {name} has no value here: set it on the Functions page.", name=name)
        return self._environments.install(function.requirements)

    def _failed(self, payload: Payload, error: RewardConsoleError) -> FunctionRun:
        place = error.place
        words = sentence("{place}: {reason}", place=place, reason=error.message) if place else error.message
        scores = tuple(Score.failed(words) for _ in payload.completions)
        return FunctionRun(scores, "failure", self.isolation(), error=words)

    # --- our own code ----------------------------------------------------------------------------------------------

    def run_items(
        self, entry: str, items: Sequence[Json], *, item_seconds: Sequence[float] | float,
        limits: Limits | None = None, preload: Sequence[str] = (),
    ) -> list[ItemRun]:  # fmt: skip
        """Call ``package.module:function`` of ours on each item, in a confined child; one ``ItemRun`` each, in order.

        An item over its own seconds is killed and the run goes on with the next item; so it does after a crash.
        When the queue is full every item has a BusyError. Limits that standing workers do not have are kept by a child
        that is forked for the run. ``preload`` names modules to import once in the warm worker.
        """
        seconds = [float(item_seconds)] * len(items) if isinstance(item_seconds, (int, float)) else list(item_seconds)
        if len(seconds) != len(items):
            raise ValueError("item_seconds needs one entry for each item")
        plan = builtin_plan()
        limits = limits or Limits()
        job = ItemsJob(entry, limits=limits, preload=preload, stop=self._stop)
        try:
            with self._queue.turn(self._caller, self._stop):
                if self._standing is not None and holds(limits):
                    return self._standing.run(entry, items, seconds, preload, self._stop)
                return job.run(items, seconds, lambda: self._pool.lease(plan))
        except BusyError as error:
            return [ItemRun(None, error) for _ in items]

    # --- the rest --------------------------------------------------------------------------------------------------

    def isolation(self) -> Isolation:
        """How runs are confined on this machine, by a self-test made once. Raises DependencyError below ``require``."""
        isolation = self._pool.isolation(_plain_plan())
        if self._guarded:
            return isolation
        layers = tuple(layer for layer in isolation.layers if layer != "execution policy")
        lacks = (*isolation.lacks, sentence("The execution policy is switched off for a test."))
        return Isolation(isolation.tier, layers, lacks)

    def install(self, requirements: str, watch: InstallWatch | None = None) -> Environment:
        """Install a requirements.txt, or find it installed.

        ``watch`` hears what the installer says and may cancel it. Raises InputError for a line that is no plain
        requirement, DependencyError when installing fails or is cancelled.
        """
        return self._environments.install(requirements, watch)

    def close(self) -> None:
        """End every worker process."""
        if self._standing is not None:
            self._standing.close()
        self._pool.close()

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


@functools.cache
def builtin_plan() -> WorkerPlan:
    """The worker that runs our own code: it sees ``rewards_lib`` and the console's packages, read-only."""
    return WorkerPlan(
        "A", site=tuple(places.own_packages()), folders=(("rewards_lib", str(places.PROJECT_FOLDER)),), trusted=True
    )


def _function_plan(environment: Environment) -> WorkerPlan:
    return WorkerPlan("A", site=environment.site, folders=places.reward_tools())


def _plain_plan() -> WorkerPlan:
    return _function_plan(NO_PACKAGES)


def _keep_warm(zygote: Any, imported: list[Any]) -> None:
    try:
        zygote.keep_warm(imported)
    except WorkerUnavailableError:
        zygote.close()


def _program(function: FunctionSource, environment: Environment, *, guarded: bool) -> dict[str, Any]:
    return {
        "source": function.source, "packages": sorted(environment.packages), "environ": function.environ,
        "guarded": guarded,
    }  # fmt: skip


def _forced_confinement(switches: dict[str, str]) -> tuple[WorkerPlan, ...] | None:
    tier = switches.get("tier")
    if tier not in ("A", "B", "C"):
        return None
    return (WorkerPlan(cast("Tier", tier), own_namespace=switches.get("namespace") == "own", bare=tier == "C"),)


def _required_tier() -> Tier | None:
    required = os.environ.get("REWARD_CONSOLE_REQUIRE_ISOLATION", "").strip().upper()
    if required and required not in ("A", "B", "C"):
        raise InputError("REWARD_CONSOLE_REQUIRE_ISOLATION is {value}; it must be A, B or C.", value=required)
    return cast("Tier", required) if required else None


@atexit.register
def _close_all() -> None:
    for executor in list(_executors):
        executor.close()

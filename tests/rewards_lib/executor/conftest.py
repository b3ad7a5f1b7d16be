"""One warm executor for all tests of the executor, and one forced into each confinement."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from executor_inputs import HEADER, Server, payload_of
from worker_processes import note_bystanders

from rewards_lib.errors import DependencyError
from rewards_lib.executor import Executor, FunctionRun, FunctionSource, Limits

Run = Callable[..., FunctionRun]


@pytest.fixture(scope="session")
def executor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executor]:
    """An executor in the best tier of this machine."""
    with Executor(home=tmp_path_factory.mktemp("home")) as shared:
        yield shared


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Executor]:
    """An executor whose processes a test may count and end."""
    with Executor(home=tmp_path) as running:
        yield running


@pytest.fixture
def bystanders() -> None:
    """Tell the processes of other tests from those that the test starts."""
    note_bystanders()


@pytest.fixture
def run(executor: Executor) -> Run:
    """Run a source over two completions: ``run(source, "one", "two", limits=..., allow_hosts=...)``."""

    def call(source: str, *completions: Any, limits: Limits | None = None, **function: Any) -> FunctionRun:
        function_source = FunctionSource(HEADER + source, **function)
        payload = payload_of(*(completions or ("it is 4", "it is 5")))
        return executor.run_function(function_source, payload, limits=limits or Limits(wall_seconds=10))

    return call


@pytest.fixture(scope="session")
def make_confined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Executor]]:
    """Build executors forced into one confinement by the switch for tests; skips where the machine has it not."""
    made: dict[str, Executor] = {}

    def make(switch: str) -> Executor:
        if switch not in made:
            os.environ["REWARD_CONSOLE_TEST_EXECUTOR"] = switch
            try:
                confined = Executor(home=tmp_path_factory.mktemp("home"))
            finally:
                del os.environ["REWARD_CONSOLE_TEST_EXECUTOR"]
            try:
                confined.isolation()
            except DependencyError as error:
                confined.close()
                pytest.skip(f"{switch} is not available here: {error}")
            made[switch] = confined
        return made[switch]

    yield make
    for confined in made.values():
        confined.close()


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        yield running
        running.shutdown()

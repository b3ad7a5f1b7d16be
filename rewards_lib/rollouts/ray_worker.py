"""A worker that scores chunks as an actor of Ray: on this machine, or on those of a cluster that is already there.

Invariant: it scores with the same scorer as a local process, so that the output is the same. Ray is optional: it is
imported here alone, when somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.errors import DependencyError, ExecutionError
from rewards_lib.executor import Executor, Limits
from rewards_lib.mix import Mix
from rewards_lib.rollouts.chunk_scoring import ChunkResult
from rewards_lib.rollouts.rollout import Rollout
from rewards_lib.rollouts.worker_process import answer_chunk, make_scorer, read_answer, setup_of
from rewards_lib.scoring import ResolvedFunction

_PACKAGE = Path(__file__).resolve().parents[1]


class _Scorer:
    """What runs in the actor's process."""

    def __init__(self, setup: JsonObject) -> None:
        self._scorer = make_scorer(setup, Executor(batch_children=1, standing=1))

    def score(self, chunk: list[list[Any]]) -> JsonObject:
        """Score packed rollouts."""
        return answer_chunk(self._scorer, chunk)


@contextmanager
def ray_session(workers: int) -> Iterator[None]:
    """Join the cluster that ``RAY_ADDRESS`` or the present program names, else start one on this machine for the time.

    Raises DependencyError when Ray is not installed or the cluster cannot be reached.
    """
    try:
        import ray
    except ImportError:
        raise DependencyError(
            "Ray is not installed.", where="--engine", remedy="Install it beside the console: pip install ray."
        ) from None
    if ray.is_initialized():  # the trainer's own program: its cluster is not ours to end
        yield
        return
    try:
        _start(workers)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise DependencyError("Ray cannot be started: {reason}.", where="--engine", reason=str(error)) from None
    try:
        yield
    finally:
        ray.shutdown()


def _start(workers: int) -> None:
    import ray

    quiet: dict[str, Any] = {"configure_logging": False, "log_to_driver": False}
    try:
        ray.init(address="auto", **quiet)
    except ConnectionError:
        ray.init(num_cpus=workers, include_dashboard=False, **quiet)


class RayWorker:
    """The caller's end of one actor. Use as a context manager; one chunk at a time."""

    def __init__(
        self, mix: Mix, functions: Mapping[str, ResolvedFunction], limits: Limits | None, version: str
    ) -> None:
        import ray

        is_spread = len(ray.nodes()) > 1
        # Other machines get our package sent along; on this one it is found where it lies.
        environment = (
            {"py_modules": [str(_PACKAGE)]} if is_spread else {"env_vars": {"PYTHONPATH": str(_PACKAGE.parent)}}
        )
        actor = ray.remote(_Scorer).options(num_cpus=1, runtime_env=environment)
        self._actor: Any = actor.remote(setup_of(mix, functions, limits, version))

    def score(self, rollouts: Sequence[Rollout]) -> ChunkResult:
        """Score a chunk. Raises DependencyError or ExecutionError when the actor cannot, or is gone."""
        import ray

        try:
            return read_answer(ray.get(self._actor.score.remote([rollout.pack() for rollout in rollouts])))
        except ray.exceptions.RayError as error:
            raise ExecutionError(
                "A worker of Ray failed: {reason}.",
                reason=str(error).strip().splitlines()[-1],
                remedy="Go on with --resume.",
            ) from None

    def __enter__(self) -> RayWorker:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _frames: TracebackType | None
    ) -> None:
        """End the actor."""
        import ray

        ray.kill(self._actor)

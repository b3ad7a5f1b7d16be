"""Presets that ask a service over the network: they run in this process, in threads, because workers have no network.

Invariant: there is one score for each completion, in order, within the preset's time limit; a completion whose service
did not answer in time is failed, never 0.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from rewards_lib.contract import Completion, JsonObject, Sample, Score, sentence
from rewards_lib.errors import RewardConsoleError, boundary
from rewards_lib.presets.checking import check_params
from rewards_lib.presets.registry import find_preset

Ending = Callable[[Callable[[], None]], AbstractContextManager[None]]
"""Calls what it is given when the work is no longer wanted, while its block runs."""
_LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class TimedScore:
    """A score and how long it took."""

    score: Score
    duration_ms: float


def score_on_host(
    name: str,
    params: JsonObject,
    pairs: Sequence[tuple[Sample, Completion]],
    *,
    seconds: float | None = None,
    ending: Ending | None = None,
) -> list[TimedScore]:
    """Score each completion of its sample under the preset ``name``, as many at once as its ``concurrency`` says.

    ``seconds`` for all of them together; by default what they may take, that many at once. What ``ending`` is given
    ends the waiting when somebody stops the run. Raises ``InputError`` for unknown presets and refused parameters.
    """
    preset, complete = find_preset(name), check_params(name, params)
    width = max(1, min(len(pairs), complete["concurrency"]))
    if seconds is None:
        seconds = preset.seconds(complete) * math.ceil(len(pairs) / width)

    def score(sample: Sample, completion: Completion) -> TimedScore:
        started = time.perf_counter()
        faults: list[RewardConsoleError] = []
        scores: list[Score] = []
        with boundary(faults.append):  # what ends one completion must not end the others
            scores += preset.score_all(complete, sample, [completion])
        one = scores[0] if scores else Score.failed(faults[0].message)
        return TimedScore(one, (time.perf_counter() - started) * 1000)

    threads = ThreadPoolExecutor(width, thread_name_prefix=name)
    futures = [threads.submit(score, sample, completion) for sample, completion in pairs]
    stopped, begun = threading.Event(), time.monotonic()
    with ending(stopped.set) if ending else nullcontext():
        left = set(futures)
        while left and not stopped.is_set() and (rest := begun + seconds - time.monotonic()) > 0:
            left = wait(left, timeout=min(rest, _LOOK_SECONDS)).not_done
    threads.shutdown(wait=False, cancel_futures=True)
    why = (
        sentence("The run was stopped.") if stopped.is_set()
        else sentence("The time limit of {seconds:g} s was reached.", seconds=seconds)
    )  # fmt: skip
    without = TimedScore(Score.failed(why), (time.monotonic() - begun) * 1000)
    return [future.result() if future.done() and not future.cancelled() else without for future in futures]

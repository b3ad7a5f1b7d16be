"""Presets that ask a service over the network: they run in this process, in threads, because workers have no network.

Invariant: there is one score for each completion, in order, within the preset's time limit; a completion whose service
did not answer in time is failed, never 0.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from rewards_lib.contract import Completion, JsonObject, Sample, Score, sentence
from rewards_lib.errors import RewardConsoleError, boundary
from rewards_lib.presets.checking import check_params
from rewards_lib.presets.registry import find_preset


@dataclass(frozen=True, slots=True)
class TimedScore:
    """A score and how long it took."""

    score: Score
    duration_ms: float


def score_on_host(
    name: str, params: JsonObject, pairs: Sequence[tuple[Sample, Completion]], *, seconds: float | None = None
) -> list[TimedScore]:
    """Score each completion of its sample under the preset ``name``, as many at once as its ``concurrency`` says.

    ``seconds`` for all of them together; by default what they may take, that many at once. Raises ``InputError`` for
    unknown presets and refused parameters.
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
    wait(futures, timeout=seconds)
    threads.shutdown(wait=False, cancel_futures=True)
    return [_outcome(future, seconds) for future in futures]


def _outcome(future: Future[TimedScore], seconds: float) -> TimedScore:
    if future.done() and not future.cancelled():
        return future.result()
    late = Score.failed(sentence("The time limit of {seconds:g} s was reached.", seconds=seconds))
    return TimedScore(late, seconds * 1000)

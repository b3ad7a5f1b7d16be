"""Answers that keep computer algebra busy cost their own limit, from any thread, and the next answer nothing."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from time import process_time

import pytest

from rewards_lib.executor import Executor
from rewards_lib.mathematics.text import normalise
from rewards_lib.presets.worker import PRELOAD

LIMIT_SECONDS = 0.5
INTEGRAL = "\\int_0^1 x^x e^{x^2} \\sin(\\cos x) dx"
ANSWERS = ("10^{10^{10}}", INTEGRAL, "1", "\\frac{1}{2004!}", "1.0")


@pytest.fixture(scope="module")
def executor():
    with Executor() as running:
        score(running, "1")
        yield running


def score(executor, *answers):
    sample = {"messages": [], "extra": {"answer": "1"}}
    items = [
        {"preset": "math_accuracy", "params": {}, "sample": sample, "completion": f"\\boxed{{{answer}}}"}
        for answer in answers
    ]
    entry = "rewards_lib.presets.worker:score_item"
    runs = executor.run_items(entry, items, item_seconds=LIMIT_SECONDS, preload=PRELOAD)
    assert all(run.duration_ms <= (LIMIT_SECONDS + 0.5) * 1e3 for run in runs)
    return [None if run.value is None else run.value["value"] for run in runs]


def test_from_the_main_thread(executor):
    assert score(executor, *ANSWERS) == [0.0, None, 1.0, 0.0, 1.0]


def test_from_several_threads_at_once(executor):
    with ThreadPoolExecutor(4) as threads:
        for rewards in threads.map(lambda _: score(executor, *ANSWERS), range(4)):
            assert rewards == [0.0, None, 1.0, 0.0, 1.0]


@pytest.mark.parametrize("piece", ["7", "7.", "(", "{", "\\text{", "1 ", "1,", "x", "\\frac", ".", "="])
def test_normalising_takes_time_linear_in_the_text(piece):
    """A pattern that starts anew at each digit took a second for 10,000 of them."""
    took = []
    for count in (2_000, 16_000):
        started = process_time()
        normalise(piece * count)
        took.append(process_time() - started)
    assert all(later < 40 * max(earlier, 0.002) for earlier, later in pairwise(took))

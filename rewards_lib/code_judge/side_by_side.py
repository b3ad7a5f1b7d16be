"""Doing numbered pieces of work in order, some of them at once.

Invariant: pieces start in the order of their numbers; an error of one stops the others and is raised.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_T = TypeVar("_T")


def do_side_by_side(work: Callable[[int], _T], count: int, at_once: int, *, stop: Callable[[_T], bool]) -> list[_T]:
    """Do the pieces 0 to ``count`` - 1 until the result of one says stop; the results there are, in order."""
    results: dict[int, _T] = {}
    numbers = iter(range(count))
    lock = threading.Lock()
    stopped = threading.Event()

    def take() -> None:
        while not stopped.is_set():
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            go_on = False
            try:
                results[number] = work(number)
                go_on = not stop(results[number])
            finally:
                if not go_on:
                    stopped.set()

    threads = min(at_once, count)
    if threads == 1:
        take()
    else:
        with ThreadPoolExecutor(threads, thread_name_prefix="code judge") as pool:
            for done in [pool.submit(take) for _ in range(threads)]:
                done.result()
    return [results[number] for number in sorted(results)]

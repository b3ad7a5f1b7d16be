"""The thread that starts every worker: chores come by the clock, and no chore ends it."""

from __future__ import annotations

import threading
import time

import pytest

from rewards_lib.executor import zygotes


class Tidy:
    """A chore that always fails."""

    def __init__(self) -> None:
        self.calls = 0
        self.came = threading.Event()

    def fail(self) -> None:
        self.calls += 1
        if self.calls > 1:
            self.came.set()
        raise OSError("the disk is gone")


def test_chores_come_beside_steady_work_and_one_that_fails_ends_nothing(monkeypatch):
    monkeypatch.setattr(zygotes, "_CHORE_SECONDS", 0.05)
    starter, tidy = zygotes._Starter(), Tidy()
    starter.repeat(tidy.fail)
    deadline = time.monotonic() + 20
    while not tidy.came.is_set() and time.monotonic() < deadline:  # never idle as long as the chores' turn
        assert starter.call(lambda: 7) == 7
    assert tidy.calls >= 2
    assert starter.call(lambda: 8) == 8


def test_a_starter_that_got_no_thread_tries_again_at_the_next_call(monkeypatch):
    starter = zygotes._Starter()
    with monkeypatch.context() as broken:
        broken.setattr(zygotes.threading.Thread, "start", _no_thread)
        with pytest.raises(RuntimeError, match="no thread"):
            starter.call(lambda: 7)
    assert starter.call(lambda: 7) == 7


def _no_thread(_thread: object) -> None:
    raise RuntimeError("no thread to spare")

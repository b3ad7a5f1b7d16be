"""The worker processes below a test, as /proc shows them."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

BYSTANDERS: set[int] = set()
"""Direct children of this process that a test found there."""


def children(parent: int | None = None) -> set[int]:
    """Every process below one, at any depth; below this process without the bystanders."""
    parents = _children_by_parent()
    found: set[int] = set()
    waiting = [parent] if parent else list(set(parents.get(os.getpid(), [])) - BYSTANDERS)
    found.update(() if parent else waiting)
    while waiting:
        below = parents.get(waiting.pop(), [])
        found.update(below)
        waiting += below
    return found


def forked() -> set[int]:
    """The children of the zygotes below this process: runs, and the spare child of each zygote."""
    above = _children_by_parent()
    return {process for process in children() if not above.get(process)}


def zygotes() -> set[int]:
    """The zygotes below this process, which have a spare child by now, and what starts them."""
    assert wait_until(lambda: any(process not in forked() for process in children()))
    return children() - forked()


def at_work() -> set[int]:
    """The forked children that have spent so much of the processor that they can only be in the author's function."""
    ticks = 0.5 * os.sysconf("SC_CLK_TCK")
    return {process for process in forked() if _spent_ticks(process) > ticks}


def _spent_ticks(process: int) -> int:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def _children_by_parent() -> dict[int, list[int]]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, above = entry.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            parents.setdefault(int(above), []).append(int(entry.parent.name))
    return parents


def note_bystanders() -> None:
    """What other tests keep below this process, a browser and a console among them, must survive this one."""
    BYSTANDERS.clear()
    BYSTANDERS.update(_children_by_parent().get(os.getpid(), []))


def wait_until(condition, seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        threading.Event().wait(0.02)
    return True

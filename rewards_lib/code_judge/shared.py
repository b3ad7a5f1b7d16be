"""The one judge of this process, for everything in it that judges: presets, pages.

Invariant: a forked process gets a judge of its own; workers belong to the process that started them.
"""

from __future__ import annotations

import os
import threading

from rewards_lib.code_judge.judge import CodeJudge

_lock = threading.Lock()
_judge: CodeJudge | None = None
_pid = 0


def shared_judge() -> CodeJudge:
    """The judge of this process; started at the first call, ended with the process."""
    global _judge, _pid
    with _lock:
        if _judge is None or _pid != os.getpid():
            _judge, _pid = CodeJudge(), os.getpid()
        return _judge

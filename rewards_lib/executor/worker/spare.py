"""A child that is forked before there is a run for it: the fork of a large process is the dearest part of a short run.

Invariant: a spare holds nothing of the zygote's but its memory; it reads one request, works, and is gone.
"""

from __future__ import annotations

import array
import contextlib
import os
import resource
import signal
import socket
from collections.abc import Callable, Sequence

BIGGEST_PACKET = 1 << 17
"""Bytes of one message to a zygote, or from it."""
_MOST_FDS = 7
_MOST_OPEN = 1 << 20
"""Where the limit on descriptors is higher, or is none, no number above this is in use."""


class SpareChild:
    """One forked child that waits, as its zygote holds it. Raises OSError when there can be no further process."""

    def __init__(self, kind: int, get_ready: Callable[[], None], work: Callable[[bytes, list[int]], None]) -> None:
        self._socket, far = socket.socketpair(socket.AF_UNIX, kind)
        parent = os.getpid()
        with far:
            try:
                self.pid = os.fork()
            except OSError:
                self._socket.close()
                raise
            if self.pid == 0:
                _live(far, parent, get_ready, work)

    def give(self, request: bytes, descriptors: Sequence[int]) -> bool:
        """Hand a run over; False when the child is gone and has not seen it."""
        with self._socket:
            try:
                socket.send_fds(self._socket, [request], descriptors)
            except OSError:
                return False
        return True

    def forget(self) -> None:
        """Let go of a child that has ended: its number may be another process's by now."""
        self._socket.close()

    def dismiss(self) -> None:
        """End the child, which has no run."""
        self.forget()
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)


def _live(
    far: socket.socket, parent: int, get_ready: Callable[[], None], work: Callable[[bytes, list[int]], None]
) -> None:
    """The child's life from its first moment on; does not return."""
    try:
        os.closerange(3, far.fileno())
        close_from(far.fileno() + 1)
        get_ready()
        if os.getppid() != parent:  # it died before it was agreed that this process dies with it
            return
        request, descriptors = receive(far)
        if request:
            work(request, descriptors)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(70)


def close_from(lowest: int) -> None:
    """Close every descriptor from this number on."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    os.closerange(lowest, min(soft, _MOST_OPEN) if soft > 0 else _MOST_OPEN)


def receive(control: socket.socket) -> tuple[bytes, list[int]]:
    """Read one packet and the descriptors that came with it; an empty one means that the other end is closed."""
    space = socket.CMSG_SPACE(_MOST_FDS * array.array("i").itemsize)
    message, ancillary, _, _ = control.recvmsg(BIGGEST_PACKET, space)
    found = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            found.frombytes(data[: len(data) - len(data) % found.itemsize])
    return message, list(found)

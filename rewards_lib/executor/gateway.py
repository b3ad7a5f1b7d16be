"""The only way from a run to a network: CONNECT through the host, by an allow-list, with the address checked.

Invariant: a name is resolved once, every address it has is judged, and the connection goes to a judged address. A
redirect is a new connection and is judged again.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
import time

from rewards_lib.contract import CallOutcome, NetworkCall, Sentence, sentence
from rewards_lib.executor.allow_list import AllowList, HostNotReachedError, Refusal, connect, spell

_PACKETS = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_DGRAM
_BIGGEST_HEAD = 1024
_CONNECT_SECONDS = 15.0
_IDLE_SECONDS = 300.0
_CLOSE_SECONDS = 1.0
_MOST_CALLS = 2_000
_MOST_OPEN = 256
_MOST_BYTES = 64 << 20


class _RefusedError(Exception):
    def __init__(self, outcome: CallOutcome, why: Sentence) -> None:
        self.outcome, self.why = outcome, why
        super().__init__(str(why))


class Gateway:
    """The host's end of one run's network: its allow-list, its caps and its log."""

    def __init__(self, allow_hosts: tuple[str, ...]) -> None:
        self.control, self.worker_end = socket.socketpair(socket.AF_UNIX, _PACKETS)
        self.control.setblocking(False)
        self._allow = AllowList(allow_hosts)
        self._calls: list[tuple[int, NetworkCall]] = []
        self._group = 0
        self._groups_with_calls: set[int] = set()
        self._open: set[socket.socket] = set()
        self._count = 0
        self._bytes = 0
        self._closed = False
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    @property
    def calls(self) -> tuple[NetworkCall, ...]:
        """The connections that were asked for, in the order in which they ended."""
        with self._lock:
            return tuple(call for _, call in self._calls)

    def calls_of(self, group: int) -> tuple[NetworkCall, ...]:
        """Those of one group of a batch."""
        with self._lock:
            return tuple(call for made_in, call in self._calls if made_in == group)

    def has_calls(self, group: int) -> bool:
        """Whether a group asked for a connection, which may not have ended yet."""
        return group in self._groups_with_calls

    def begin_group(self, group: int) -> None:
        """Count what comes for another group, and its caps anew."""
        with self._lock:
            self._group = group
            self._count = self._bytes = 0
            self._threads = [thread for thread in self._threads if thread.is_alive()]

    def take_call(self) -> bool:
        """Accept one connection from the worker; False when the worker's end is closed."""
        try:
            message, descriptors, _, _ = socket.recv_fds(self.control, 64, 4)
        except BlockingIOError:
            return True
        except OSError:
            return False
        for number in descriptors:
            near = socket.socket(fileno=number)
            with self._lock:
                self._count += 1
                group = self._group
                busy = self._count > _MOST_CALLS or len(self._open) >= _MOST_OPEN or self._closed
            if busy:
                near.close()
                continue
            self._groups_with_calls.add(group)
            self._hold(near)
            thread = threading.Thread(target=self._serve, args=(near, group), name="gateway", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # this process has no thread to spare: the call fails, the run goes on
                self._release(near)
                continue
            self._threads.append(thread)
        return bool(message)

    def close(self) -> None:
        """Cut every connection; afterwards ``calls`` is complete."""
        with self._lock:
            self._closed = True
            held = list(self._open)
        for connection in held:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.control.close()
        self.worker_end.close()
        deadline = time.monotonic() + _CLOSE_SECONDS
        for thread in self._threads:
            thread.join(max(deadline - time.monotonic(), 0.0))

    # --- one connection --------------------------------------------------------------------------------------------

    def _serve(self, near: socket.socket, group: int) -> None:
        start, host, port, counts = time.monotonic(), "", 0, [0, 0]
        outcome: CallOutcome = "open"
        why: Sentence | None = None
        far: socket.socket | None = None
        answer = b""
        try:
            near.settimeout(_CONNECT_SECONDS)
            host, port = _read_target(near)
            far = self._connect(host, port)
            near.sendall(b"open\n")
            self._pump(near, far, counts)
        except _RefusedError as refusal:
            outcome, why = refusal.outcome, refusal.why
            answer = f"{why}\n".encode()
        except OSError as error:
            outcome, why = "failed", sentence("the connection broke: {reason}", reason=str(error))
        call = NetworkCall(host, port, outcome, why, counts[0], counts[1], (time.monotonic() - start) * 1e3)
        with self._lock:
            self._calls.append((group, call))  # before the worker hears of it: its run may end at once
        with contextlib.suppress(OSError):
            near.sendall(answer)
        for connection in (near, far):
            if connection is not None:
                self._release(connection)

    def _connect(self, host: str, port: int) -> socket.socket:
        try:
            far = connect(self._allow.addresses_of(host, port), port, seconds=_CONNECT_SECONDS)
        except HostNotReachedError as error:
            raise _RefusedError(error.refusal, _refusal(error.refusal, host, port)) from None
        except OSError as error:
            template = "could not connect to {address}: {reason}"
            raise _RefusedError("failed", sentence(template, address=spell(host, port), reason=str(error))) from None
        self._hold(far)
        return far

    def _pump(self, near: socket.socket, far: socket.socket, counts: list[int]) -> None:
        """Carry bytes both ways until both ends are done."""
        near.settimeout(_IDLE_SECONDS)
        far.settimeout(_IDLE_SECONDS)
        upward = threading.Thread(target=self._carry, args=(near, far, counts, 0), name="gateway", daemon=True)
        upward.start()
        self._carry(far, near, counts, 1)
        upward.join()

    def _carry(self, source: socket.socket, target: socket.socket, counts: list[int], index: int) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                counts[index] += len(data)
                with self._lock:
                    self._bytes += len(data)
                    full = self._bytes > _MOST_BYTES
                if full:
                    break
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def _hold(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.add(connection)

    def _release(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.discard(connection)
        connection.close()


def _read_target(near: socket.socket) -> tuple[str, int]:
    head = b""
    while not head.endswith(b"\n") and len(head) < _BIGGEST_HEAD:
        piece = near.recv(1)
        if not piece:
            raise _RefusedError("failed", sentence("the worker sent no request"))
        head += piece
    parts = head.decode("ascii", "replace").split()
    if len(parts) != 3 or parts[0] != "CONNECT" or not parts[2].isdigit() or int(parts[2]) > 65_535:
        raise _RefusedError("failed", sentence("the worker sent no valid request"))
    return parts[1].lower().strip("[]").rstrip("."), int(parts[2])


def _refusal(refusal: Refusal, host: str, port: int) -> Sentence:
    """Why a call may not be made, as the log of calls and the author's code hear it."""
    address = spell(host, port)
    if refusal == "not_allowed":
        return sentence("{address} is not an allowed host of this function", address=address)
    if refusal == "unresolved":
        return sentence("the name {host} cannot be resolved", host=host)
    return sentence("{host} leads to a private address; allow it as {address}", host=host, address=address)

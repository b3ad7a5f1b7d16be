"""The only way from a run to a network: CONNECT through the host, by an allow-list, with the address checked.

Invariant: a name is resolved once, every address it has is judged, and the connection goes to a judged address. A
redirect is a new connection and is judged again.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import sys
import threading
import time

from rewards_lib.contract import CallOutcome, NetworkCall, Sentence, sentence

_PACKETS = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_DGRAM
_WEB_PORTS = (80, 443)
_BIGGEST_HEAD = 1024
_CONNECT_SECONDS = 15.0
_IDLE_SECONDS = 300.0
_CLOSE_SECONDS = 1.0
_MOST_CALLS = 2_000
_MOST_OPEN = 256
_MOST_BYTES = 64 << 20
_NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))


class _RefusedError(Exception):
    def __init__(self, outcome: CallOutcome, why: Sentence) -> None:
        self.outcome, self.why = outcome, why
        super().__init__(str(why))


class Gateway:
    """The host's end of one run's network: its allow-list, its caps and its log."""

    def __init__(self, allow_hosts: tuple[str, ...]) -> None:
        self.control, self.worker_end = socket.socketpair(socket.AF_UNIX, _PACKETS)
        self.control.setblocking(False)
        self._allow = frozenset(host.strip().lower() for host in allow_hosts if host.strip())
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
        addresses = self._judge(host, port)
        error: OSError | None = None
        for address in addresses:
            try:
                far = socket.create_connection((address, port), timeout=_CONNECT_SECONDS)
            except OSError as failure:
                error = failure
                continue
            self._hold(far)
            return far
        why = sentence("could not connect to {address}: {reason}", address=_spell(host, port), reason=str(error))
        raise _RefusedError("failed", why)

    def _judge(self, host: str, port: int) -> list[str]:
        """List the addresses that a call may go to, or refuse it."""
        exact = _spell(host, port) in self._allow
        if not exact and not (port in _WEB_PORTS and self._allows_web(host)):
            why = sentence("{address} is not an allowed host of this function", address=_spell(host, port))
            raise _RefusedError("not_allowed", why)
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise _RefusedError("unresolved", sentence("the name {host} cannot be resolved", host=host)) from None
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if not exact and not all(is_public(address) for address in addresses):
            template = "{host} leads to a private address; allow it as {address}"
            why = sentence(template, host=host, address=_spell(host, port))
            raise _RefusedError("private", why)
        return addresses

    def _allows_web(self, host: str) -> bool:
        return host in self._allow or any(entry[:2] == "*." and host.endswith(entry[1:]) for entry in self._allow)

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


def _spell(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_public(address: str) -> bool:
    """Tell whether an address is on the public internet; addresses that wrap another are judged by it.

    Refused: private, loopback, link-local, shared (CGNAT), multicast, documentation, reserved, NAT64.
    """
    try:
        parsed = ipaddress.ip_address(address.split("%", maxsplit=1)[0])
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return is_public(str(parsed.ipv4_mapped))
        if parsed.sixtofour is not None or parsed.teredo is not None or any(parsed in net for net in _NAT64):
            return False
    return parsed.is_global and not parsed.is_multicast

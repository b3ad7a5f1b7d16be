"""Networking inside: every client connection becomes CONNECT host:port on a socket that the gateway holds.

``socket()`` and ``connect()`` are refused by the kernel for every family; what is left is ``socketpair()`` and one
inherited end to the gateway of this run. Invariant: names are resolved by the gateway, never here.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from types import ModuleType
from typing import Any

GATEWAY_FD = 4
"""Inherited packet socket; the gateway holds the other end."""

_UNSET = object()
_BIGGEST_HEAD = 4096
_ASYNC_SECONDS = 30.0
_TLS_OPTIONS = frozenset(["ssl", "server_hostname", "ssl_handshake_timeout", "ssl_shutdown_timeout"])


class NetworkRefused(OSError):  # noqa: N818  # authors read this name in their tracebacks
    """The gateway does not let this connection through."""

    __module__ = "builtins"


def dial(address: Sequence[Any], timeout: Any = _UNSET) -> socket.socket:
    """Return a connected socket to (host, port), or raise ``NetworkRefused``."""
    host, port = _target(address)
    near, far = socket.socketpair()
    try:
        if timeout is not _UNSET:
            near.settimeout(timeout)
        with far:
            _hand_over(far)
        near.sendall(f"CONNECT {host} {port}\n".encode())
        answer = _read_line(near)
        if answer != "open":
            raise NetworkRefused(answer or "the network is off for this run")
        connected = _Connected(near.family, near.type, near.proto, fileno=near.detach())
    except BaseException:
        near.close()
        raise
    if timeout is not _UNSET:
        connected.settimeout(timeout)  # a detached descriptor forgets its time-out
    return connected


def _target(address: Sequence[Any]) -> tuple[str, int]:
    host, port = address[0], address[1]
    if isinstance(host, (bytes, bytearray)):
        host = bytes(host).decode("ascii")
    if not host.isascii():
        host = host.encode("idna").decode("ascii")
    if not host or any(character <= " " or character == "\x7f" for character in host):
        raise NetworkRefused(f"{host!r} is not a host name")
    return host, int(port)


def _hand_over(far: socket.socket) -> None:
    try:
        control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, fileno=GATEWAY_FD)
    except OSError:
        raise NetworkRefused("the network is off for this run") from None
    try:
        socket.send_fds(control, [b"dial"], [far.fileno()])
    except OSError:
        raise NetworkRefused("the network is off for this run") from None
    finally:
        control.detach()


def _read_line(near: socket.socket) -> str:
    line = b""
    while not line.endswith(b"\n") and len(line) < _BIGGEST_HEAD:
        piece = near.recv(1)
        if not piece:
            raise NetworkRefused("the network gateway closed the connection")
        line += piece
    return line.decode("utf-8", "replace").strip()


class _Connected(socket.socket):
    """A unix stream that takes the options of TCP as if it were one."""

    def setsockopt(self, level: int, *arguments: Any) -> None:
        """Ignore TCP options: the gateway's own connection has sensible ones."""
        if level != socket.IPPROTO_TCP:
            super().setsockopt(level, *arguments)


def _create_connection(address: Sequence[Any], timeout: Any = _UNSET, *_ignored: Any, **_options: Any) -> socket.socket:
    if timeout is socket._GLOBAL_DEFAULT_TIMEOUT:  # type: ignore[attr-defined]  # http.client passes it on
        timeout = _UNSET
    return dial(address, timeout)


# --- changes to client libraries -----------------------------------------------------------------------------------


def patch_asyncio(module: ModuleType) -> None:
    """Hand event loops sockets that are already connected."""
    loop_class: Any = module.BaseEventLoop
    original = loop_class.create_connection

    async def create_connection(self: Any, factory: Any, host: Any = None, port: Any = None, **options: Any) -> Any:
        if options.get("sock") is None:
            options = {key: value for key, value in options.items() if key in _TLS_OPTIONS}
            options["sock"] = await _dial_in_thread(self, (host, port))
            if options.get("ssl") and options.get("server_hostname") is None:
                options["server_hostname"] = host
        return await original(self, factory, **options)

    async def getaddrinfo(_self: Any, host: Any, port: Any, **_options: Any) -> Any:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port))]

    loop_class.create_connection = create_connection
    loop_class.getaddrinfo = getaddrinfo


async def _dial_in_thread(loop: Any, address: Sequence[Any]) -> socket.socket:
    connected: socket.socket = await loop.run_in_executor(None, dial, address, _ASYNC_SECONDS)
    connected.setblocking(False)
    return connected


def patch_urllib3(module: ModuleType) -> None:
    """Route urllib3, and with it requests."""
    module.create_connection = _create_connection  # type: ignore[attr-defined]


def patch_aiohappyeyeballs(module: ModuleType) -> None:
    """Route aiohttp."""

    async def start_connection(addr_infos: Sequence[Any], **options: Any) -> socket.socket:
        import asyncio

        return await _dial_in_thread(options.get("loop") or asyncio.get_running_loop(), addr_infos[0][4])

    module.start_connection = start_connection  # type: ignore[attr-defined]


def patch_socket() -> None:
    """Route ``socket.create_connection``, which http.client and most others use."""
    socket.create_connection = _create_connection

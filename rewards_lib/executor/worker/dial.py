"""Networking inside: every client connection becomes CONNECT host:port on a socket that the gateway holds.

``socket()`` and ``connect()`` are refused by the kernel for every family; what is left is ``socketpair()`` and one
inherited end to the gateway of this run. Invariant: names are resolved by the gateway, never here.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import socket
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

GATEWAY_FD = 4
"""Inherited packet socket; the gateway holds the other end."""

_UNSET = object()
_BIGGEST_HEAD = 4096
_ASYNC_SECONDS = 30.0


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


# --- installation --------------------------------------------------------------------------------------------------


def _patch_asyncio(module: ModuleType) -> None:
    """Hand event loops sockets that are already connected."""
    loop_class: Any = module.BaseEventLoop
    original = loop_class.create_connection

    async def create_connection(self: Any, factory: Any, host: Any = None, port: Any = None, **options: Any) -> Any:
        if options.get("sock") is None:
            options = {
                key: value for key, value in options.items() if key in ("ssl", "server_hostname") or "ssl_" in key
            }
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


def _patch_urllib3(module: ModuleType) -> None:
    module.create_connection = _create_connection  # type: ignore[attr-defined]


def _patch_aiohappyeyeballs(module: ModuleType) -> None:
    async def start_connection(addr_infos: Sequence[Any], **options: Any) -> socket.socket:
        import asyncio

        return await _dial_in_thread(options.get("loop") or asyncio.get_running_loop(), addr_infos[0][4])

    module.start_connection = start_connection  # type: ignore[attr-defined]


_PATCHES: dict[str, Callable[[ModuleType], None]] = {
    "asyncio.base_events": _patch_asyncio,
    "urllib3.util.connection": _patch_urllib3,
    "aiohappyeyeballs": _patch_aiohappyeyeballs,
}


class _PatchingFinder(importlib.abc.MetaPathFinder):
    """Patches a module right after its import, whoever imports it first."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Find the real module and wrap its loader."""
        if fullname not in _PATCHES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_patch(module: ModuleType) -> None:
                load(module)
                _PATCHES[fullname](module)

            spec.loader.exec_module = load_and_patch  # type: ignore[method-assign]
        return spec


def install() -> None:
    """Route client connections through the gateway, in modules loaded now or later."""
    socket.create_connection = _create_connection
    for name, patch in _PATCHES.items():
        if name in sys.modules:
            patch(sys.modules[name])
    sys.meta_path.insert(0, _PatchingFinder())

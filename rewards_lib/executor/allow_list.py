"""Which hosts may be reached: the one judge of allow-lists, for the gateway of a run and for the tests of the judge.

Invariant: a name is resolved once, every address it has is judged, and a connection goes to a judged address.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

Refusal: TypeAlias = Literal["not_allowed", "unresolved", "private"]
WEB_PORTS = (80, 443)
_NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))


class HostNotReachedError(Exception):
    """A host that may not be reached, or has no address. Whoever asked says so in words of their own."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal)


class AllowList:
    """Hosts by name: ``host`` and ``*.suffix`` allow ports 80 and 443 on the public internet, ``host:port`` exactly
    that, private addresses included. Immutable.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self._entries = frozenset(entry.strip().lower() for entry in entries if entry.strip())

    def with_more(self, entries: Iterable[str]) -> AllowList:
        """The list with further entries."""
        return AllowList((*self._entries, *entries))

    def addresses_of(self, host: str, port: int) -> list[str]:
        """The addresses that may be connected to, in the system's order. Raises HostNotReachedError."""
        is_exact = spell(host, port) in self._entries
        if not is_exact and not (port in WEB_PORTS and self._allows_web(host)):
            raise HostNotReachedError("not_allowed")
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, ValueError):  # ValueError: no name at all, by its letters or its length
            raise HostNotReachedError("unresolved") from None
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if not is_exact and not all(map(is_public, addresses)):
            raise HostNotReachedError("private")
        return addresses

    def _allows_web(self, host: str) -> bool:
        return host in self._entries or any(entry[:2] == "*." and host.endswith(entry[1:]) for entry in self._entries)


def connect(addresses: Sequence[str], port: int, *, seconds: float) -> socket.socket:
    """A connection to the first of the judged addresses that answers. Raises the OSError of the last."""
    failure = OSError("it has no address")
    for address in addresses:
        try:
            return socket.create_connection((address, port), timeout=seconds)
        except OSError as error:
            failure = error
    raise failure


def spell(host: str, port: int) -> str:
    """A host and its port as an entry names them: ``[::1]:80`` for an address of version 6."""
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

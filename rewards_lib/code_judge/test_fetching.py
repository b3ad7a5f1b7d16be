"""Tests by address: fetched from allowed hosts, checked, and kept, so that a group of rollouts fetches them once.

Invariant: a name is resolved once, its addresses are judged, and the connection goes to a judged address; a redirect is
judged again. What cannot be fetched is an error of its own kind and never an empty list of tests.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import ssl
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from rewards_lib.code_judge.test_lists import read_tests
from rewards_lib.code_judge.verdicts import TestCase
from rewards_lib.errors import InputError, RewardConsoleError, UpstreamError
from rewards_lib.executor.allow_list import WEB_PORTS, AllowList, HostNotReachedError, connect, spell
from rewards_lib.whole_files import write_whole

MOST_BYTES = 64 << 20
MOST_KEPT_BYTES = 2 << 30
FETCH_SECONDS, TRIES, MOST_REDIRECTS = 20.0, 3, 5
FRESH_SECONDS = 600.0
"""After so long the host is asked whether the tests have changed."""
_PORTS = {"http": 80, "https": 443}
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_PARSED = 8
_LEFT_AS_THEY_ARE = "%/?&=+~:@!$'()*,;[]"
"""What an address may hold beside letters and digits; anything else is escaped on the way."""


class HostRefusedError(InputError):
    """An address whose host the judge may not fetch from."""

    code, http_status = "host_refused", 403


class _PassingFailureError(Exception):
    """A try that failed in a way that may pass."""


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


class TestFetcher:
    """Fetches test lists and keeps them in a folder. Thread-safe."""

    __test__ = False

    def __init__(
        self, folder: Path, allow_hosts: Sequence[str] = (), *, sleep: Callable[[float], None] = time.sleep,
        most_bytes: int = MOST_BYTES,
    ) -> None:  # fmt: skip
        self._folder = folder
        self._allow = AllowList(allow_hosts)
        self._sleep = sleep
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._turns: dict[str, tuple[threading.Lock, int]] = {}
        """Of the addresses that are being fetched, and how many want each."""
        self._parsed: OrderedDict[str, tuple[float, list[TestCase]]] = OrderedDict()

    def fetch(self, url: str, allow_hosts: Sequence[str] = ()) -> list[TestCase]:
        """The tests at an address. Raises HostRefusedError, UpstreamError, or InputError for what is no test list."""
        allowed = self._allow.with_more(allow_hosts)
        _judged_addresses(_split(url), allowed)
        with self._turn(url):
            known = self._parsed.get(url)
            if known is not None and time.monotonic() - known[0] < FRESH_SECONDS:
                return known[1]
            cases = self._from_text(url, self._content(url, allowed))
            with self._lock:
                self._parsed[url] = (time.monotonic(), cases)
                while len(self._parsed) > _MOST_PARSED:
                    self._parsed.popitem(last=False)
        return cases

    @contextmanager
    def _turn(self, url: str) -> Iterator[None]:
        """Let one at a time ask for an address; nothing is left of it when nobody asks any more."""
        with self._lock:
            turn, wanted = self._turns.get(url, (threading.Lock(), 0))
            self._turns[url] = (turn, wanted + 1)
        try:
            with turn:
                yield
        finally:
            with self._lock:
                turn, wanted = self._turns.pop(url)
                if wanted > 1:
                    self._turns[url] = (turn, wanted - 1)

    def _from_text(self, url: str, content: bytes) -> list[TestCase]:
        try:
            return read_tests(content.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise UpstreamError("The tests at {url} are no UTF-8 text.", url=_shown(url)) from None
        except InputError as error:
            raise UpstreamError("The file at {url} holds no tests: {why}", url=_shown(url), why=error.message) from None

    def _content(self, url: str, allowed: AllowList) -> bytes:
        """The bytes at an address, from the folder where the host says that they have not changed."""
        place = self._folder / hashlib.sha256(url.encode()).hexdigest()
        kept, facts = _read_kept(place)
        headers = {}
        if kept is not None:
            headers = {
                name: facts[key] for name, key in (("If-None-Match", "etag"), ("If-Modified-Since", "modified"))
                if facts.get(key)
            }  # fmt: skip
        answer = self._ask(url, headers, allowed)
        if answer.status == 304 and kept is not None:
            return kept
        if answer.status != 200:
            raise UpstreamError(
                "{url} answered HTTP {status} instead of the tests.", url=_shown(url), status=answer.status
            )
        self._from_text(url, answer.body)  # what is no list of tests is not kept
        self._keep(place, answer)
        return answer.body

    # --- asking ----------------------------------------------------------------------------------------------------

    def _ask(self, url: str, headers: Mapping[str, str], allowed: AllowList) -> _Answer:
        """Follow redirects, each judged; try again after faults that may pass."""
        for redirect in range(MOST_REDIRECTS + 1):
            answer = self._ask_patiently(url, headers, allowed)
            if answer.status not in _REDIRECTS or not answer.headers.get("location"):
                return answer
            url = _split(answer.headers["location"], base=url).geturl()
            if redirect == MOST_REDIRECTS:
                break
        raise UpstreamError("{url} redirects too often.", url=_shown(url))

    def _ask_patiently(self, url: str, headers: Mapping[str, str], allowed: AllowList) -> _Answer:
        for number in range(1, TRIES + 1):
            try:
                return self._ask_once(_split(url), headers, allowed)
            except _PassingFailureError as failure:
                if number == TRIES:
                    raise UpstreamError(
                        "The tests at {url} cannot be fetched ({tries} tried): {why}.",
                        url=_shown(url), tries=TRIES, why=str(failure),
                    ) from None  # fmt: skip
                self._sleep(0.5 * 2 ** (number - 1))
        raise AssertionError("unreachable: the last try returns or raises")

    def _ask_once(self, parts: SplitResult, headers: Mapping[str, str], allowed: AllowList) -> _Answer:
        deadline = time.monotonic() + FETCH_SECONDS
        connection = _connect(parts, _judged_addresses(parts, allowed))
        try:
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request(
                "GET", quote(path, safe=_LEFT_AS_THEY_ARE), headers={"Accept": "application/json", **headers}
            )
            response = connection.getresponse()
            body = bytearray()
            while part := response.read1(1 << 16):
                body += part
                if len(body) > self._most_bytes:
                    raise UpstreamError(
                        "The tests at {url} are larger than {most} MB.", url=_shown(parts.geturl()),
                        most=self._most_bytes >> 20,
                    )  # fmt: skip
                if time.monotonic() > deadline:
                    raise _PassingFailureError(f"not complete within {FETCH_SECONDS:g} s")
        except (OSError, http.client.HTTPException) as error:
            raise _PassingFailureError(str(error) or type(error).__name__) from None
        finally:
            connection.close()
        if response.status >= 500 or response.status == 429:
            raise _PassingFailureError(f"HTTP {response.status}")
        return _Answer(response.status, {key.lower(): value for key, value in response.getheaders()}, bytes(body))

    # --- keeping ---------------------------------------------------------------------------------------------------

    def _keep(self, place: Path, answer: _Answer) -> None:
        """Store an answer; a disk that is full or read-only costs the cache and nothing else."""
        facts = {
            "etag": answer.headers.get("etag"), "modified": answer.headers.get("last-modified"),
            "sha256": hashlib.sha256(answer.body).hexdigest(),
        }  # fmt: skip
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            for suffix, content in ((".json", answer.body), (".facts", json.dumps(facts).encode())):
                with write_whole(place.with_suffix(suffix), mode=0o600) as file:
                    file.write(content)
            self._make_room()

    def _make_room(self) -> None:
        entries = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in self._folder.glob("*.json"))
        total = sum(size for _, size, _ in entries)
        for _, size, path in entries:
            if total <= MOST_KEPT_BYTES:
                return
            path.unlink(missing_ok=True)
            path.with_suffix(".facts").unlink(missing_ok=True)
            total -= size


def _read_kept(place: Path) -> tuple[bytes | None, dict[str, str]]:
    """What is stored for an address, if it is whole."""
    try:
        facts = json.loads(place.with_suffix(".facts").read_bytes())
        content = place.with_suffix(".json").read_bytes()
    except (OSError, ValueError):
        return None, {}
    return (content, facts) if hashlib.sha256(content).hexdigest() == facts.get("sha256") else (None, {})


def _split(url: str, *, base: str = "") -> SplitResult:
    """An address taken apart, after joining it to the one that led to it. Raises InputError for what is none."""
    try:
        parts = urlsplit(urljoin(base, url))
        parts.geturl().encode()
    except ValueError:  # brackets that enclose no address, letters that no address may hold
        raise InputError("The address of the tests cannot be read.") from None
    return parts


def _judged_addresses(parts: SplitResult, allowed: AllowList) -> list[str]:
    """The addresses that may be connected to. Raises HostRefusedError that says how to allow the host."""
    host, url = (parts.hostname or "").rstrip("."), parts.geturl()
    try:
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        port = 0
    if not host or not port or parts.scheme not in _PORTS:
        raise HostRefusedError("{url} is no address of tests.", url=_shown(url))
    try:
        return allowed.addresses_of(host, port)
    except HostNotReachedError as error:
        raise _refused(error, host, port) from None


def _refused(error: HostNotReachedError, host: str, port: int) -> RewardConsoleError:
    exactly = spell(host, port)
    shown = exactly.removesuffix(f":{port}")
    if error.refusal == "unresolved":
        return UpstreamError("The name {host} cannot be resolved.", host=shown)
    if error.refusal == "private":
        return HostRefusedError(
            "{host} leads to a private address.", host=shown, port=port, remedy="Allow it exactly, as {host}:{port}."
        )
    return HostRefusedError(
        "Tests may not be fetched from {host}:{port}.", host=shown, port=port,
        remedy="Allow it with --allow-host {entry}, or among the rule's allow_hosts.",
        entry=shown if port in WEB_PORTS else exactly,
    )  # fmt: skip


def _connect(parts: SplitResult, addresses: Sequence[str]) -> http.client.HTTPConnection:
    """A connection to a judged address, under the host's own name."""
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    connection = http.client.HTTPConnection(host, port, timeout=FETCH_SECONDS)
    try:
        plain = connect(addresses, port, seconds=FETCH_SECONDS)
        if parts.scheme == "https":
            plain = ssl.create_default_context().wrap_socket(plain, server_hostname=host)
    except OSError as error:
        raise _PassingFailureError(str(error)) from None
    connection.sock = plain
    return connection


def _shown(url: str) -> str:
    """The address without user name, password and query, which may be secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

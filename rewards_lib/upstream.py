"""Asking services over HTTP: JSON in, JSON out, with a time limit, retries and a pace that all threads keep together.

Invariant: whoever asks gets a decoded object or an ``UpstreamError`` that says which service failed and how; an answer
that is late, too large, redirected or no JSON object is a failure, never a value.
"""

from __future__ import annotations

import ipaddress
import json
import math
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rewards_lib.contract import JsonObject, Sentence, sentence
from rewards_lib.errors import InputError, UpstreamError
from rewards_lib.strict_json import read_json

if TYPE_CHECKING:
    import requests

MAX_ANSWER_BYTES = 16 << 20
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.5, 20.0
_WORTH_RETRYING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_MAX_TOLD = 200


@dataclass(frozen=True, slots=True)
class Service:
    """Where to ask, and how patiently."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent along; values may be secret and are never told."""
    timeout_seconds: float = 30.0
    """For one attempt, from connecting to the last byte."""
    retries: int = 3
    """Further attempts after one that failed in a way that may pass: no connection, late, overloaded, broken."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a service said."""

    body: JsonObject
    attempts: int
    seconds: float
    """Of the attempt that succeeded."""


def longest_seconds(timeout_seconds: float, retries: int) -> float:
    """How long ``ask`` may take at most, waiting between attempts included."""
    return (retries + 1) * timeout_seconds + retries * LONGEST_WAIT_SECONDS


def ask(service: Service, body: JsonObject, *, sleep: Callable[[float], None] = time.sleep) -> Answer:
    """Post ``body`` and return the object in the answer. Raises ``UpstreamError``.

    An attempt that may pass is repeated after 0.5, 1, 2... seconds with jitter, or after what the service's
    ``Retry-After`` asks for, up to 20 seconds.
    """
    for attempt in range(1, service.retries + 2):
        started = time.monotonic()
        try:
            return Answer(_attempt(service, body, started), attempt, time.monotonic() - started)
        except _PassingFailureError as failure:
            if attempt > service.retries:
                raise UpstreamError(
                    "{url} gave no answer ({attempts} tried): {reason}.",
                    url=shown_url(service.url), attempts=attempt, reason=failure.reason,
                ) from None  # fmt: skip
            sleep(_wait_seconds(attempt, failure.asked_seconds))
    raise AssertionError("unreachable: the last attempt returns or raises")


class _PassingFailureError(Exception):
    """An attempt that failed in a way that may pass. Never leaves this module."""

    def __init__(self, reason: Sentence, *, asked_seconds: float | None = None) -> None:
        self.reason = reason
        self.asked_seconds = asked_seconds
        super().__init__(str(reason))


def _wait_seconds(attempt: int, asked_seconds: float | None) -> float:
    if asked_seconds is not None:
        return min(asked_seconds, LONGEST_WAIT_SECONDS)
    doubled = FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1)
    return min(doubled * random.uniform(0.75, 1.25), LONGEST_WAIT_SECONDS)  # noqa: S311 -- jitter, nothing secret


def _attempt(service: Service, body: JsonObject, started: float) -> JsonObject:
    import requests

    with requests.Session() as session:
        session.trust_env = not _is_on_this_machine(service.url)  # a proxy cannot reach our own loopback
        session.auth = _keep_headers  # else a .netrc entry would replace our authorization
        try:
            response = session.post(
                service.url, data=json.dumps(body).encode(), allow_redirects=False, stream=True,
                headers={"Content-Type": "application/json", "Accept": "application/json", **service.headers},
                timeout=service.timeout_seconds,
            )  # fmt: skip
            with response:
                text = _read(response, started + service.timeout_seconds)
        except requests.Timeout:
            raise _PassingFailureError(
                sentence("no answer within {seconds:g} s", seconds=service.timeout_seconds)
            ) from None
        except requests.ConnectionError as error:
            raise _PassingFailureError(sentence("no connection ({kind})", kind=_innermost(error))) from None
        except (requests.RequestException, ValueError) as error:  # ValueError: an address that cannot be one
            raise UpstreamError("{url} cannot be asked: {why}.", url=shown_url(service.url), why=str(error)) from None
    return _object(service, response.status_code, text, response.headers.get("Retry-After", ""))


def _keep_headers(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _read(response: requests.Response, deadline: float) -> str:
    """Read what arrives until the deadline: the time limit of ``requests`` starts anew with each byte."""
    import requests
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    parts: list[bytes] = []
    size = 0
    try:
        while part := response.raw.read1(1 << 16, decode_content=True):
            parts.append(part)
            size += len(part)
            if time.monotonic() > deadline:
                raise requests.ReadTimeout
            if size > MAX_ANSWER_BYTES:
                raise requests.exceptions.ContentDecodingError("the answer is too large")
    except requests.RequestException:
        raise
    except ReadTimeoutError:
        raise requests.ReadTimeout from None
    except (HTTPError, OSError) as error:
        raise requests.ConnectionError(error) from None
    return b"".join(parts).decode("utf-8", "replace")


def _object(service: Service, status: int, text: str, retry_after: str) -> JsonObject:
    if status in _WORTH_RETRYING:
        asked = _seconds_asked(retry_after)
        raise _PassingFailureError(
            sentence("HTTP {status}{detail}", status=status, detail=_detail(text)), asked_seconds=asked
        )
    if not 200 <= status < 300:
        raise UpstreamError(
            "{url} answered HTTP {status}{detail}.", url=shown_url(service.url), status=status, detail=_detail(text)
        )
    try:
        answer = read_json(text, name="the answer")
    except InputError as error:
        raise UpstreamError(
            "The answer of {url} is not JSON: {why}", url=shown_url(service.url), why=error.message
        ) from None
    if not isinstance(answer, dict):
        raise UpstreamError("The answer of {url} is not a JSON object.", url=shown_url(service.url))
    return answer


def _seconds_asked(retry_after: str) -> float | None:
    """How long ``Retry-After`` asks to wait: seconds, or the time until a date; None when it says neither."""
    if re.fullmatch(r"\d{1,9}(?:\.\d+)?", retry_after, re.ASCII):
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _detail(text: str) -> str:
    """What a service says about its failure, shortened: ``error.message``, ``detail``, or the text itself."""
    try:
        body = read_json(text)
    except InputError:
        body = None
    said = body.get("error") or body.get("detail") or body.get("message") if isinstance(body, dict) else text
    said = said.get("message", "") if isinstance(said, dict) else said
    line = " ".join(str(said or "").split())
    return f": {line[:_MAX_TOLD]}" if line else ""


def _innermost(error: BaseException) -> str:
    """The reason at the bottom of a connection error, without addresses of Python objects."""
    for _ in range(10):  # contexts may go round in a circle
        nested = next((one for one in (*error.args, getattr(error, "reason", None)) if _is_error(one)), None)
        nested = nested or error.__cause__ or error.__context__
        if nested is None:
            break
        error = nested
    return getattr(error, "strerror", None) or type(error).__name__


def _is_error(value: object) -> bool:
    return isinstance(value, BaseException)


def shown_url(url: str) -> str:
    """The address without user name, password and query, which may be secret.

    >>> shown_url("https://me:pass@judge.example:8443/v1?key=1")
    'https://judge.example:8443/v1'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return "the service"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _is_on_this_machine(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# --- pace ----------------------------------------------------------------------------------------------------------


class _Traffic:
    """What is under way to one service, whoever sent it."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.running = 0
        self.last_start = -math.inf
        self.paces: list[Pace] = []
        """Of every turn that is waited for or held: the strictest among them holds for all."""


class Pace:
    """How many requests to one service may be under way, and how many may start in a minute, over all threads.

    Paces that share a service's traffic do not add up: while several are in use, the strictest counts.
    """

    def __init__(self, concurrency: int, per_minute: float | None, traffic: _Traffic | None = None) -> None:
        self._concurrency = concurrency
        self._gap_seconds = 60.0 / per_minute if per_minute else 0.0
        self._traffic = traffic or _Traffic()

    @contextmanager
    def turn(
        self, *, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> Iterator[None]:
        """Wait for a turn and hold it during the block."""
        traffic = self._traffic
        with traffic.changed:
            traffic.paces.append(self)
        try:
            start = self._take_slot(now)
            try:
                if (wait := start - now()) > 0:
                    sleep(wait)
                yield
            finally:
                with traffic.changed:
                    traffic.running -= 1
        finally:
            with traffic.changed:
                traffic.paces.remove(self)
                traffic.changed.notify_all()

    def _take_slot(self, now: Callable[[], float]) -> float:
        """Wait until one more may be under way; the moment at which it may start."""
        traffic = self._traffic
        with traffic.changed:
            while traffic.running >= min(pace._concurrency for pace in traffic.paces):
                traffic.changed.wait()
            traffic.running += 1
            traffic.last_start = max(now(), traffic.last_start + max(pace._gap_seconds for pace in traffic.paces))
            return traffic.last_start


_traffics: dict[str, _Traffic] = {}
_traffics_lock = threading.Lock()


def pace_of(url: str, concurrency: int, per_minute: float | None = None) -> Pace:
    """A pace over the one traffic to a service in this process, however many rules and payloads share it."""
    with _traffics_lock:
        return Pace(concurrency, per_minute, _traffics.setdefault(url, _Traffic()))

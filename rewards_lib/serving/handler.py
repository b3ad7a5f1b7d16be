"""Payload in, rewards out: what the service does with one request, without a socket.

Invariant: an answer carries the rewards that the named version gives, or says why there are none; a trainer whose
dialect has no word for "unscored" is answered 503, so that it asks again and then fails, and never a number.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

from rewards_lib.contract import Json, JsonObject, MixResult, Payload
from rewards_lib.errors import InternalError, RewardConsoleError, UnscoredError, boundary
from rewards_lib.executor import Executor
from rewards_lib.http_guard import failure_row
from rewards_lib.payloads import openrlhf, read_payload, slime
from rewards_lib.presets import find_preset
from rewards_lib.publishing import Published, find_published, open_version
from rewards_lib.scoring import score_payloads
from rewards_lib.store import Store
from rewards_lib.strict_json import read_json

Dialect: TypeAlias = Literal["ark", "openrlhf", "slime"]
RETRY_SECONDS = 1


@dataclass(slots=True)
class Facts:
    """What the log tells about a request."""

    name: str = ""
    version: str = ""
    """``name@number`` of what scored."""
    mix_version: str = ""
    dialect: str = ""
    completions: int = 0
    unscored: int = 0
    status: str = ""
    """``success`` or ``failure``, as the rewards are."""
    error: str = ""
    score_ms: float = 0.0
    queue_ms: float = 0.0

    def items(self) -> list[tuple[str, str | int | float]]:
        """Names and values, in order."""
        return [(name, getattr(self, name)) for name in self.__slots__]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request is answered with."""

    http_status: int
    body: Json
    headers: dict[str, str] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)


class CurrentVersions:
    """The versions as the store has them now; what was read is kept until anything is written. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._mark: object = None
        self._known: dict[str, Published] = {}
        self.quick: frozenset[str] = frozenset()
        """The references whose version, as it was looked up last, is of presets that run in a worker."""

    def find(self, reference: str) -> Published:
        """The version behind ``name`` or ``name@number``. Raises as ``find_published`` does."""
        mark = self._store.change_mark()
        with self._lock:
            if mark != self._mark:
                self._mark, self._known = mark, {}
            known = self._known.get(reference)
        if known is None:
            known = open_version(find_published(self._store, reference))
            with self._lock:
                if mark == self._mark and not _has_secrets(
                    known
                ):  # a secret's value may change, and does not show here
                    self._known[reference] = known
                self.quick = self.quick - {reference} | ({reference} if _is_quick(known) else set())
        return known


def _has_secrets(published: Published) -> bool:
    functions = [published.resolve(rule) for rule in published.mix.rules if rule.function is not None]
    return any(found.source.secrets for found in functions)


def _is_quick(published: Published) -> bool:
    return all(rule.preset and find_preset(rule.preset).runs_on == "worker" for rule in published.mix.rules)


@dataclass(slots=True)
class _Asked:
    """A request on its way to its answer."""

    dialect: Dialect
    facts: Facts
    published: Published | None = None
    payloads: list[Payload] = field(default_factory=list)
    answer: Answer | None = None

    def fail(self, error: RewardConsoleError) -> None:
        self.answer = error_answer(error, self.facts)


class RewardHandler:
    """Answers requests for rewards. Thread-safe."""

    def __init__(self, store: Store, executor: Executor) -> None:
        self.versions = CurrentVersions(store)
        self._executor = executor

    def is_quick(self, reference: str) -> bool:
        """Whether what this reference named last is a mix of presets alone, none of which asks a service."""
        return reference in self.versions.quick

    def answer(self, dialect: Dialect, reference: str, body: bytes) -> Answer:
        """Score one request; every failure is an answer too."""
        return self.answer_many([(dialect, reference, body)])[0]

    def answer_many(self, requests: Sequence[tuple[Dialect, str, bytes]]) -> list[Answer]:
        """Score requests, those for the same version together: one answer each, in order."""
        asked = [_Asked(dialect, Facts(name=name.partition("@")[0], dialect=dialect)) for dialect, name, _ in requests]
        for one, (_, reference, body) in zip(asked, requests, strict=True):
            with boundary(one.fail):
                self._read(one, reference, body)
        versions = {one.published.label: one.published for one in asked if one.published and not one.answer}
        for label, published in versions.items():
            own = [one for one in asked if one.answer is None and one.published and one.published.label == label]
            self._score(published, own)
        return [one.answer or error_answer(_unanswered(), one.facts) for one in asked]

    def _read(self, one: _Asked, reference: str, body: bytes) -> None:
        published = one.published = self.versions.find(reference)
        one.facts.version, one.facts.mix_version = published.label, published.mix_version
        one.payloads = [read_payload(body)] if one.dialect == "ark" else _TEXT_DIALECTS[one.dialect][0](read_json(body))
        one.facts.completions = sum(len(payload.completions) for payload in one.payloads)

    def _score(self, published: Published, asked: Sequence[_Asked]) -> None:
        """Score the payloads of several requests under one version and answer each."""
        started, results = time.perf_counter(), []

        def fail(error: RewardConsoleError) -> None:
            for one in asked:
                one.fail(error)

        with boundary(fail):
            results = self.score(published, [payload for one in asked for payload in one.payloads])
        spent, left = (time.perf_counter() - started) * 1000, iter(results)
        for one in asked:
            if one.answer is None:
                one.facts.score_ms = spent
                with boundary(one.fail):
                    one.answer = _answer(one, list(islice(left, len(one.payloads))))

    def score(self, published: Published, payloads: list[Payload]) -> list[MixResult]:
        """Score payloads under a version: one result each, in order."""
        return score_payloads(published.mix, payloads, executor=self._executor, resolve=published.resolve)


def error_answer(error: RewardConsoleError, facts: Facts) -> Answer:
    """The answer for a failure, in the same shape for every dialect."""
    facts.status, facts.error = "failure", str(error)
    body = failure_row(str(error), error.code)
    headers = {"Retry-After": str(RETRY_SECONDS)} if error.http_status == 503 else {}
    if facts.version:
        headers |= _versions(facts)
    return Answer(error.http_status, body, headers, facts)


def _answer(one: _Asked, results: list[MixResult]) -> Answer:
    """Write the results of one request in its dialect. Raises UnscoredError."""
    _tell(one.facts, results)
    headers = _versions(one.facts)
    body = results[0].response() if one.dialect == "ark" else _encode_texts(one.dialect, results)
    return Answer(200, body, headers, one.facts)


def _versions(facts: Facts) -> dict[str, str]:
    """What scored, for headers, which hold no other letters than ASCII's: names are percent-encoded as in addresses."""
    return {"X-Reward-Version": quote(facts.version, safe="@"), "X-Mix-Version": facts.mix_version}


def _unanswered() -> InternalError:
    return InternalError("The request was not answered.", remedy="Send it again.")


def _tell(facts: Facts, results: list[MixResult]) -> None:
    facts.unscored = sum(reward is None for result in results for reward in result.rewards)
    failed = [result for result in results if result.status == "failure"]
    facts.status = "failure" if failed else "success"
    facts.error = str(failed[0].error or "") if failed else ""


def _encode_texts(dialect: Dialect, results: list[MixResult]) -> Json:
    """Write numbers alone. Raises UnscoredError when there is one missing."""
    rewards: list[float] = []
    for result in results:
        for reward in result.rewards:
            if reward is None:
                raise UnscoredError(
                    "A completion is unscored: {why}", why=result.error or "every rule abstained.",
                    remedy="This trainer's protocol has no word for that, so it is an error and not a number.",
                )  # fmt: skip
            rewards.append(reward)
    metrics = [dict(result.metrics) for result in results for _ in result.rewards]
    return _TEXT_DIALECTS[dialect][1](rewards, metrics)


_Decode: TypeAlias = Callable[[Any], list[Payload]]
_Encode: TypeAlias = Callable[[list[float], list[JsonObject]], Json]
_TEXT_DIALECTS: dict[str, tuple[_Decode, _Encode]] = {
    "openrlhf": (openrlhf.decode, openrlhf.encode),
    "slime": (slime.decode, slime.encode),
}

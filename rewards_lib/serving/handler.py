"""Payload in, rewards out: what the service does with one request, without a socket.

Invariant: an answer carries the rewards that the named version gives, or says why there are none; a trainer whose
dialect has no word for "unscored" is answered 503, so that it asks again and then fails, and never a number.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from rewards_lib.contract import Json, JsonObject, MixResult, Payload
from rewards_lib.errors import RewardConsoleError, UpstreamError, boundary
from rewards_lib.executor import Executor
from rewards_lib.payloads import openrlhf, read_payload, slime
from rewards_lib.publishing import Published, find_published, open_version
from rewards_lib.scoring import score_payloads
from rewards_lib.store import Store
from rewards_lib.strict_json import read_json

Dialect: TypeAlias = Literal["ark", "openrlhf", "slime"]
RETRY_SECONDS = 1


class UnscoredError(UpstreamError):
    """A completion without a reward, in a dialect that can only carry numbers."""

    code, http_status = "unscored", 503


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
                if mark == self._mark:
                    self._known[reference] = known
        return known


class RewardHandler:
    """Answers requests for rewards. Thread-safe."""

    def __init__(self, store: Store, executor: Executor) -> None:
        self.versions = CurrentVersions(store)
        self._executor = executor

    def answer(self, dialect: Dialect, reference: str, body: bytes) -> Answer:
        """Score one request; every failure is an answer too."""
        facts = Facts(name=reference.partition("@")[0], dialect=dialect)
        answers: list[Answer] = []
        with boundary(lambda error: answers.append(error_answer(error, facts))):
            answers.append(self._answer(dialect, reference, body, facts))
        return answers[-1]

    def _answer(self, dialect: Dialect, reference: str, body: bytes, facts: Facts) -> Answer:
        published = self.versions.find(reference)
        facts.version, facts.mix_version = published.label, published.mix_version
        payloads = [read_payload(body)] if dialect == "ark" else _TEXT_DIALECTS[dialect][0](read_json(body))
        facts.completions = sum(len(payload.completions) for payload in payloads)
        started = time.perf_counter()
        results = self.score(published, payloads)
        facts.score_ms = (time.perf_counter() - started) * 1000
        _tell(facts, results)
        headers = {"X-Reward-Version": published.label, "X-Mix-Version": published.mix_version}
        if dialect == "ark":
            return Answer(200, results[0].response(), headers, facts)
        return Answer(200, _encode_texts(dialect, results), headers, facts)

    def score(self, published: Published, payloads: list[Payload]) -> list[MixResult]:
        """Score payloads under a version: one result each, in order."""
        return score_payloads(published.mix, payloads, executor=self._executor, resolve=published.resolve)


def error_answer(error: RewardConsoleError, facts: Facts) -> Answer:
    """The answer for a failure, in the same shape for every dialect."""
    facts.status, facts.error = "failure", str(error)
    body: JsonObject = {"status": "failure", "error": str(error), "code": error.code}
    headers = {"Retry-After": str(RETRY_SECONDS)} if error.http_status == 503 else {}
    if facts.version:
        headers |= {"X-Reward-Version": facts.version, "X-Mix-Version": facts.mix_version}
    return Answer(error.http_status, body, headers, facts)


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

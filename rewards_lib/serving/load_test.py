"""The load of a training step against a service, before a run depends on it.

Invariant: what is measured is what a trainer would see; an answer that is no 200 counts as an error, not as a time.
"""

from __future__ import annotations

import http.client
import itertools
import json
import queue
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from rewards_lib.contract import JsonObject, Payload, Sentence, sentence
from rewards_lib.errors import InputError
from rewards_lib.payloads import DIALECTS
from rewards_lib.quantiles import percentile
from rewards_lib.strict_json import write_json

_TIMING = re.compile(r"(\w+);dur=(\d+(?:\.\d+)?)")
_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """A training step, some times over."""

    url: str
    """``http://host:port``."""
    reference: str
    """``name`` or ``name@number``."""
    payload: Payload
    """Its completions are repeated until there are ``completions`` of them."""
    batch_size: int = 32
    """Prompts of a step: one request each."""
    completions: int = 8
    """Of a prompt."""
    concurrency: int = 8
    """Requests under way at once."""
    steps: int = 3
    token: str = field(default="", repr=False)


@dataclass(slots=True)
class _Tally:
    times_ms: list[float] = field(default_factory=list)
    timed_ms: list[tuple[float, float, float]] = field(default_factory=list)
    """Of the answers with ``Server-Timing``: whole, queue, score."""
    errors: Counter[str] = field(default_factory=Counter)
    unscored: int = 0
    first_error: str = ""


def run_load_test(plan: LoadPlan, on_progress: Callable[[int, int], None] = lambda _done, _total: None) -> JsonObject:
    """Send the steps and return what came of them: times in ms, rates, errors by status, and what limits.

    Raises InputError for a plan that cannot be sent.
    """
    if not _is_address(plan.url):
        raise InputError("The address of a service is http://host:port.", where="--url")
    if not plan.token.isascii() or not plan.token.isprintable():
        raise InputError("The token holds what no header can hold: line ends, or letters beyond ASCII.", where="token")
    if min(plan.batch_size, plan.completions, plan.concurrency, plan.steps) < 1:
        raise InputError("Every size of a load test is 1 at least.", where="load test")
    body, total = _body(plan), plan.batch_size * plan.steps
    tally, lock, done = _Tally(), threading.Lock(), itertools.count(1)
    step_seconds = []
    for _ in range(plan.steps):
        started = time.perf_counter()
        tasks: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(plan.batch_size):
            tasks.put(None)
        senders = [
            threading.Thread(
                target=_send, args=(plan, body, tasks, tally, lock, lambda: on_progress(next(done), total))
            )
            for _ in range(min(plan.concurrency, plan.batch_size))
        ]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        step_seconds.append(time.perf_counter() - started)
    return _report(plan, tally, step_seconds)


def _is_address(url: str) -> bool:
    try:
        address = urlsplit(url)
        return address.scheme == "http" and bool(address.hostname) and address.port != 0
    except ValueError:  # a port beyond 65535, half an IPv6 address
        return False


def _body(plan: LoadPlan) -> bytes:
    given = plan.payload.completions
    many = tuple(itertools.islice(itertools.cycle(given), plan.completions))
    return write_json(DIALECTS["bare"][1](Payload(plan.payload.sample, many))).encode()


def _send(
    plan: LoadPlan,
    body: bytes,
    tasks: queue.SimpleQueue[None],
    tally: _Tally,
    lock: threading.Lock,
    on_sent: Callable[[], None],
) -> None:
    """Send requests over one connection until none are left."""
    address = urlsplit(plan.url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=_SECONDS)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {plan.token}"} if plan.token else {})
    while True:
        try:
            tasks.get_nowait()
        except queue.Empty:
            connection.close()
            return
        started = time.perf_counter()
        try:
            connection.request("POST", f"/rewards/{quote(plan.reference)}", body, headers)
            answer = connection.getresponse()
            status, text, timing = str(answer.status), answer.read(), answer.getheader("Server-Timing") or ""
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            status, text, timing = type(error).__name__, str(error).encode(), ""
        with lock:
            _count(tally, status, text, timing, (time.perf_counter() - started) * 1000)
        on_sent()


def _count(tally: _Tally, status: str, text: bytes, timing: str, spent_ms: float) -> None:
    row = _read_answer(text) if status == "200" else None
    if row is None:
        tally.errors["no rewards" if status == "200" else status] += 1
        tally.first_error = tally.first_error or text.decode("utf-8", "replace")[:500]
        return
    tally.unscored += sum(reward is None for reward in row["rewards"])
    if row.get("error"):
        tally.first_error = tally.first_error or str(row["error"])[:500]
    tally.times_ms.append(spent_ms)
    parts = {name: float(value) for name, value in _TIMING.findall(timing)}
    if {"queue", "score"} <= parts.keys():
        tally.timed_ms.append((spent_ms, parts["queue"], parts["score"]))


def _read_answer(text: bytes) -> JsonObject | None:
    """The rewards that were answered; None when it is something else that listens there."""
    try:
        row = json.loads(text)
    except ValueError:
        return None
    return row if isinstance(row, dict) and isinstance(row.get("rewards"), list) else None


def _report(plan: LoadPlan, tally: _Tally, step_seconds: list[float]) -> JsonObject:
    seconds, answered = sum(step_seconds), len(tally.times_ms)
    limit = _limit(tally)
    return {
        "status": "failure" if tally.errors or answered < plan.batch_size * plan.steps else "success",
        "reference": plan.reference, "batch_size": plan.batch_size, "completions": plan.completions,
        "concurrency": plan.concurrency, "steps": plan.steps,
        "requests": plan.batch_size * plan.steps, "answered": answered, "errors": dict(tally.errors),
        "unscored": tally.unscored, "first_error": tally.first_error,
        "step_seconds": [round(one, 4) for one in step_seconds],
        "requests_per_second": round(answered / seconds, 2), "completions_per_second":
        round(answered * plan.completions / seconds, 2),
        "p50_ms": percentile(tally.times_ms, 0.5), "p95_ms": percentile(tally.times_ms, 0.95),
        "p99_ms": percentile(tally.times_ms, 0.99), "limited_by": limit[0], "told": str(limit[1]),
        "told_template": limit[1].template, "told_values": dict(limit[1].values),
    }  # fmt: skip


def _limit(tally: _Tally) -> tuple[str, Sentence]:
    """What took the most of the requests' time, and what helps."""
    if tally.errors.get("503"):
        told = (
            "The service refuses: more comes at once than it takes. Send less at once, or start it with more --at-once."
        )
        return "admission", sentence(told)
    if not tally.times_ms:
        return "errors", sentence("No request was answered with rewards: see the first error.")
    if not tally.timed_ms:
        return "unknown", sentence("The service does not say what its time went to: it sends no Server-Timing.")
    total, queued, scored = (sum(times) for times in zip(*tally.timed_ms, strict=True))
    queue_share, score_share = queued / total, scored / total
    if queue_share > 0.5:
        told = "Requests wait for their turn {share:.0%} of the time: more of them at once bring nothing."
        return "queue", sentence(told, share=queue_share)
    if score_share > 0.5:
        told = "Scoring takes {share:.0%} of the time: a quicker mix or more processors help, nothing else does."
        return "scoring", sentence(told, share=score_share)
    told = "HTTP takes {share:.0%} of the time: send more completions a request."
    return "http", sentence(told, share=1 - queue_share - score_share)

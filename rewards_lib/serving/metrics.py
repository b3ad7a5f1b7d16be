"""Prometheus metrics of one service; names begin with ``reward_service_``.

Invariant: a label's value is a published name, a dialect or a status: nothing that a caller invents.
"""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from rewards_lib.serving.handler import Facts

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class ServiceMetrics:
    """Counts what the service answered."""

    def __init__(self, *, running: Callable[[], float], waiting: Callable[[], float]) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "reward_service_requests", "Requests, by version, dialect, HTTP status and status of the rewards.",
            ("version", "dialect", "http_status", "status"), registry=self._registry,
        )  # fmt: skip
        self._completions = Counter(
            "reward_service_completions", "Completions, by version and whether they have a reward.",
            ("version", "outcome"), registry=self._registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "reward_service_seconds", "Time to answer a request for rewards.", ("dialect",), buckets=_SECONDS,
            registry=self._registry,
        )  # fmt: skip
        for name, help_, value in (
            ("reward_service_running", "Requests that are being scored.", running),
            ("reward_service_waiting", "Requests that wait for their turn.", waiting),
        ):
            Gauge(name, help_, registry=self._registry).set_function(value)

    def count(self, facts: Facts, http_status: int, seconds: float) -> None:
        """Take one answered request into account."""
        self._requests.labels(facts.version, facts.dialect, str(http_status), facts.status).inc()
        self._seconds.labels(facts.dialect).observe(seconds)
        if facts.version:
            self._completions.labels(facts.version, "scored").inc(facts.completions - facts.unscored)
            self._completions.labels(facts.version, "unscored").inc(facts.unscored)

    def text(self) -> bytes:
        """Everything in Prometheus' text format."""
        return generate_latest(self._registry)

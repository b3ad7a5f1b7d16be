"""What the log says about the traffic: how much, how fast, what went wrong.

Invariant: a figure over no requests is None, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeAlias

from rewards_lib.quantiles import percentile

WINDOW_MINUTES = 30
FAILURES_FIRST = 4

Row: TypeAlias = Mapping[str, Any]
Show: TypeAlias = Literal["all", "failures", "refused"]


@dataclass(frozen=True, slots=True)
class Traffic:
    """The requests for rewards of the last half hour."""

    requests: int
    last_minute: int
    """Requests of the last sixty seconds."""
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    refused: int
    """Answered 503."""
    failures: int
    """Answered with an error, or with a completion unscored."""


@dataclass(frozen=True, slots=True)
class Minute:
    """The requests of one minute."""

    ago: int
    """0 is the minute that is running."""
    requests: int
    p50_ms: float
    p95_ms: float


def traffic(rows: Sequence[Row], now: datetime) -> Traffic:
    """Sum up the requests of the last half hour."""
    recent = _recent(rows, now, timedelta(minutes=WINDOW_MINUTES))
    times = [float(row["ms"]) for row in recent if row["http_status"] == 200]
    return Traffic(
        requests=len(recent), last_minute=len(_recent(recent, now, timedelta(minutes=1))),
        p50_ms=percentile(times, 0.5), p95_ms=percentile(times, 0.95), p99_ms=percentile(times, 0.99),
        refused=sum(row["http_status"] == 503 for row in recent), failures=sum(is_failure(row) for row in recent),
    )  # fmt: skip


def by_minute(rows: Sequence[Row], now: datetime) -> list[Minute]:
    """The minutes of the last half hour that had answers with rewards, oldest first."""
    times: dict[int, list[float]] = {}
    for row in _recent(rows, now, timedelta(minutes=WINDOW_MINUTES)):
        if row["http_status"] == 200:
            ago = int((now - datetime.fromisoformat(row["time"])).total_seconds() // 60)
            times.setdefault(ago, []).append(float(row["ms"]))
    return [
        Minute(ago, len(own), p50, p95)
        for ago, own in sorted(times.items(), reverse=True)
        if (p50 := percentile(own, 0.5)) is not None and (p95 := percentile(own, 0.95)) is not None
    ]


def newest_first(rows: Sequence[Row], show: Show = "all", *, name: str = "", most: int = 200) -> list[Row]:
    """The newest requests for rewards of a name (or of all), the last few failures before everything else."""
    wanted = [row for row in reversed(rows) if _asks_for_rewards(row) and name in ("", row.get("name"))]
    if show == "failures":
        return [row for row in wanted if is_failure(row)][:most]
    if show == "refused":
        return [row for row in wanted if row["http_status"] == 503][:most]
    first = [row for row in wanted if is_failure(row)][:FAILURES_FIRST]
    return [*first, *(row for row in wanted if row not in first)][:most]


def is_failure(row: Row) -> bool:
    """Whether a request got an error, or not all of its rewards."""
    return row["http_status"] != 200 or row.get("status") == "failure"


def _recent(rows: Sequence[Row], now: datetime, span: timedelta) -> list[Row]:
    since = (now - span).astimezone(UTC).isoformat(timespec="milliseconds")
    return [row for row in rows if _asks_for_rewards(row) and str(row.get("time", "")) >= since]


def _asks_for_rewards(row: Row) -> bool:
    return row.get("method") == "POST" and row.get("dialect") != "code_judge"

"""The error family: every failure says whose fault it is, what happened, where, and what to do.

Invariant: ``boundary`` is the only place that catches every exception; beyond it only this family exists.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar

from rewards_lib.contract import Sentence, fill

log = logging.getLogger(__name__)


class RewardConsoleError(Exception):
    """The base of the family. The message and the remedy are English templates, filled from ``values``."""

    code: ClassVar[str] = "error"
    """Stable, for programs; listed in docs/errors.md."""
    exit_status: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, *, where: str = "", remedy: str = "", **values: object) -> None:
        self.message = Sentence(message, values)
        self.where = where
        """A path, a line, a JSON path; empty when there is no place."""
        self.remedy = Sentence(remedy, values) if remedy else None
        super().__init__(fill(message, values))

    @property
    def place(self) -> Sentence | None:
        """``where`` as a sentence that a screen can translate; None when there is no place."""
        return Sentence(self.where) if self.where else None

    def __str__(self) -> str:
        """One English sentence: where, what, what to do."""
        parts = [f"{self.where}:" if self.where else "", str(self.message), str(self.remedy or "")]
        return " ".join(part for part in parts if part)


class InputError(RewardConsoleError):
    """The caller's file, payload, mix or flag is unusable."""

    code, exit_status, http_status = "input", 2, 422


class ExecutionError(RewardConsoleError):
    """The author's code raised, hit a limit or returned something unusable."""

    code = "execution"


class LimitError(ExecutionError):
    """A run reached one of its limits."""

    code = "limit"

    def __init__(self, message: str, *, limit: str, where: str = "", remedy: str = "", **values: object) -> None:
        self.limit = limit
        """Which limit: ``wall``, ``cpu``, ``memory``, ``output``, ``result`` or ``threads``."""
        super().__init__(message, where=where, remedy=remedy, **values)


class UnscoredError(ExecutionError):
    """A completion without a reward, where only a number could be said; whoever asked may ask again."""

    code, http_status = "unscored", 503


class BusyError(ExecutionError):
    """A run that was not started because too many others are in progress or waiting."""

    code, http_status = "busy", 503


class DependencyError(RewardConsoleError):
    """Requirements cannot be installed, or something this machine needs is missing."""

    code = "dependency"


class UpstreamError(RewardConsoleError):
    """A judge, a sandbox or a trainer's service did not answer as it should."""

    code, http_status = "upstream", 502


class StoreError(RewardConsoleError):
    """Drafts and versions: conflict, not found, unreadable."""

    code, http_status = "store", 409


class NotFoundError(StoreError):
    """No draft, version or function of that name."""

    code, exit_status, http_status = "not_found", 2, 404


class InternalError(RewardConsoleError):
    """Ours. Has an id; the log has the traceback under the same id."""

    code = "internal"


@contextmanager
def boundary(on_error: Callable[[RewardConsoleError], None]) -> Iterator[None]:
    """Turn any exception of the block into one member of the family and hand it to ``on_error``.

    Stands around whatever must not fall with what it starts: a command, a request, a job, a page and each of its parts
    that can fail alone, one completion among others, the round of a thread that goes on. Exceptions that are not ours
    become an ``InternalError`` with an id, and their traceback goes to the log under that id.
    """
    try:
        yield
    except RewardConsoleError as error:
        on_error(error)
    except Exception as error:
        on_error(internal_error(error))


def internal_error(error: Exception) -> InternalError:
    """Wrap a fault of ours and log its traceback under a fresh id."""
    fault_id = secrets.token_hex(4)
    log.error("internal error %s", fault_id, exc_info=error)
    return InternalError(
        "Something went wrong in the console itself ({kind}, id {fault_id}).",
        kind=type(error).__name__,
        fault_id=fault_id,
        remedy="Nothing was scored. Please report it with the log lines of that id.",
    )

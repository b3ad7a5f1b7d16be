"""The canary: a program that must be accepted, judged every half minute in each language in use.

Invariant: a judge whose own programs fail says so in its health and starts with fresh workers; it does not go on
handing out verdicts in silence.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from rewards_lib.code_judge.judge import CodeJudge
from rewards_lib.code_judge.languages import LANGUAGES, SAMPLE_INPUT, SAMPLE_OUTPUT
from rewards_lib.code_judge.submission import Submission
from rewards_lib.code_judge.toolchains import found_languages
from rewards_lib.code_judge.verdicts import Verdict
from rewards_lib.contract import Json, JsonObject
from rewards_lib.errors import BusyError, RewardConsoleError, boundary

EVERY_SECONDS = 30.0
_TESTS: list[Json] = [{"stdin": SAMPLE_INPUT, "stdout": SAMPLE_OUTPUT}]


@dataclass(frozen=True, slots=True)
class CanaryReport:
    """How the last canary of a language went."""

    is_well: bool
    told: str
    """The verdict, or why there was none."""
    at: float
    """Unix time."""


class Canary:
    """Watches a judge from a thread of its own. Close it, or use it as a context manager."""

    def __init__(self, judge: CodeJudge) -> None:
        self._judge = judge
        self._stop = threading.Event()
        self._reports: dict[str, CanaryReport] = {}
        self._thread = threading.Thread(target=self._watch, name="code judge canary", daemon=True)
        self._thread.start()

    def look(self, *, at_all: bool = False) -> None:
        """Judge the sample of every language in use, or that is installed; a failure lets idle workers be replaced."""
        installed = {name for name, version in found_languages().items() if version} if at_all else set()
        for name in sorted(self._in_use() | installed):
            report = self._try(name)
            if report is not None:
                self._reports[name] = report
                if not report.is_well:
                    self._judge.replace_workers()

    def _try(self, name: str) -> CanaryReport | None:
        """None when the judge is too busy to tell: that is no sign of illness."""
        language = LANGUAGES[name]
        faults: list[RewardConsoleError] = []
        verdicts: list[Verdict] = []
        with boundary(faults.append):  # a fault of ours is illness too, and must not end the watch
            submission = Submission(language.sample, language, _TESTS, is_program=True)
            verdicts.append(self._judge.judge(submission, counts=False).verdict)
        if any(isinstance(fault, BusyError) for fault in faults):
            return None
        told = str((verdicts or faults)[0])
        return CanaryReport(verdicts == [Verdict.ACCEPTED], told, time.time())

    def _in_use(self) -> set[str]:
        return self._judge.used_languages | {"python"}

    @property
    def is_well(self) -> bool:
        """Whether no canary of a language in use failed; a broken compiler that nobody asks for is no illness."""
        in_use = self._in_use()
        return all(report.is_well for name, report in dict(self._reports).items() if name in in_use)

    def to_json(self) -> JsonObject:
        """By language: how the last canary went, and when."""
        return {
            name: {"well": report.is_well, "told": report.told, "at": round(report.at, 3)}
            for name, report in dict(self._reports).items()
        }  # fmt: skip

    def close(self) -> None:
        """Stop watching."""
        self._stop.set()
        self._thread.join(timeout=5)

    def _watch(self) -> None:
        self.look(at_all=True)
        while not self._stop.wait(EVERY_SECONDS):
            self.look()

    def __enter__(self) -> Canary:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

"""Programs against tests: which program a completion holds, whether it is right, behind the executor's confinement.

>>> from rewards_lib.code_judge import CodeJudge, read_submission
>>> with CodeJudge() as judge:                                                            # doctest: +SKIP
...     judgement = judge.judge(read_submission(request))
...     judgement.verdict, judgement.passed, judgement.total

A submission goes through ``submission`` (what was asked), ``extraction`` (which program), ``test_lists`` (which tests),
``judge`` and ``submission_judging`` (compile once, run side by side on ``workers``), ``run_verdict`` (one run to one
verdict), ``comparison`` (right or not) and ``responses`` (back on the wire). What a language needs is in ``languages``,
where this machine has it in ``toolchains``; ``headers`` and ``libraries`` are compiled before any program. Invariant: a
fault of the judge is never a verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rewards_lib.code_judge.judge import CodeJudge
    from rewards_lib.code_judge.languages import LANGUAGES, find_language
    from rewards_lib.code_judge.submission import CodeRun, Submission, read_code_run, read_submission
    from rewards_lib.code_judge.verdicts import Judgement, TestCase, TestOutcome, Verdict

__all__ = [
    "LANGUAGES", "CodeJudge", "CodeRun", "Judgement", "Submission", "TestCase", "TestOutcome", "Verdict",
    "find_language", "read_code_run", "read_submission",
]  # fmt: skip

_HOMES = {
    "LANGUAGES": "languages", "find_language": "languages", "CodeJudge": "judge", "CodeRun": "submission",
    "Submission": "submission", "read_code_run": "submission", "read_submission": "submission",
    "Judgement": "verdicts", "TestCase": "verdicts", "TestOutcome": "verdicts", "Verdict": "verdicts",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import a name when it is first asked for: starting up must not cost what is never used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)

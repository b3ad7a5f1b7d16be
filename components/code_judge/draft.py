"""The submission on the Code judge page: its draft, its examples, and what is wrong with it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from components import drafts, examples, undo
from components.i18n import _
from components.state import OpenDraft
from rewards_lib.code_judge import LANGUAGES, Submission, read_submission
from rewards_lib.contract import JsonObject
from rewards_lib.strict_json import read_json, write_json

NAME = "code_judge"
EXAMPLES = ("submission", "submission_cpp", "submission_checker")
COMPARE_MODES = ("lines", "tokens")


def open_submission() -> OpenDraft:
    """The submission as it was left, or the first example on the first visit."""
    draft = drafts.open_draft("payload", NAME, lambda: from_request(_example(EXAMPLES[0])))
    drafts.autosave(draft, draft.content)
    return draft


def example_label(name: str) -> str:
    """What an example is called."""
    return {
        "submission": _("Python, wrong on one test"),
        "submission_cpp": _("C++, accepted"),
        "submission_checker": _("Any right answer, by a checker"),
    }[name]


def load_example(draft: OpenDraft, name: str) -> None:
    """Put an example in the place of the submission, with a way back."""
    undo.replace(_("Loaded the example: {name}.", name=example_label(name)), (draft, from_request(_example(name))))


def _example(name: str) -> JsonObject:
    request: JsonObject = read_json(examples.read(f"code/{name}.json"))
    return request


def from_request(request: JsonObject) -> dict[str, Any]:
    """A ``/submit`` request as the page edits it."""
    config = request["config"]
    extra = config.get("extra") or {}
    checker, seconds = extra.get("checker") or {}, config.get("run_timeout")
    return {
        "completion": request["completion"], "tests": write_json(config["provided_data"]["test"], indent=1),
        "language": config["language"], "seconds": float(seconds) if seconds else None, "memory_mb": 1024,
        "compare": extra.get("compare", "lines"), "float_tol": extra.get("float_tol", 1e-6),
        "ignore_case": bool(extra.get("ignore_case")), "run_all": bool(extra.get("run_all_cases")),
        "checker": checker.get("code", ""), "checker_language": checker.get("language", "python"),
    }  # fmt: skip


def to_request(content: dict[str, Any]) -> JsonObject:
    """The ``/submit`` request that the page's submission stands for. Raises InputError for tests that are not JSON."""
    checker = {"language": content["checker_language"], "code": content["checker"]}
    extra = {
        "compare": content["compare"], "float_tol": content["float_tol"], "ignore_case": content["ignore_case"],
        "run_all_cases": content["run_all"],
        "checker": checker if content["checker"].strip() else None,
    }  # fmt: skip
    config = {
        "dataset_type": "CommonOJDataset", "language": content["language"], "run_timeout": content["seconds"],
        "memory_limit_MB": content["memory_mb"], "extra": extra, "provided_data": {"test": _tests(content["tests"])},
    }  # fmt: skip
    return {"dataset": "console", "id": 0, "completion": content["completion"], "config": config}


def _tests(text: str) -> Any:
    """Tests as they were pasted: JSON, one test a line, or an address."""
    stripped = text.strip()
    return read_json(text, name=_("Tests")) if stripped.startswith(("[", '"')) else stripped


def submission_of(content: dict[str, Any]) -> Submission:
    """The submission, checked. Raises InputError with the place of what is wrong."""
    return read_submission(to_request(content))


def settings(draft: OpenDraft) -> dict[str, Any]:
    """Draw the language, the limits and the rules of comparison; returns what is chosen."""
    content, version = draft.content, draft.epoch
    modes = {"lines": _("lines"), "tokens": _("words")}
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        language = st.selectbox(
            _("Language"), list(LANGUAGES), list(LANGUAGES).index(content["language"]), width=140,
            format_func=lambda name: LANGUAGES[name].title, key=f"judge_language_{version}",
        )  # fmt: skip
        seconds = st.number_input(
            _("CPU seconds a test"), 0.1, 600.0, content["seconds"], 0.5, width=150, key=f"judge_seconds_{version}",
            placeholder=f"{LANGUAGES[language].seconds:g}",
            help=_("Processor time, so that a busy machine changes no verdict; empty takes the language's default."),
        )  # fmt: skip
        memory = st.number_input(
            _("Memory (MB)"), 16, 16_384, content["memory_mb"], 256, width=130, key=f"judge_memory_{version}"
        )
        mode = st.selectbox(
            _("Compare"), COMPARE_MODES, COMPARE_MODES.index(content["compare"]), width=130,
            format_func=modes.__getitem__,
            key=f"judge_compare_{version}",
        )  # fmt: skip
        run_all = st.toggle(_("Run every test"), content["run_all"], key=f"judge_all_{version}")
    chosen = {"language": language, "seconds": seconds, "memory_mb": memory, "compare": mode, "run_all": run_all}
    return chosen | _more_rules(content, version)


def _more_rules(content: dict[str, Any], version: int) -> dict[str, Any]:
    """The rules that few problems need."""
    with st.expander(_("Tolerance, case, checker"), expanded=bool(content["checker"]), key=f"judge_rules_{version}"):
        with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
            tolerance = st.number_input(
                _("Float tolerance"), 0.0, 1.0, content["float_tol"], 1e-6, format="%g", width=150,
                key=f"judge_tolerance_{version}",
                help=_("Two numbers of which one is a float may differ by this, relative above 1; integers are exact."),
            )  # fmt: skip
            ignore_case = st.toggle(_("Ignore case"), content["ignore_case"], key=f"judge_case_{version}")
            languages = ("python", "cpp", "c")
            checker_language = st.selectbox(
                _("Checker language"), languages, languages.index(content["checker_language"]), width=150,
                format_func=lambda name: LANGUAGES[name].title, key=f"judge_checker_language_{version}",
            )  # fmt: skip
        checker = st.text_area(
            _("Checker"), content["checker"], height=150, key=f"judge_checker_{version}",
            help=_(
                "A program that is called with the names of three files: input, output, answer. Status 0 accepts, 1 "
                "refuses, and what it writes to standard error is shown. Without one, outputs are compared."
            ),
        )  # fmt: skip
    return {
        "float_tol": tolerance, "ignore_case": ignore_case, "checker": checker, "checker_language": checker_language,
    }  # fmt: skip

"""What is asked of the judge: a completion or a program, its tests, and how to compare.

Decodes the requests of SandboxFusion (bytedance/SandboxFusion) and Ark's envelope around them. Invariant: what is
unusable is refused with one sentence and its place, before anything runs.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Literal

from rewards_lib.code_judge.comparison import MODES, CompareRules
from rewards_lib.code_judge.languages import Language, find_language
from rewards_lib.code_judge.verdicts import Scoring
from rewards_lib.contract import Json, JsonObject
from rewards_lib.errors import InputError

DATASET_TYPES = ("CommonOJDataset",)
SCORINGS = ("all", "fraction")
COMPILE_SECONDS, MEMORY_MB = 10.0, 1024
MOST_SECONDS, MOST_MEMORY_MB, MOST_FILES = 600.0, 16_384, 200
CHECKER_LANGUAGES = ("python", "cpp", "c")
_DEFAULT_RUN_SECONDS = 10.0


class RequestError(InputError):
    """A request whose configuration is missing or not allowed."""

    code, http_status = "request", 400


@dataclass(frozen=True, slots=True)
class Checker:
    """A program that decides whether an output is right, for problems with more than one right answer."""

    language: Language
    code: str


@dataclass(frozen=True, slots=True)
class Submission:
    """A completion and everything that is needed to judge it."""

    completion: str
    language: Language
    tests: Json
    """The tests as they came: a list, its JSON text, or an address (see ``test_lists``)."""
    id: int | str = 0
    compile_seconds: float = COMPILE_SECONDS
    run_seconds: float | None = None
    """Processor time of one test; None is the language's default."""
    memory_mb: int = MEMORY_MB
    run_all: bool = False
    """Go on after the first test that is not passed."""
    full_texts: bool = False
    """Tell inputs and outputs whole."""
    rules: CompareRules = field(default_factory=CompareRules)
    checker: Checker | None = None
    scoring: Scoring = "all"
    allow_hosts: tuple[str, ...] = ()
    """Hosts that these tests may be fetched from, beside the judge's own list; never taken from a request."""
    is_program: bool = False
    """``completion`` is the program itself, nothing is to be taken out of it."""

    @property
    def seconds(self) -> float:
        """Processor time of one test."""
        return self.run_seconds or self.language.seconds


@dataclass(frozen=True, slots=True)
class CodeRun:
    """A program to run once, without a verdict."""

    code: str
    language: Language
    stdin: str = ""
    compile_seconds: float = COMPILE_SECONDS
    run_seconds: float = _DEFAULT_RUN_SECONDS
    memory_mb: int = MEMORY_MB
    files: Mapping[str, bytes] = field(default_factory=dict)
    fetch_files: tuple[str, ...] = ()


def read_submission(request: Any) -> Submission:
    """Decode a ``/submit`` request. Raises RequestError or InputError with the place of what is wrong."""
    body = open_envelope(request)
    config = _mapping(body, "config")
    if body.get("custom_extract_logic") or config.get("custom_extract_logic"):
        raise RequestError(
            "custom_extract_logic is not supported.", where="config.custom_extract_logic",
            remedy="Code of a client is never run in the judge; send the program in a tagged block.",
        )  # fmt: skip
    kind = config.get("dataset_type")
    if kind not in DATASET_TYPES:
        raise RequestError(
            "The dataset type {kind!r} is not known.", where="config.dataset_type", kind=kind,
            remedy="Known are: {names}.", names=", ".join(DATASET_TYPES),
        )  # fmt: skip
    completion = body.get("completion")
    if not isinstance(completion, str):
        raise InputError("The completion must be a text.", where="completion")
    number = body.get("id", 0)
    extra = _mapping(config, "extra", "config.")
    return Submission(
        completion, _language(config, "config.language"), _mapping(config, "provided_data", "config.").get("test"),
        id=number if isinstance(number, (int, str)) else 0,
        compile_seconds=_seconds(config, "compile_timeout", COMPILE_SECONDS, before="config."),
        run_seconds=_seconds(config, "run_timeout", 0.0, before="config.") or None,
        memory_mb=_memory(config, "memory_limit_MB", before="config."), run_all=_flag(extra, "run_all_cases"),
        full_texts=_flag(extra, "return_full_case"), rules=read_rules(extra), checker=_checker(extra),
        scoring=_choice(extra, "scoring", SCORINGS),
    )  # fmt: skip


def read_code_run(request: Any) -> CodeRun:
    """Decode a ``/run_code`` request. Raises RequestError or InputError with the place of what is wrong."""
    body = open_envelope(request)
    code, stdin = body.get("code"), body.get("stdin") or ""
    if not isinstance(code, str):
        raise InputError("The code must be a text.", where="code")
    if not isinstance(stdin, str):
        raise InputError("Standard input must be a text.", where="stdin")
    fetch = body.get("fetch_files") or []
    if not isinstance(fetch, list):
        raise InputError("fetch_files must be a list of file names.", where="fetch_files")
    if len(_mapping(body, "files")) + len(fetch) > MOST_FILES:
        raise InputError("At most {most} files go in and out.", where="files", most=MOST_FILES)
    return CodeRun(
        code, _language(body, "language"), stdin, _seconds(body, "compile_timeout", COMPILE_SECONDS),
        _seconds(body, "run_timeout", _DEFAULT_RUN_SECONDS), _memory(body, "memory_limit_MB"),
        {
            _file_name(name, "files"): _file_content(name, text)
            for name, text in _mapping(body, "files").items()
            if text is not None  # SandboxFusion's clients send null for a file that is only named
        },
        tuple(_file_name(name, "fetch_files") for name in fetch),
    )  # fmt: skip


def open_envelope(request: Any) -> JsonObject:
    """Take a request out of Ark's envelope ``{"data", "method", "path", "headers"}`` where it is in one."""
    if not isinstance(request, dict):
        raise InputError("The request must be a JSON object.")
    data = request.get("data")
    is_envelope = isinstance(data, dict) and not request.keys() & {"completion", "code", "config"}
    return data if is_envelope and isinstance(data, dict) else request


def read_rules(extra: Mapping[str, Any]) -> CompareRules:
    """Decode the rules of comparison: ``compare``, ``float_tol``, ``ignore_case``."""
    tolerance = extra.get("float_tol", CompareRules().float_tol)
    if not _is_number(tolerance) or not 0 <= tolerance <= 1:
        raise InputError("The tolerance must be a number from 0 to 1.", where="config.extra.float_tol")
    mode: Literal["lines", "tokens"] = "tokens" if _choice(extra, "compare", MODES) == "tokens" else "lines"
    return CompareRules(mode, float(tolerance), _flag(extra, "ignore_case"))


def _checker(extra: Mapping[str, Any]) -> Checker | None:
    given = extra.get("checker")
    if given in (None, "", {}):
        return None
    if isinstance(given, str):
        given = {"language": extra.get("checker_language", "cpp"), "code": given}
    if not isinstance(given, dict) or not isinstance(given.get("code"), str) or not given["code"].strip():
        raise InputError("A checker is {shape}.", where="config.extra.checker", shape='{"language", "code"}')
    language = _language(given, "config.extra.checker.language")
    if language.name not in CHECKER_LANGUAGES:
        raise InputError(
            "A checker is written in {names}.", where="config.extra.checker.language",
            names=", ".join(CHECKER_LANGUAGES),
        )  # fmt: skip
    return Checker(language, given["code"])


def _language(row: Mapping[str, Any], where: str) -> Language:
    name = row.get("language")
    if not isinstance(name, str) or not name.strip():
        raise RequestError("No language is named.", where=where, remedy="Name one, for example python or cpp.")
    try:
        return find_language(name)
    except InputError as error:
        known = error.remedy
        raise RequestError(
            "The language {name!r} is not known.", where=where, name=name, remedy="{known}", known=known or ""
        ) from None


def _mapping(row: Mapping[str, Any], key: str, before: str = "") -> dict[str, Any]:
    value = row.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError("An object belongs here.", where=before + key)
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _seconds(row: Mapping[str, Any], key: str, default: float, *, before: str = "") -> float:
    value = row.get(key)
    if value is None:
        return default
    if not _is_number(value) or not 0 < value <= MOST_SECONDS:
        raise InputError("Seconds must be above 0 and at most {most:g}.", where=before + key, most=MOST_SECONDS)
    return float(value)


def _memory(row: Mapping[str, Any], key: str, *, before: str = "") -> int:
    value = row.get(key)
    if value is None or value == -1:
        return MEMORY_MB
    if not _is_number(value) or not 1 <= value <= MOST_MEMORY_MB:
        raise InputError("The memory limit must be 1 to {most} MB.", where=before + key, most=MOST_MEMORY_MB)
    return int(value)


def _flag(extra: Mapping[str, Any], key: str) -> bool:
    value = extra.get(key)
    if value not in (None, True, False):
        raise InputError("This must be true or false.", where=f"config.extra.{key}")
    return bool(value)


def _choice(extra: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    value = extra.get(key)
    if value is None:
        return allowed[0]
    if value not in allowed:
        raise InputError(
            "{value!r} is not known here.", where=f"config.extra.{key}", value=value,
            remedy="Known are: {names}.", names=", ".join(allowed),
        )  # fmt: skip
    return str(value)


def _file_name(name: Any, where: str) -> str:
    """A relative name that stays in the program's folder."""
    path = PurePosixPath(name) if isinstance(name, str) and name and "\0" not in name else None
    if path is None or path.is_absolute() or ".." in path.parts or not path.parts:
        raise InputError("{name!r} is no file of the program's folder.", where=where, name=name)
    return str(path)


def _file_content(name: Any, text: Any) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise InputError("The file {name} must be base64.", where="files", name=name) from None

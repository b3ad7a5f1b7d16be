"""Tests in every shape they come in, read as a list of ``TestCase``.

Shapes: ``{"input": {"stdin"}, "output": {"stdout"}}``, the same typed as ``StandardIO``, plain ``{"stdin", "stdout"}``,
a list of these, the list as JSON text or JSON lines, and an address they are fetched from. Invariant: no tests, and
tests of an unknown kind, are refused; nothing is accepted by an empty list.
"""

from __future__ import annotations

from typing import Any

from rewards_lib.code_judge.verdicts import TestCase
from rewards_lib.contract import Json
from rewards_lib.errors import InputError
from rewards_lib.strict_json import read_json

_ADDRESS_KEYS = ("url", "location")


def address_of(tests: Json) -> str | None:
    """The address that tests are to be fetched from; None when they came along."""
    if isinstance(tests, dict):
        found = next((tests[key] for key in _ADDRESS_KEYS if _is_address(tests.get(key))), None)
        return str(found) if found is not None else None
    return str(tests) if _is_address(tests) else None


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and value.strip().startswith(("http://", "https://"))


def read_tests(tests: Json) -> list[TestCase]:
    """Read a list of tests, or its JSON text. Raises InputError that names the entry that is unusable."""
    if isinstance(tests, str):
        tests = _from_text(tests)
    if isinstance(tests, dict) and isinstance(tests.get("test_cases", tests.get("tests")), list):
        tests = tests.get("test_cases", tests.get("tests"))
    if not isinstance(tests, list):
        raise InputError("Tests must be a list.", where="tests", remedy="Write {shape}.", shape=_SHAPE)
    if not tests:
        raise InputError("There are no tests, so nothing can be accepted.", where="tests")
    return [_case(entry, f"tests[{index}]") for index, entry in enumerate(tests)]


def _from_text(text: str) -> Any:
    """JSON, or one test a line."""
    if not text.strip():
        raise InputError("There are no tests, so nothing can be accepted.", where="tests")
    try:
        return read_json(text, name="tests")
    except InputError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or not all(line.lstrip().startswith("{") for line in lines):
            raise
        return [read_json(line, name=f"tests, line {number}") for number, line in enumerate(lines, 1)]


_SHAPE = '[{"input": {"stdin": "1 2\\n"}, "output": {"stdout": "3\\n"}}]'


def _case(entry: Any, where: str) -> TestCase:
    if not isinstance(entry, dict):
        raise InputError("A test must be an object.", where=where, remedy="Write {shape}.", shape=_SHAPE)
    kind = entry.get("type")
    if isinstance(entry.get("data"), dict):
        if kind != "StandardIO":
            raise InputError(
                "Tests of the type {kind!r} cannot be judged.", where=f"{where}.type", kind=kind,
                remedy="Only StandardIO can: a program that reads standard input and writes standard output.",
            )  # fmt: skip
        return _case(entry["data"], f"{where}.data")
    if "stdin" in entry or "stdout" in entry:
        return TestCase(_text(entry.get("stdin", ""), f"{where}.stdin"), _text(entry.get("stdout"), f"{where}.stdout"))
    return TestCase(
        _stream(entry.get("input", ""), "stdin", f"{where}.input", default=""),
        _stream(entry.get("output"), "stdout", f"{where}.output", default=None),
    )


def _stream(value: Any, key: str, where: str, *, default: str | None) -> str:
    if isinstance(value, dict):
        return _text(value.get(key, default), f"{where}.{key}")
    return _text(value, where)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise InputError("A text belongs here.", where=where, remedy="Write {shape}.", shape=_SHAPE)
    return value

"""Tests in every shape they come in, read as a list of ``TestCase``.

Shapes: ``{"input": {"stdin"}, "output": {"stdout"}}``, the same typed as ``StandardIO``, plain ``{"stdin", "stdout"}``
and ``{"input", "output"}``, a list of these, the columns ``{"inputs": [...], "outputs": [...]}`` of APPS, TACO and
CodeContests, any of them as JSON text or JSON lines, and an address they are fetched from. Invariant: no tests, and
tests of another kind (calls of a function, files), are refused; nothing is accepted by an empty list.
"""

from __future__ import annotations

from typing import Any

from rewards_lib.code_judge.verdicts import TestCase
from rewards_lib.contract import Json
from rewards_lib.errors import InputError
from rewards_lib.strict_json import read_json

_ADDRESS_KEYS = ("url", "location")
_KINDS = (None, "", "StandardIO", "stdin", "stdin_stdout", "stdio")
"""How data sets call tests of a program that reads standard input and writes standard output."""


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
    for _ in range(2):  # JSON text in a table of JSON is text within text
        if isinstance(tests, str):
            tests = _from_text(tests)
    if isinstance(tests, dict):
        tests = _from_object(tests)
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


def _from_object(tests: dict[str, Any]) -> Any:
    """A list under a name, or one column of inputs and one of outputs."""
    listed = tests.get("test_cases", tests.get("tests"))
    if isinstance(listed, list):
        return listed
    for names in (("inputs", "outputs"), ("input", "output")):
        inputs, outputs = (tests.get(name) for name in names)
        if isinstance(inputs, list) and isinstance(outputs, list):
            _refuse_calls(tests, "tests")
            if len(inputs) != len(outputs):
                raise InputError(
                    "There are {inputs} inputs and {outputs} outputs.", where=f"tests.{names[1]}",
                    inputs=len(inputs), outputs=len(outputs),
                )  # fmt: skip
            columns = zip(_column(inputs, f"tests.{names[0]}"), _column(outputs, f"tests.{names[1]}"), strict=True)
            return [{"stdin": stdin, "stdout": stdout} for stdin, stdout in columns]
    return tests


def _column(values: list[Any], where: str) -> list[str]:
    """Texts, each as one or as the list of its lines."""
    return [
        "\n".join(value) if isinstance(value, list) and all(isinstance(line, str) for line in value)
        else _text(value, f"{where}[{index}]")
        for index, value in enumerate(values)
    ]  # fmt: skip


def _refuse_calls(row: dict[str, Any], where: str) -> None:
    """Refuse tests that call a function: compared as outputs they would refuse every right program."""
    key = next((key for key in ("fn_name", "func_name", "assert_case") if row.get(key)), None)
    if key is not None:
        raise InputError(
            "Tests that call a function cannot be judged.", where=f"{where}.{key}",
            remedy="Only StandardIO can: a program that reads standard input and writes standard output.",
        )  # fmt: skip


_SHAPE = '[{"input": {"stdin": "1 2\\n"}, "output": {"stdout": "3\\n"}}]'


def _case(entry: Any, where: str) -> TestCase:
    if not isinstance(entry, dict):
        raise InputError("A test must be an object.", where=where, remedy="Write {shape}.", shape=_SHAPE)
    _refuse_calls(entry, where)
    for key in ("type", "testtype"):
        if entry.get(key) not in _KINDS:
            raise InputError(
                "Tests of the type {kind!r} cannot be judged.", where=f"{where}.{key}", kind=entry[key],
                remedy="Only StandardIO can: a program that reads standard input and writes standard output.",
            )  # fmt: skip
    if isinstance(entry.get("data"), dict):
        return _case(entry["data"], f"{where}.data")
    if "stdin" in entry or "stdout" in entry:
        return TestCase(
            _text(_or_empty(entry.get("stdin")), f"{where}.stdin"), _text(entry.get("stdout"), f"{where}.stdout")
        )
    return TestCase(
        _stream(_or_empty(entry.get("input")), "stdin", f"{where}.input", default=""),
        _stream(entry.get("output"), "stdout", f"{where}.output", default=None),
    )


def _or_empty(value: Any) -> Any:
    """A program that reads nothing has no input; an expected output must always be told."""
    return "" if value is None else value


def _stream(value: Any, key: str, where: str, *, default: str | None) -> str:
    if isinstance(value, dict):
        file = next((name for name in value if name != key), None)
        if file is not None:
            raise InputError(
                "Tests with files cannot be judged: a program reads standard input and writes standard output.",
                where=f"{where}.{file}",
            )  # fmt: skip
        return _text(default if value.get(key) is None else value[key], f"{where}.{key}")
    return _text(value, where)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise InputError("A text belongs here.", where=where, remedy="Write {shape}.", shape=_SHAPE)
    return value

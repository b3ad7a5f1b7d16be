"""Properties of the execution policy over generated text, names and programs."""

from __future__ import annotations

import logging
import math
import sys
import types
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards_lib.executor.worker import facades, names
from rewards_lib.executor.worker.compiling import compile_source

FRAGMENTS = [
    "def f(x):\n    return x\n", "class A:\n    y = 1\n", "x = 1\n", "(", ")", "[", "]", "{", "}", ":", "\n", "    ",
    "\t", "'", '"""', "\\", "\x00", "é", "\u2028", "\x0c", "lambda ", "match x:\n    case ", "__class__", ".",
    "await ", "async ", "f'{", "}'", "import os\n", "from x import ", "*", "**", "->", ":=", "except* ", "try:\n",
    "_attr_", "eval(", "0x", "1e999", "\ud800", "# coding: latin-1\n",
]  # fmt: skip


@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join)))
@settings(max_examples=300, deadline=None)
def test_check_never_raises_and_places_every_finding(source):
    code, findings = compile_source(source)
    assert (code is None) == any(row["severity"] == "error" for row in findings)
    for row in findings:
        assert row["line"] >= 1
        assert 1 <= row["column"] < row["end_column"]


@pytest.fixture(scope="module", autouse=True)
def user_module_is_put_away() -> Iterator[None]:
    """Reward code finds its own module in ``sys.modules``; other tests must not."""
    yield
    sys.modules.pop(names.USER_MODULE, None)


@pytest.fixture(scope="module")
def namespace() -> dict[str, object]:
    """The globals of reward code, with objects in them from which escapes have started."""
    gate = facades.ImportGate(frozenset())
    module = facades.user_module(gate)
    error = None
    try:
        logging.nope  # noqa: B018
    except AttributeError as caught:
        error = caught
    generator = (i for i in [1])
    own = {
        "error": error, "generator": generator, "function": lambda: None, "number": 1, "text": "{0}", "kind": int,
        "instance": object(), "bound": [].append, "builtin": print, "library": gate("logging"), "system": gate("os"),
    }  # fmt: skip
    module.__dict__.update(own)
    return module.__dict__


DANGEROUS = [
    *sorted(names.READ_DUNDERS | names.REFUSED_ATTRIBUTES),
    "__globals__", "__code__", "__dict__", "__base__", "__bases__", "__mro__", "__subclasses__", "__builtins__",
    "__self__", "__func__", "__closure__", "__wrapped__", "__reduce__", "__reduce_ex__", "__getattribute__",
    "__loader__", "__spec__", "obj", "args", "format", "register", "root", "manager", "handlers", "path", "environ",
    "sys", "os", "re", "traceback", "threading", "_module", "_sys", "_State", "gate", "name", "weakref", "io",
]  # fmt: skip
STARTS = [
    "error",
    "generator",
    "function",
    "number",
    "text",
    "kind",
    "instance",
    "bound",
    "builtin",
    "library",
    "system",
]
INTERNAL = (types.ModuleType, types.FrameType, types.CodeType)


@given(st.sampled_from(STARTS), st.lists(st.sampled_from(DANGEROUS), min_size=1, max_size=5), st.booleans())
@settings(max_examples=600, deadline=None)
def test_no_chain_of_attributes_reaches_an_interpreter_internal(namespace, start, chain, by_name):
    if by_name:
        expression = start
        for name in chain:
            expression = f"getattr({expression}, {name!r})"
    else:
        expression = ".".join([start, *chain])
    code, findings = compile_source(f"found = {expression}")
    namespace.pop("found", None)
    if code is None:
        assert findings
        return
    try:
        exec(code, namespace)
    except (AttributeError, TypeError):
        return
    found = namespace["found"]
    assert not isinstance(found, INTERNAL)
    assert not (isinstance(found, type) and issubclass(found, (type, *INTERNAL)))
    assert found is not namespace


NUMBERS = st.one_of(st.integers(-9, 9), st.floats(-9, 9, allow_nan=False).map(lambda x: round(x, 2)))
EXPRESSIONS = st.recursive(
    st.one_of(NUMBERS.map(lambda n: f"({n})"), st.sampled_from(["x", "point.value", "table['k']", "len(words)"])),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "==", "<", "and", "or"]), inner).map(
            lambda p: f"({' '.join(p)})"
        ),
        st.tuples(inner, st.integers(0, 3)).map(lambda p: f"({p[0]} ** {p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"({p[0]} if {p[1]} else 0)"),
        st.tuples(inner, inner).map(lambda p: f"sum([i for i in [{p[0]}, {p[1]}]])"),
        inner.map(lambda e: f"(lambda _y, *rest: _y)({e})"),
        inner.map(lambda e: f"float('{{:.3f}}'.format({e}))"),
        inner.map(lambda e: f"Point({e}).twice()"),
        inner.map(lambda e: f"(z := {e})"),
    ),
    max_leaves=8,
)
PROGRAM = """
class Point:
    def __init__(self, value):
        self.value = self._kept = value
    def twice(self):
        self.value += self._kept
        return self.value
x, words, table, point = 3, ['a', 'b'], {{'k': 2}}, Point(5)
result = {expression}
"""


def outcome(code, namespace):
    """The value of ``result``, or the kind of exception."""
    try:
        exec(code, namespace)
    except ArithmeticError as error:
        return type(error)
    value = namespace["result"]
    return "nan" if isinstance(value, float) and math.isnan(value) else value


@given(EXPRESSIONS)
@settings(max_examples=150, deadline=None)
def test_ordinary_programs_give_what_plain_python_gives(expression):
    source = PROGRAM.format(expression=expression)
    try:
        plain = compile(source, "plain.py", "exec")
    except SyntaxError:
        assert compile_source(source)[0] is None
        return
    code, findings = compile_source(source)
    assert code is not None, findings
    module = facades.user_module(facades.ImportGate(frozenset()))
    assert outcome(code, module.__dict__) == outcome(plain, {})

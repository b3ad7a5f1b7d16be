"""Ways around the execution policy that were found, run where nothing else holds (tier C).

Each prints WON when it has reached an interpreter internal, a file or a library's private code; none of them does harm.
"""

from __future__ import annotations

import pytest
from executor_inputs import HEADER, payload_of

from rewards_lib.executor import FunctionSource, Limits

ESCAPES = {
    "a subclass redirects another name of sys": """
import contextlib
class Redirect(contextlib.redirect_stdout):
    _stream = "modules"
def attack():
    redirect = Redirect({})
    redirect.__enter__()
    return "os" in redirect._old_targets[0]
""",
    "a library class becomes the author's by its module name": """
import functools, typing
def mine(): pass
def attack():
    reference = typing.get_args(typing.List["1 + 1"])[0]
    functools.update_wrapper(type(reference), mine)
    return reference._evaluate({}, {}, frozenset()) == 2
""",
    "private methods of a library class are copied onto a function": """
import functools, typing
def attack():
    reference = typing.get_args(typing.List["1 + 1"])[0]
    @functools.wraps(type(reference))
    def mine(): pass
    return mine._evaluate(reference, {}, {}, frozenset()) == 2
""",
    "a forward reference is evaluated": """
import typing
def attack():
    return typing.get_args(typing.List["1 + 1"])[0]._evaluate({}, {}, frozenset()) == 2
""",
    "the class of a stream opens files": """
import sys
def attack():
    return type(sys.stdout.buffer.raw)("/etc/passwd").read() != b""
""",
    "an own event loop starts processes": """
import asyncio
class Loop(asyncio.SelectorEventLoop): pass
def attack():
    return callable(Loop()._make_subprocess_transport)
""",
    "the real type is found through a class": """
def attack():
    return int.__class__("X", (), {"a": 1}).a == 1
""",
    "the real type is found through typing": """
import typing
def attack():
    return typing.get_origin(typing.Type[int])("X", (), {"a": 1}).a == 1
""",
    "a metaclass builds a class past the class statement": """
import abc
def attack():
    return abc.ABCMeta("X", (abc.ABC,), {"__match_args__": ("gi_frame",)}) is not None
""",
    "a named tuple names an internal": """
from collections import namedtuple
def attack():
    return namedtuple("N", "gi_frame").__doc__ is not None
""",
    "a functional NamedTuple names an internal": """
import typing
def attack():
    return typing.NamedTuple("N", [("gi_frame", object)]).__doc__ is not None
""",
    "a runtime protocol matches anything": """
import typing
def attack():
    return typing.runtime_checkable is not None
""",
    "an abstract class adopts a frame's class": """
import abc
class A(abc.ABC): pass
def attack():
    return A.register(type(i for i in [])) is not None
""",
    "logging formats past the guard": """
import logging
def attack():
    formatter = logging.Formatter("{msg.__class__.__mro__}", style="{")
    return "object" in formatter.format(logging.LogRecord("n", 1, "p", 1, "m", (), None))
""",
    "UserString formats past the guard": """
import collections
def attack():
    return "object" in collections.UserString("{0.__class__.__mro__}").format(1)
""",
    "super walks around a stand-in and opens a file": """
import xml.etree.ElementTree as ET
class Tree(ET.ElementTree):
    def go(self, path): super(ET.ElementTree, self).parse(path)
def attack():
    try:
        ET.ElementTree().parse("/etc/passwd")
    except ET.ParseError:
        return True
""",
    "a frame summary reads lines of any file": """
import traceback
def attack():
    return "root" in type(traceback.extract_stack()[0])("/etc/passwd", 1, "f").line
""",
    "a guard's own function gives its globals away": """
def attack():
    return getattr(getattr, "__glob" + "als__") is not None
""",
    "a module is taken out of an AttributeError": """
import logging
def attack():
    try:
        logging.Logger.nope
    except AttributeError as error:
        return getattr(error, "obj").__dict__ is not None
""",
    "a facade gives its state away": """
import json
def attack():
    names = ["_m", "_module", "_states", "_State__module", "__wrapped__", "__dict__", "__getattr__", "module", "gate"]
    return any(hasattr(json, name) for name in names)
""",
    "a facade is copied": """
import copy, json
def attack():
    return copy.copy(json) is not json
""",
    "the class of a function builds functions": """
def attack():
    function = type(attack)
    return function(attack.__code__, {}) is not None if hasattr(attack, "__code__") else False
""",
    "an exception in a pattern gives up its module": """
import logging
class Holder: pass
def attack():
    try:
        logging.nope
    except AttributeError as error:
        return hasattr(error, "obj") and hasattr(error.obj, "__dict__")
""",
    "an enum member puts an internal into another module": """
import enum
def attack():
    return enum.global_enum is not None
""",
    "functools.partial calls the real getattr": """
import functools
def attack():
    return functools.partial(getattr, object)("__subcl" + "asses__") is not None
""",
    "a signal handler gets a frame": """
import signal
seen = []
def attack():
    signal.signal(signal.SIGALRM, lambda number, frame: seen.append(frame))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    while not seen:
        sum(range(1000))
    return seen[0] is not None
""",
}


@pytest.mark.parametrize("name", ESCAPES)
def test_a_known_way_around_the_policy_is_closed(make_confined, name):
    source = (
        HEADER + ESCAPES[name] + "\ndef reward_fn(context, sample, completions):\n"
        "    if attack():\n        print('WO' + 'N')\n    return RewardFunctionResult([0.0])\n"
    )
    weakest = make_confined("tier=C")
    result = weakest.run_function(FunctionSource(source), payload_of("x"), limits=Limits(wall_seconds=5))
    assert "WON" not in result.logs
    assert "time limit" not in str(result.error)


def test_ordinary_uses_of_what_was_closed_still_work(run):
    source = """
import contextlib, functools, io, logging, sys, types, typing, xml.etree.ElementTree as ET
from collections import namedtuple
Pair = namedtuple("Pair", "a b")
class Triple(typing.NamedTuple):
    a: int
    b: int = 2
class Box:
    def __init__(self): self._kept = types.SimpleNamespace(_n=1)
    def read(self): return self._kept._n
class Small(Box):
    def read(self): return super().read() + self._kept._n
def twice(f):
    @functools.wraps(f)
    def inner(*a): return 2 * f(*a)
    inner._calls = 0
    return inner
@twice
def one():
    "says one"
    return 1
def reward_fn(context, sample, completions):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        print("kept")
    assert text.getvalue() == "kept\\n" and one() == 2 and one.__doc__ == "says one" and one._calls == 0
    assert Pair(1, 2)._replace(a=3) == (3, 2) and Triple(1)._asdict() == {"a": 1, "b": 2} and Small().read() == 2
    record = logging.LogRecord("n", 20, "p", 1, "hello %s", ("you",), None)
    assert logging.Formatter("{levelname}:{message:>12}", style="{").format(record) == "INFO:   hello you"
    tree = ET.parse(io.StringIO("<a><b>4</b></a>"))
    tree.getroot().find("b").text = "5"
    out = io.BytesIO(); tree.write(out)
    assert b"<b>5</b>" in out.getvalue()
    sys.stdout.write("plain"); sys.stdout.flush()
    print("{0.a}{1[k]!r:>4}".format(Pair(1, 2), {"k": "v"}), "{x}".format_map({"x": 1}))
    return RewardFunctionResult([1.0, 1.0])
"""
    result = run(source)
    assert (result.error, result.logs) == (None, "plain1 'v' 1\n")

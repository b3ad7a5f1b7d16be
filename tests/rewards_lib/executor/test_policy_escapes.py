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
    "an own context of ssl opens a file for its keys": """
import ssl
class Context(ssl.SSLContext): pass
def attack():
    setattr(Context(ssl.PROTOCOL_TLS_CLIENT), "_".join(["keylog", "filename"]), "/dev/null")
    return True
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
    "another module hands out functools.wraps": """
import contextlib, typing
def attack():
    reference = typing.get_args(typing.List["1 + 1"])[0]
    @contextlib.wraps(type(reference), assigned=())
    def mine(): pass
    return mine._evaluate(reference, {}, {}, frozenset()) == 2
""",
    "another module hands out a raw socket": """
import ssl
def attack():
    return ssl.socket is not None
""",
    "a copy sets any attribute of a library class": """
import copy, typing
made, names = [], ["x"]
class A:
    __slots__ = names
    def __new__(cls): return made[0] if made else super().__new__(cls)
def attack():
    reference = typing.get_args(typing.List["1 + 1"])[0]
    one = A()
    names[0] = "__module__"
    made.append(type(reference))
    copy.copy(one)
    return reference._evaluate({}, {}, frozenset()) == 2
""",
    "a copy fills in a library's function": """
import copy, logging
made = []
class A:
    def __new__(cls): return made[0] if made else super().__new__(cls)
def attack():
    one = A()
    one.secret = 1
    made.append(logging.getLogger)
    copy.deepcopy(one)
    return hasattr(logging.getLogger, "secret")
""",
    "a field of a data class is code": """
import dataclasses, typing
def attack():
    name = '"+repr(().__class__.__base__.__subclasses__()) #'
    kind = dataclasses.dataclass(typing.TypedDict("X", {name: int}), init=False, eq=False)
    return "object" in kind.__repr__(1) or "class" in kind.__repr__(1)
""",
    "a field of a data class reads str.format": """
import dataclasses
@dataclasses.dataclass(init=False)
class P(str):
    format: object
def attack():
    match P("{0.__class__.__base__}"):
        case P(found): return "object" in found(1)
""",
    "a field of a data class reads a library's private method": """
import asyncio, dataclasses
class Own(asyncio.SelectorEventLoop): pass
@dataclasses.dataclass(init=False)
class Loop(Own):
    _make_subprocess_transport: object
def attack():
    match Loop():
        case Loop(found): return callable(found)
""",
    "a base looks plain": """
import asyncio, dataclasses
import asyncio as abc
object = abc.SelectorEventLoop
@dataclasses.dataclass(init=False)
class Loop(object):
    _make_subprocess_transport: object
def attack():
    match Loop():
        case Loop(found): return callable(found)
""",
    "an argument's action sets an attribute of a library class": """
import argparse, typing
def attack():
    reference = typing.get_args(typing.List["1 + 1"])[0]
    action = argparse.ArgumentParser().add_argument("--name", dest="__module__")
    action(None, type(reference), "reward")
    return reference._evaluate({}, {}, frozenset()) == 2
""",
    "a function calls its globals a field": """
import ast
def attack():
    attack._fields = ("__globals__", "__code__")
    return len(list(ast.iter_fields(attack))) == 2
""",
    "a library's function of the author's name has fields": """
import ast, contextlib
@contextlib.contextmanager
def own(): yield
def attack():
    own._fields = ["__globals__"]
    found = []
    class Visitor(ast.NodeTransformer):
        def visit(self, node): found.append(node); return node
    Visitor().generic_visit(own)
    return "sys" in dict(ast.iter_fields(own))["__globals__"]
""",
    "a syntax node has a field of another name": """
import ast
class Node(ast.AST):
    _fields = ("__reduce_ex__", "__class__")
def attack():
    return len(dict(ast.iter_fields(Node()))) == 2
""",
    "a text codec opens a file": """
import codecs
def attack():
    return codecs.open("/etc/passwd") is not None
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
import abc, asyncio, codecs, contextvars, copy, contextlib, dataclasses, enum, errno, fnmatch, functools
import gzip, io, logging, sys, types, typing
import xml.etree.ElementTree as ET
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
class Scored(abc.ABC):
    kind = "scored"
@dataclasses.dataclass(order=True)
class Grade(Scored):
    points: int
    more: dict = dataclasses.field(default_factory=dict, compare=False)
    format: str = dataclasses.field(default="plain", init=False)
    def __add__(self, other): return Grade(self.points + (other.points if other else 0))
    __radd__ = __add__
    def __ifloordiv__(self, other): self.points //= other; return self
class Colour(enum.Enum):
    _ignore_ = ["spare"]
    spare = 1
    RED = "red"
    @classmethod
    def _missing_(cls, value): return cls.RED
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
    first = copy.deepcopy(Grade(2, {"a": [1]}))
    assert first == Grade(2, {"a": [1]}) and Grade(3) > first and sum([Grade(1), Grade(2)]).points == 3
    match first:
        case Grade(points, more): assert (points, more) == (2, {"a": [1]})
    match Colour("unheard of"):
        case Colour.RED: assert first.format == "plain"
    first //= 2
    class Later:
        def __await__(self): return asyncio.sleep(0, 5).__await__()
    async def later(): return await Later()
    assert asyncio.run(later()) == 5 and (1).__radd__(2) == 3
    assert gzip.decompress(gzip.compress(b"a")) == codecs.encode("n", "rot13").encode() == b"a" and errno.ENOENT == 2
    from concurrent.futures import TimeoutError as Late
    assert Late is TimeoutError
    assert fnmatch.filter(["a.py"], "*.py") and contextvars.ContextVar("v", default=1).get() == 1
    @contextlib.contextmanager
    def doubled():
        "doubles"
        yield one
    assert first.points == 1 and doubled.__doc__ == "doubles" and contextlib.wraps(one)(lambda: 1).__name__ == "one"
    sys.stdout.write("plain"); sys.stdout.flush()
    print("{0.a}{1[k]!r:>4}".format(Pair(1, 2), {"k": "v"}), "{x}".format_map({"x": 1}))
    return RewardFunctionResult([1.0, 1.0])
"""
    result = run(source)
    assert (result.error, result.logs) == (None, "plain1 'v' 1\n")

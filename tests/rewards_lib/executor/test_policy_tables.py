"""The execution policy: what everyday code may do, and what is refused at which line."""

from __future__ import annotations

import pytest

from rewards_lib.executor import check_once
from rewards_lib.executor.worker.compiling import compile_source

ACCEPTED = r"""
x: int = 3
d = {}; d['a'] = 1; d['a'] += 1; del d['a']
class A:\n    def inc(self):\n        self.n += 1; self._p = 2; return self._p
class A:\n    def __secret(self): return 1\n    def f(self): return self.__secret()
class A:\n    __slots__ = ('a',)\n    __hash__ = None
class A(metaclass=ABCMeta): pass
def outer():\n    n = 0\n    def inner():\n        nonlocal n\n        n += 1\n    return inner
async def f():\n    async with a as b:\n        return [i async for i in b if await c]
class A:\n    def inc(self):\n        self._p = self.n = 0; self.n += 1; return self._p
import ast\nmatch x:\n    case ast.BinOp(left=a, op=ast.Add()): pass
class P:\n    __doc__ = ''\nmatch x:\n    case P(a=1): pass
if (n := len('abc')) > 2: pass
@functools.wraps(f)\ndef g(*a, _private=1, **k): return super().f(*a)
for _, __ in [(1, 2)]: pass
def f(input): return input.strip()
if __name__ == '__main__': print(__file__)
__all__ = ['f']
y = 2 ** n; y **= 2; y **= n
print(f'{x:>{w}} {x!r} {x=}')
'{0.name}'.format(x); '{x}'.format_map({})
try:\n    import resource\nexcept ImportError:\n    resource = None
from __future__ import annotations
import os.path, urllib.request, concurrent.futures as cf, xml.etree.ElementTree as ET
from collections import defaultdict, abc
import Levenshtein
lambda *a, k=1, **kw: (yield)
with open_it() as (a, b): pass
global_name = type(x)(1)
raise ValueError from None
text = 'eval(open("x")) __import__ {0.__class__}'
e.__cause__; e.__class__.__name__; f.__name__ = 'g'
""".strip().splitlines()

REFUSED = {
    "eval('1')": "builtin",
    "x = open": "builtin",
    "f(exec)": "builtin",
    "globals()['x']": "builtin",
    "vars(x)": "builtin",
    "breakpoint()": "builtin",
    "__import__('os')": "builtin",
    "__builtins__": "builtin",
    "global __builtins__": "builtin",
    "x.__globals__": "attribute",
    "x.__class__.__base__": "attribute",
    "x.__dict__": "attribute",
    "x.__subclasses__()": "attribute",
    "x.mro()": "attribute",
    "g.gi_frame": "attribute",
    "c.cr_frame": "attribute",
    "a.ag_frame": "attribute",
    "e.__traceback__.tb_frame": "attribute",
    "f.__code__": "attribute",
    "print.__self__": "attribute",
    "super().__getattribute__('x')": "attribute",
    "x.__class__ = y": "attribute",
    "C.__init__ = f": "attribute",
    "task.get_stack()": "attribute",
    "loop.subprocess_exec()": "attribute",
    "import ssl\nclass C(ssl.SSLContext): pass\nC(2).keylog_filename = 'f'": "attribute",
    "_getattr_ = 1": "name",
    "del _attr_": "name",
    "def f(_write_): pass": "name",
    "def f(_write_, /): pass": "name",
    "def f(*_pow_): pass": "name",
    "def f(**_own_): pass": "name",
    "lambda _attr_: 1": "name",
    "import math as _attr_": "name",
    "from math import floor as _attr_": "name",
    "for _attr_ in x: pass": "name",
    "with x as _attr_: pass": "name",
    "try: pass\nexcept E as _attr_: pass": "name",
    "(_attr_ := 1)": "name",
    "match x:\n    case _attr_: pass": "name",
    "match x:\n    case [*_attr_]: pass": "name",
    "match x:\n    case {**_attr_}: pass": "name",
    "global _attr_": "name",
    "def f():\n    nonlocal _attr_": "name",
    "class _attr_: pass": "name",
    "[1 for _attr_ in x]": "name",
    "__x = 1": "name",
    "class A:\n    __match_args__ = ('f',)": "name",
    "class A:\n    gi_frame: object": "attribute",
    "class A:\n    def __getattr__(self, n): pass": "method",
    "class A:\n    def __init_subclass__(cls): pass": "method",
    "class A:\n    def __reduce__(self): pass": "method",
    "class A:\n    def __del__(self): pass": "method",
    "class A(metaclass=M): pass": "metaclass",
    "class A(**kw): pass": "metaclass",
    "import subprocess": "import",
    "import multiprocessing.pool": "import",
    "from os import system": "import",
    "from asyncio import subprocess": "import",
    "from collections import *": "import",
    "from . import x": "import",
    "import _thread": "import",
    "import logging.handlers": "import",
    "import os\nos.system('x')": "import",
    "import operator\noperator.attrgetter('x')": "import",
    "try: pass\nexcept* E: pass": "statement",
    "match x:\n    case object(a=1): pass": "pattern",
    "H = Hashable\nmatch x:\n    case H(a=1): pass": "pattern",
    "import collections\nmatch x:\n    case collections.abc.Hashable(a=1): pass": "pattern",
    "@swap\nclass H: pass\nmatch x:\n    case H(a=1): pass": "pattern",
    "class A: pass\nmatch x:\n    case A(__self__=b): pass": "attribute",
    "class A: pass\nmatch x:\n    case A(_module=b): pass": "attribute",
    "class A: pass\nmatch x:\n    case A(obj=b): pass": "attribute",
    "class A: pass\nmatch x:\n    case A(format=b): pass": "attribute",
    "def f(:": "syntax",
    "x = '\x00'": "syntax",
}


@pytest.mark.parametrize("source", ACCEPTED)
def test_everyday_code_is_accepted(source):
    code, findings = compile_source(source.replace("\\n", "\n"))
    assert ([row for row in findings if row["severity"] == "error"], code is None) == ([], False)


@pytest.mark.parametrize(("source", "rule"), REFUSED.items())
def test_a_construct_that_could_reach_the_interpreter_is_refused_by_name(source, rule):
    code, findings = compile_source(source)
    assert code is None
    assert rule in {row["rule"] for row in findings if row["severity"] == "error"}


def test_every_refusal_is_found_at_once_with_its_place():
    source = "import os\n\ndef reward_fn(c, s, r):\n    é = eval('1'); x.__globals__\n    return os.system('x')\n"
    _, findings = compile_source(source)
    assert [(row["line"], row["column"], row["end_column"], row["rule"]) for row in findings] == [
        (4, 9, 13, "builtin"),
        (4, 22, 33, "attribute"),
        (5, 15, 21, "import"),
    ]


def test_check_gives_findings_in_sentences(executor):
    findings = executor.check("import subprocess\nx = eval('1')\n")
    assert [(found.line, found.severity) for found in findings] == [(1, "error"), (2, "error")]
    assert "sandbox_submit" in str(findings[0].message)
    assert "ast.literal_eval" in str(findings[1].message)


@pytest.mark.parametrize(
    "source", ["", "\ud800", "x = 1\x0c\x0b\nimport os; os.fork()\n", "\ufeffx = 1", "(" * 10_000, "-" * 200_000 + "1"]
)
def test_check_answers_for_any_text(executor, source):
    assert executor.check(source) == check_once(source)


def test_a_hint_is_no_refusal(executor):
    findings = executor.check("def f(c): return c['messages']['content']")
    assert [(found.severity, found.rule, found.column, found.end_column) for found in findings] == [
        ("hint", "messages-shape", 18, 42)
    ]

"""Type parameters in brackets (PEP 695) where Python has them: everyday ones run, none is a way around the policy."""

from __future__ import annotations

import sys

import pytest

from rewards_lib.executor.worker import facades, names
from rewards_lib.executor.worker.compiling import compile_source

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")


def run(source: str) -> object:
    code, findings = compile_source(source)
    assert code is not None, findings
    module = facades.user_module(facades.ImportGate(frozenset()))
    try:
        exec(code, module.__dict__)
        return module.__dict__["r"]
    finally:
        sys.modules.pop(names.USER_MODULE, None)


@pytest.mark.parametrize(
    "source",
    [
        "def first[T](xs: list[T]) -> T:\n    return xs[0]\nr = first([1])\n",
        "class Box[T]:\n    def __init__(self, x: T): self.x = x\n    def get(self) -> T: return self.x\n"
        "r = Box[int](1).get()\n",
        "type Pair = tuple[int, int]\ntype Tree[T] = T | list[Tree[T]]\nr = 1\n",
        "def f[*Ts, **P](*args: *Ts) -> tuple[*Ts]: return args\nr = f(1)[0]\n",
        "def g[T: (int, str)](x: T) -> T: return x\nr = g(1)\n",
    ],
)
def test_everyday_type_parameters_run(source):
    assert run(source) == 1


@pytest.mark.parametrize(
    "source",
    [
        "def f[__x__](a): pass\n", "def f[_getattr_](a): pass\n", "type _attr_ = int\n",
        "type X = (lambda: 0).__globals__\n",
        "def f[T: ().__class__.__mro__](a): pass\n", "class C[T: eval('1')]: pass\n", "type T = int\nr = T.__value__\n",
        "def f[T: int](): return T.__bound__\n", "class C[T](metaclass=type): pass\n",
    ],
)  # fmt: skip
def test_what_is_refused_elsewhere_is_refused_in_brackets(source):
    code, findings = compile_source(source)
    assert code is None
    assert findings

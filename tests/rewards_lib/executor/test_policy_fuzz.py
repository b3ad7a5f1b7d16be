"""Everything that an import hands out, walked attribute by attribute: no module, frame, code or forbidden function.

The walk follows names as reward code reads them. It starts at every module of the allow-list, and at what generated
import statements bind; what it finds by the thousands must be as harmless as what it starts from.
"""

from __future__ import annotations

import builtins
import ctypes
import importlib
import io
import os
import sys
import threading
import types
import warnings
from collections import deque
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards_lib.executor.worker import facades, names
from rewards_lib.executor.worker.compiling import compile_source
from rewards_lib.executor.worker.module_tables import ALLOWED

INTERNAL = (types.ModuleType, types.FrameType, types.CodeType, types.TracebackType)
FORBIDDEN = {
    id(found): name
    for name, found in {
        "open": builtins.open, "eval": builtins.eval, "exec": builtins.exec, "compile": builtins.compile,
        "__import__": builtins.__import__, "globals": builtins.globals, "vars": builtins.vars, "type": type,
        "input": builtins.input, "io.FileIO": io.FileIO, "io.open_code": io.open_code, "os.open": os.open,
        "os.system": os.system, "os.fork": getattr(os, "fork", None), "os.kill": os.kill, "os._exit": os._exit,
        "os.listdir": os.listdir, "sys._getframe": sys._getframe, "sys.modules": sys.modules, "os.environ": os.environ,
        "ctypes.CDLL": ctypes.CDLL, "importlib.import_module": importlib.import_module, "os.putenv": os.putenv,
        "threading.settrace": threading.settrace, "sys.settrace": sys.settrace, "sys.path": sys.path,
        "sys.meta_path": sys.meta_path, "builtins": builtins.__dict__,
    }.items() if found is not None
}  # fmt: skip
MODULES = sorted(ALLOWED - {"__future__", "rl_types", "reward_tools"})
DEEPEST, MOST_OBJECTS = 3, 6_000


@pytest.fixture(scope="module", autouse=True)
def user_module_is_put_away() -> Iterator[None]:
    yield
    sys.modules.pop(names.USER_MODULE, None)


def judge(found: object, path: str) -> None:
    assert not isinstance(found, INTERNAL), f"{path} is a {type(found).__name__}"
    assert id(found) not in FORBIDDEN, f"{path} is {FORBIDDEN[id(found)]}"
    assert not (isinstance(found, type) and issubclass(found, type)), f"{path} is a metaclass"


GATE = facades.ImportGate(frozenset())


def walk(start: object, path: str) -> int:
    """Follow every attribute, breadth first; returns how many objects were judged."""
    waiting, seen = deque([(start, path, 0)]), {id(start)}
    while waiting and len(seen) < MOST_OBJECTS:
        obj, path, depth = waiting.popleft()
        state = facades._states.get(id(obj))
        for name in dir(state.module if state else obj):
            if not name.isidentifier():
                continue
            try:
                found = read(obj, name)
            except (AttributeError, TypeError, NotImplementedError, ValueError, RuntimeError):
                continue
            judge(found, f"{path}.{name}")
            if depth < DEEPEST - 1 and id(found) not in seen:
                seen.add(id(found))
                KEPT.append(found)
                waiting.append((found, f"{path}.{name}", depth + 1))
    return len(seen)


KEPT: list[object] = []
"""Objects that were seen stay alive, for their addresses tell them apart."""
_readers: dict[str, types.FunctionType | None] = {}


def read(obj: object, name: str) -> object:
    """Read an attribute as the compiled code of a source does; the code is compiled once for each name."""
    if name not in _readers:
        code, _ = compile_source(f"def reader(start): return start.{name}")
        reader = None
        if code is not None:
            namespace = facades.user_module(GATE).__dict__
            exec(code, namespace)
            reader = namespace["reader"]
        _readers[name] = reader
    found = _readers[name]
    if found is None:
        raise AttributeError(name)
    return found(obj)


@pytest.mark.parametrize("module", MODULES)
def test_no_walk_from_a_module_that_is_handed_out_reaches_what_is_not(module, monkeypatch):
    for stream in ("stdout", "stderr"):  # a run's own streams are no files
        monkeypatch.setattr(sys, stream, io.TextIOWrapper(io.BytesIO()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        facade = GATE(module, {}, {}, ("name",))
        assert walk(facade, module) >= 1


STANDARD = sorted(name for name in sys.stdlib_module_names if name.isidentifier())
HIDDEN = ["sys", "os", "builtins", "io", "_io", "posix", "modules", "open", "codecs", "inspect", "types", "gc",
          "_thread", "subprocess", "importlib", "linecache", "socket", "ctypes", "pickle", "_os", "_sys"]  # fmt: skip
STEPS = ["path", "__class__", "__init__", "__call__", "environ", "stdout", "buffer", "raw"]


@given(
    st.one_of(st.sampled_from(MODULES), st.sampled_from(STANDARD)),
    st.sampled_from([*HIDDEN, "path", "futures", "etree", "parse", "request", "abc", "reader"]),
    st.sampled_from(["import {m}", "import {m} as start", "from {m} import {n}", "from {m} import {n} as start",
                     "import {m}.{n} as start", "import {m}.{n}"]),
    st.lists(st.sampled_from([*HIDDEN, *STEPS]), max_size=4),
)  # fmt: skip
@settings(max_examples=400, deadline=None)
def test_no_import_statement_binds_what_is_not_handed_out(module, member, statement, chain):
    line = statement.format(m=module, n=member)
    bound = "start" if "start" in line else (member if line.startswith("from") else module)
    code, findings = compile_source(f"{line}\nfound = {'.'.join([bound, *chain])}")
    if code is None:
        assert findings
        return
    namespace = facades.user_module(GATE).__dict__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(code, namespace)
        except (ImportError, AttributeError, NameError, TypeError):
            return
    judge(namespace["found"], f"{line}: {chain}")


@given(
    st.text(alphabet="_abcdefginostx0", min_size=1, max_size=12).filter(str.isidentifier),
    st.sampled_from(["load", "store", "argument", "attribute"]),
)
@settings(max_examples=300, deadline=None)
def test_no_name_reaches_the_executors_own(name, position):
    """Whatever a name looks like, reading it gives no hook of ours, and binding it replaces none."""
    line = {
        "load": f"found = {name}", "store": f"{name} = 1\nfound = {name}",
        "argument": f"def f({name}): return {name}\nfound = f(1)",
        "attribute": f"class C: pass\nc = C()\nc.{name} = 1\nfound = c.{name}",
    }[position]  # fmt: skip
    code, findings = compile_source(line)
    if code is None:
        assert findings
        return
    namespace = facades.user_module(GATE).__dict__
    hooks = {key: value for key, value in namespace.items() if key.startswith("_") and callable(value)}
    try:
        exec(code, namespace)
    except (NameError, AttributeError):
        return
    assert all(namespace[key] is value for key, value in hooks.items())
    assert namespace["found"] not in hooks.values()
    judge(namespace["found"], line)

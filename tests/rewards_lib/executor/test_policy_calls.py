"""Everything that can be called is called with a path: nothing that imports hand out opens it, in any tier.

The calls are made in a confined child with the execution policy off, which looks for what the policy hands out by the
policy's own guards, and notes by an audit hook what the interpreter is about to do.
"""

from __future__ import annotations

import sys

import pytest
from executor_inputs import HEADER, payload_of

from rewards_lib.executor import FunctionSource, Limits
from rewards_lib.executor.worker.module_tables import ALLOWED

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the calls are made where the kernel confines them")
MODULES = sorted(ALLOWED - {"__future__", "rl_types", "reward_tools"})
OPENINGS = ["open", "os.", "subprocess.", "shutil.", "tempfile.", "glob.", "sqlite3.", "pty.", "ctypes."]
HARMLESS = ["os.walk", "os.scandir"]
"""``zoneinfo.available_timezones`` looks through a folder of its own."""

CALLS = r"""
import io, os, signal, sys, threading, warnings
MODULES, OPENINGS, HARMLESS = {modules!r}, {openings!r}, {harmless!r}
MARK = "/rc-no-such-place/mark"
ARGUMENTS = [(), (MARK,), (MARK, "w"), ("x", MARK), (io.StringIO("x"), MARK)]
NAMES = ["filename", "file", "path", "certfile", "source"]
guards, names = (sys.modules["executor_worker." + name] for name in ("guards", "names"))
gate = sys.modules["executor_worker.facades"].ImportGate(frozenset())
write, now, noted, kept = os.write, ["", False], set(), []

def note(event, arguments):
    what, is_watching = now
    if is_watching and event.startswith(tuple(OPENINGS)) and event not in HARMLESS:
        now[1] = False  # making text of the arguments may raise events of its own
        text = repr(arguments)
        if event != "open" or "rc-no-such-place" in text:
            noted.add(f"{{event}} by {{what}}: {{text[:80]}}")
        now[1] = True

class Late(BaseException): pass

def late(*_):
    if now[1]:
        raise Late

def attempt(what, function, *arguments, **named):
    try:
        try:
            signal.signal(signal.SIGALRM, late)
            signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
            now[:] = what, True
            return function(*arguments, **named)
        finally:
            now[1] = False
            signal.setitimer(signal.ITIMER_REAL, 0)
    except BaseException:
        now[1] = False
        return None

def attributes(obj, what):
    for name in dir(obj):
        if not name.startswith("_") and not names.is_refused_attribute(name):
            try:
                yield f"{{what}}.{{name}}", name, guards.guarded_getattr(obj, name)
            except BaseException:
                continue

def call_all(what, found):
    results = [attempt(what, found, *arguments) for arguments in ARGUMENTS]
    results += [attempt(what, found, *first, **{{name: MARK}}) for name in NAMES for first in ((), ("x",))]
    kept.append(results)
    return [result for result in results if not isinstance(result, (str, bytes, int, float, type(None)))][:2]

def reward_fn(context, sample, completions):
    warnings.simplefilter("ignore")
    sys.stdout = sys.stderr = io.StringIO()
    sys.unraisablehook = threading.excepthook = lambda *_: None
    sys.addaudithook(note)
    seen, calls = set(), 0
    for module in MODULES:
        facade = gate(module, {{}}, {{}}, ("name",))
        waiting = [(f"{{module}}.{{name}}", getattr(facade, name, None), 0) for name in dir(sys.modules[module])]
        while waiting:
            what, found, depth = waiting.pop()
            if not callable(found) or id(found) in seen or what.startswith("signal."):
                continue
            seen.add(id(found))
            calls += 1
            for obj in [*call_all(what, found), found]:
                kept.append(obj)
                for path, name, value in attributes(obj, what):
                    if obj is not found and hasattr(getattr(type(obj), name, None), "__set__"):
                        attempt(f"{{path}} =", setattr, obj, name, MARK)
                    if depth == 0:
                        waiting.append((path, value, 1))
    write(1, "\n".join([*sorted(noted), str(calls)]).encode())
    return RewardFunctionResult([1])
"""


def test_nothing_that_is_handed_out_opens_what_it_is_called_with(make_confined):
    source = HEADER + CALLS.format(modules=MODULES, openings=OPENINGS, harmless=HARMLESS)
    function, limits = FunctionSource(source), Limits(wall_seconds=120, output_bytes=1 << 20)
    run = make_confined("tier=A policy=off").run_function(function, payload_of("x"), limits=limits)
    assert run.error is None, run.traceback
    *noted, calls = run.logs.splitlines()
    assert noted == []
    assert int(calls) > 1_000

"""What an import statement of reward code gets: a read-only facade of a module, and the gate that hands facades out.

Invariant: a facade never yields a real module; its state is out of the author's reach.
"""

from __future__ import annotations

import builtins
import importlib
import sys
import types
from collections.abc import Mapping
from typing import Any

from .guards import PolicyError, guarded_builtins, hooks, judge, open_packages
from .module_tables import ALLOWED, SUBSTITUTES, hidden_reason, is_allowed, refused_module
from .names import FILE_NAME, USER_MODULE
from .replacements import REPLACEMENTS

_MISSING = object()


class _Facade:
    """Looks like a module. Its state lives in ``_states``, keyed by identity, never on the object."""

    __slots__ = ("__dict__", "__weakref__")

    def __getattr__(self, name: str) -> Any:
        state = _states.get(id(self))
        if state is None:
            raise PolicyError(f"{name} is not available")
        return state.read(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise PolicyError(f"module attributes cannot be assigned in reward code ({name})")

    def __delattr__(self, name: str) -> None:
        raise PolicyError(f"module attributes cannot be deleted in reward code ({name})")

    def __repr__(self) -> str:
        state = _states.get(id(self))
        return f"<module {state.name!r}>" if state else "<module>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("modules cannot be copied")


_Facade.__name__ = _Facade.__qualname__ = "module"
_Facade.__module__ = "builtins"


class _State:
    """The module behind one facade."""

    __slots__ = ("gate", "module", "name")

    def __init__(self, module: types.ModuleType, name: str, gate: ImportGate) -> None:
        self.module, self.name, self.gate = module, name, gate

    def read(self, facade: _Facade, name: str) -> Any:
        """Look one name up; what may be kept is kept on the facade, so that the next look is native."""
        if name == "__name__":
            # never the real key: `from m import x` falls back to sys.modules[f"{m.__name__}.x"] when a name is refused
            return f"{self.name} (restricted)"
        if name in ("__version__", "__doc__"):
            return getattr(self.module, name, None)
        reason = hidden_reason(self.name, name)
        if reason:
            raise PolicyError(str(reason))
        value = self._find(name)
        facade.__dict__[name] = value
        return value

    def _find(self, name: str) -> Any:
        builder = REPLACEMENTS.get((self.name, name))
        if builder:
            return builder()
        value = getattr(self.module, name, _MISSING)
        if value is _MISSING:
            # an error of our own: the native one would carry the real module in .obj
            raise AttributeError(f"module {self.name!r} has no attribute {name!r}")
        if isinstance(value, types.ModuleType):
            return self.gate.facade(_module_name(value), value)
        return self._of_another_module(value) or judge(name, value)

    def _of_another_module(self, value: Any) -> Any:
        """Hold what a module imported for itself to its own module's rule: ``contextlib.wraps`` is functools'."""
        if not isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
            return None
        home, name = value.__module__, value.__name__
        if home in (self.name, "builtins") or getattr(sys.modules.get(str(home)), name, None) is not value:
            return None
        reason = SUBSTITUTES.get(home) or (home in ALLOWED and hidden_reason(home, name))
        if reason:
            raise PolicyError(str(reason))
        builder = REPLACEMENTS.get((home, name))
        return builder and builder()


_states: dict[int, _State] = {}
_HOOKS = hooks()


def _module_name(module: types.ModuleType) -> str:
    return "os.path" if module.__name__ in ("posixpath", "ntpath") else module.__name__


class ImportGate:
    """The ``__import__`` of reward code."""

    def __init__(self, packages: frozenset[str]) -> None:
        self._packages = packages
        self._facades: dict[str, _Facade] = {}
        open_packages(packages)
        self.builtins = guarded_builtins(self)
        """The ``__builtins__`` of reward code."""
        self.imported: set[str] = set()
        """Modules imported so far, for the zygote to keep warm."""
        self._given: dict[tuple[str, tuple[str, ...]], _Facade] = {}
        """What import statements got: a batch runs the same ones for each of its groups."""

    def facade(self, name: str, module: types.ModuleType) -> _Facade:
        """Return the one facade of a module, or raise when the module is not allowed."""
        if not is_allowed(name, self._packages):
            raise PolicyError(f"the module {name} is not available in reward code")
        if name not in self._facades:
            facade = _Facade()
            _states[id(facade)] = _State(module, name, self)
            self._facades[name] = facade
        return self._facades[name]

    def __call__(
        self, name: str, globals: Mapping[str, Any] | None = None, locals: Mapping[str, Any] | None = None,  # noqa: A002
        fromlist: Any = (), level: int = 0,
    ) -> Any:  # fmt: skip
        """Import a module for the author, or for C code that imports lazily in the author's frame."""
        if type(fromlist) is list:
            # datetime.strptime and its like pass a list, which no import statement does: hand out the real module
            return builtins.__import__(name, globals, locals, fromlist, level)
        if (name, fromlist or ()) in self._given:
            return self._given[name, fromlist or ()]
        if level:
            raise ImportError("relative imports are not available: reward code is a single file")
        if not is_allowed(name, self._packages):
            raise ImportError(self._refusal(name), name=name)
        facade = self._import(name, fromlist)
        self._given[name, fromlist or ()] = facade
        return facade

    def _import(self, name: str, fromlist: tuple[str, ...] | None) -> _Facade:
        module = importlib.import_module(name)
        self.imported.add(name)
        if not fromlist:
            top = name.split(".", maxsplit=1)[0]
            return self.facade(top, sys.modules[top])
        for member in fromlist:
            submodule = f"{name}.{member}"
            if not hasattr(module, member) and is_allowed(submodule, self._packages):
                try:
                    importlib.import_module(submodule)
                    self.imported.add(submodule)
                except ImportError:
                    continue
        return self.facade(name, module)

    def _refusal(self, name: str) -> str:
        top = name.split(".", maxsplit=1)[0]
        if top in sys.stdlib_module_names:
            return str(refused_module(name))
        return f"No module named {top!r}: add it to requirements.txt and install"


def user_module(gate: ImportGate) -> types.ModuleType:
    """Build the module in which the author's source runs; dataclasses and typing look it up in ``sys.modules``."""
    module = types.ModuleType(USER_MODULE)
    for name in ("__loader__", "__spec__", "__package__"):
        module.__dict__.pop(name, None)
    module.__dict__.update({"__builtins__": gate.builtins, "__file__": FILE_NAME, **_HOOKS})
    sys.modules[USER_MODULE] = module
    return module


def plain_module() -> types.ModuleType:
    """Build the same module without any guard: only for tests of the kernel layer."""
    module = types.ModuleType(USER_MODULE)
    module.__dict__["__file__"] = FILE_NAME
    sys.modules[USER_MODULE] = module
    return module

"""Changes to library modules of the worker, made right after their import, whoever imports them first.

A stand-in can be walked around through ``super``; these change the real thing. Invariant: what a change takes away is
the reading of files, of attributes past the guard, their writing, text run as code, or a socket of the run's own;
everything else works as before.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import dial
from .guards import PolicyError, check_attribute_name, format_guarded, is_own


def _patch_ast(module: Any) -> None:
    """Fields are those of syntax nodes; anything could call ``__globals__`` a field of its own."""

    def read_node(node: Any) -> Any:
        if not isinstance(node, module.AST):
            raise PolicyError("only syntax nodes have fields")
        for name in tuple(node._fields):
            check_attribute_name(name)
            if hasattr(node, name):
                yield name, getattr(node, name)

    module.iter_fields = read_node


def _patch_logging(module: Any) -> None:
    """The style ``{`` formats by the same rule as the source."""

    def format_record(self: Any, record: Any) -> str:
        defaults = getattr(self, "_defaults", None)
        values = {**defaults, **record.__dict__} if defaults else record.__dict__
        return str(format_guarded(str(self._fmt), (), values))

    module.StrFormatStyle._format = format_record


def _patch_contextlib(module: Any) -> None:
    """``redirect_stdout`` sets what its class names in ``sys``; a subclass could name anything."""

    def stream_name(self: Any) -> str:
        name = self._stream
        if type(name) is not str or name not in ("stdout", "stderr"):
            raise PolicyError("only stdout and stderr can be redirected")
        return name

    def enter(self: Any) -> Any:
        name = stream_name(self)
        self._old_targets.append(getattr(sys, name))
        setattr(sys, name, self._new_target)
        return self._new_target

    def leave(self: Any, *_error: Any) -> None:
        setattr(sys, stream_name(self), self._old_targets.pop())

    module._RedirectStream.__enter__ = enter
    module._RedirectStream.__exit__ = leave


def _patch_element_tree(module: Any) -> None:
    """Trees are read from and written to open objects only."""
    parse, write = module.ElementTree.parse, module.ElementTree.write

    def parse_object(self: Any, source: Any, parser: Any = None) -> Any:
        if not hasattr(source, "read"):
            raise PolicyError("ElementTree.parse needs an open object: reward code sees no files")
        return parse(self, source, parser)

    def write_object(self: Any, file_or_filename: Any, *args: Any, **options: Any) -> None:
        if not hasattr(file_or_filename, "write"):
            raise PolicyError("ElementTree.write needs an open object: reward code sees no files")
        write(self, file_or_filename, *args, **options)

    module.ElementTree.parse = parse_object
    module.ElementTree.write = write_object


def _patch_copy(module: Any) -> None:
    """A copy of an object of the author's fills in an object of the same class only.

    Its ``__new__`` may give back anything, a library class too; those attributes are not the author's to set.
    """
    rebuild = module._reconstruct

    def rebuild_alike(x: Any, memo: Any, func: Any, args: Any, *state: Any, **options: Any) -> Any:
        def build(*given: Any) -> Any:
            made = func(*given)
            if is_own(x) and type(made) is not type(x):
                raise PolicyError(f"copying {type(x).__name__} objects gives another kind of object")
            return made

        return rebuild(x, memo, build, args, *state, **options)

    module._reconstruct = rebuild_alike


def _patch_dataclasses(module: Any) -> None:
    """A data class is built from text; the names in it are identifiers.

    A TypedDict in its functional form has fields of any spelling, and may belong to any module.
    """
    import inspect

    process = module._process_class

    def process_named(kind: Any, *options: Any) -> Any:
        for name in inspect.get_annotations(kind):
            if type(name) is not str or not name.isidentifier():
                raise PolicyError(f"a data class cannot have a field called {name!r}")
        return process(kind, *options)

    module._process_class = process_named


PATCHES: dict[str, Callable[[Any], None]] = {
    "aiohappyeyeballs": dial.patch_aiohappyeyeballs,
    "ast": _patch_ast,
    "asyncio.base_events": dial.patch_asyncio,
    "contextlib": _patch_contextlib,
    "copy": _patch_copy,
    "dataclasses": _patch_dataclasses,
    "logging": _patch_logging,
    "urllib3.util.connection": dial.patch_urllib3,
    "xml.etree.ElementTree": _patch_element_tree,
}
"""Module to the change made to it."""


class _PatchingFinder(importlib.abc.MetaPathFinder):
    """Finds modules as usual and wraps the loading of those that are to be changed."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Find the real module and wrap its loader."""
        if fullname not in PATCHES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_patch(module: ModuleType) -> None:
                load(module)
                PATCHES[fullname](module)

            spec.loader.exec_module = load_and_patch  # type: ignore[method-assign]
        return spec


def install() -> None:
    """Change modules that are loaded, and those loaded later as they come."""
    dial.patch_socket()
    for name, patch in PATCHES.items():
        if name in sys.modules:
            patch(sys.modules[name])
    sys.meta_path.insert(0, _PatchingFinder())

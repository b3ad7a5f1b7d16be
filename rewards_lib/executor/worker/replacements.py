"""Stand-ins for library names that are fine but for one way of calling them.

Invariant: a stand-in does all that the original does, except what its docstring says.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from .guards import OPEN_KINDS, STAND_INS, GuardedABCMeta, PolicyError, check_attribute_name, is_own

environ: dict[str, str] = {}
"""``os.environ`` of the run: its own dictionary, empty but for what the run was given."""


def _update_wrapper(wrapper: Any, wrapped: Any, *_assigned: Any, **_updated: Any) -> Any:
    """functools.update_wrapper with fixed attribute lists, from functions to the author's own objects.

    Its own lists could copy any attribute; a library class as wrapper would become the author's by its ``__module__``;
    a library class as wrapped would give away its private methods.
    """
    if not (is_own(wrapper) or isinstance(wrapper, functools.partial)):
        raise PolicyError("functools.update_wrapper works on objects of your own in reward code")
    if not (is_own(wrapped) or isinstance(wrapped, _WRAPPABLE)):
        raise PolicyError("functools.update_wrapper takes functions in reward code")
    return functools.update_wrapper(wrapper, wrapped)


_WRAPPABLE = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType, functools.partial,
    type(functools.lru_cache(len)),
)  # fmt: skip


def _wraps(wrapped: Any, *_assigned: Any, **_updated: Any) -> Callable[[Any], Any]:
    """functools.wraps under the same rules."""
    return lambda wrapper: _update_wrapper(wrapper, wrapped)


class _SimpleNamespace(types.SimpleNamespace):
    """types.SimpleNamespace with checked names."""

    def __init__(self, **values: Any) -> None:
        for name in values:
            check_attribute_name(name)
        super().__init__(**values)


_SimpleNamespace.__name__ = _SimpleNamespace.__qualname__ = "SimpleNamespace"
_SimpleNamespace.__module__ = "types"
OPEN_KINDS.add(_SimpleNamespace)


def _signal(number: int, handler: Any) -> Any:
    """signal.signal for the alarm alone, others hold the limits; its handlers get None instead of the frame."""
    import signal

    if number != signal.SIGALRM:
        raise PolicyError("reward code may handle signal.SIGALRM alone")
    return signal.signal(number, (lambda received, _frame: handler(received, None)) if callable(handler) else handler)


def _set_timer(which: int, seconds: float, interval: float = 0.0) -> tuple[float, float]:
    """signal.setitimer for the real time alone; the timers of processor time hold the limits."""
    import signal

    if which != signal.ITIMER_REAL:
        raise PolicyError("reward code may set signal.ITIMER_REAL alone")
    return signal.setitimer(which, seconds, interval)


def _getenv(key: str, default: Any = None) -> Any:
    """os.getenv over the run's own dictionary."""
    return environ.get(key, default)


def _named_tuple(typename: str, field_names: Any, **options: Any) -> Any:
    """collections.namedtuple whose fields, which patterns read natively, obey the name rule."""
    from collections import namedtuple

    fields = field_names.replace(",", " ").split() if isinstance(field_names, str) else list(field_names)
    for name in fields:
        check_attribute_name(str(name))
    return namedtuple(typename, [str(name) for name in fields], module="reward", **options)


class _NamedTuple:
    """typing.NamedTuple; the fields of the functional form obey the name rule."""

    def __call__(self, typename: str, fields: Any = (), /, **more: Any) -> Any:
        import typing

        pairs = [(str(name), kind) for name, kind in (*fields, *more.items())]
        for name, _ in pairs:
            check_attribute_name(name)
        return typing.NamedTuple(typename, pairs)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        import typing

        entries = typing.NamedTuple.__mro_entries__  # type: ignore[attr-defined]
        found: tuple[Any, ...] = entries(tuple(typing.NamedTuple if base is self else base for base in bases))
        return found


def _get_origin(annotation: Any) -> Any:
    """typing.get_origin; the origin of ``Type[int]`` is the guarded ``type``."""
    import typing

    origin: Any = typing.get_origin(annotation)
    return STAND_INS.get(origin, origin) if isinstance(origin, type) else origin


def _basic_config(**options: Any) -> None:
    """logging.basicConfig without files."""
    import logging

    if options.get("filename") is not None:
        raise PolicyError("logging.basicConfig(filename=...) is not available: logs go to the run's output")
    logging.basicConfig(**options)


_opener: Any = None


def _build_opener(*handlers: Any) -> Any:
    """urllib.request.build_opener without ``file:`` and ``ftp:``."""
    from urllib import request

    class Opener(request.OpenerDirector):
        """Takes every handler but those of files and FTP."""

        def add_handler(self, handler: Any) -> None:
            if not isinstance(handler, (request.FileHandler, request.FTPHandler)):
                super().add_handler(handler)

    opener = Opener()
    given = [handler() if isinstance(handler, type) else handler for handler in handlers]
    for kind in (
        request.ProxyHandler, request.UnknownHandler, request.HTTPHandler, request.HTTPDefaultErrorHandler,
        request.HTTPRedirectHandler, request.HTTPErrorProcessor, request.DataHandler, request.HTTPSHandler,
    ):  # fmt: skip
        if not any(isinstance(handler, kind) for handler in given):
            opener.add_handler(kind())
    for handler in given:
        opener.add_handler(handler)
    return opener


def _install_opener(opener: Any) -> None:
    """urllib.request.install_opener for this run's urlopen."""
    global _opener
    _opener = opener


def _urlopen(url: Any, data: Any = None, timeout: Any = None, *, context: Any = None) -> Any:
    """urllib.request.urlopen without ``file:`` and ``ftp:``."""
    from urllib import request

    opener = _build_opener(request.HTTPSHandler(context=context)) if context else _opener or _build_opener()
    return opener.open(url, data) if timeout is None else opener.open(url, data, timeout)


REPLACEMENTS: dict[tuple[str, str], Callable[[], Any]] = {
    ("abc", "ABCMeta"): lambda: GuardedABCMeta,
    ("collections", "namedtuple"): lambda: _named_tuple,
    ("functools", "update_wrapper"): lambda: _update_wrapper,
    ("functools", "wraps"): lambda: _wraps,
    ("logging", "basicConfig"): lambda: _basic_config,
    ("os", "environ"): lambda: environ,
    ("os", "getenv"): lambda: _getenv,
    ("signal", "signal"): lambda: _signal,
    ("signal", "setitimer"): lambda: _set_timer,
    ("types", "SimpleNamespace"): lambda: _SimpleNamespace,
    ("typing", "NamedTuple"): _NamedTuple,
    ("typing", "get_origin"): lambda: _get_origin,
    ("urllib.request", "build_opener"): lambda: _build_opener,
    ("urllib.request", "install_opener"): lambda: _install_opener,
    ("urllib.request", "urlopen"): lambda: _urlopen,
}
"""(module, name) to a builder of the stand-in."""

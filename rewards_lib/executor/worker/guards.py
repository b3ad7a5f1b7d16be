"""The run-time half of the policy: guarded attribute access, guarded builtins.

Invariant: no value that passes a guard is a module, a frame, a code object or a real metaclass.
"""

from __future__ import annotations

import _string  # type: ignore[import-not-found]  # the parser behind str.format; string.Formatter uses it too
import builtins
import string
import types
from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .names import USER_MODULE, is_refused_attribute


class PolicyError(AttributeError):
    """The policy refuses an attribute; an AttributeError, so that ``hasattr`` and ``getattr`` defaults work."""

    __module__ = "builtins"


_MISSING = object()
_INTERNAL = frozenset([types.ModuleType, types.FrameType, types.CodeType])
_LOOK_CLOSER = _INTERNAL | {type}
"""Types of values that are refused or replaced: classes of this exact type may be metaclasses."""
_BIGGEST_POWER_BITS = 2_000_000


def check_attribute_name(name: object) -> None:
    """Raise for names that no attribute may have; a subclass of ``str`` can lie about itself and is refused."""
    if type(name) is not str:
        raise TypeError(f"attribute name must be str, not {type(name).__name__}")
    if is_refused_attribute(name):
        raise PolicyError(f"the attribute {name} is not available in reward code")


def judge(name: str, value: Any) -> Any:
    """Return a value that was found, or its stand-in; raise for interpreter internals."""
    kind = type(value)
    if kind in _INTERNAL or (isinstance(value, type) and value in _INTERNAL):
        raise PolicyError(f"{name} leads to an interpreter internal")
    if isinstance(value, type) and issubclass(value, type):
        return STAND_INS.get(value, GuardedType)
    return value


def read_attribute(
    obj: Any, name: str, getattr: Callable[..., Any] = getattr, type: Callable[..., Any] = type,  # noqa: A002
    closer: frozenset[Any] = _LOOK_CLOSER, internal: frozenset[Any] = _INTERNAL,
) -> Any:  # fmt: skip
    """Read an attribute whose name the compiler has checked. The hot path: defaults make the names local."""
    value = getattr(obj, name)
    if type(value) in closer or type(obj) in internal:
        if type(obj) in internal:
            raise PolicyError(f"{name} belongs to an interpreter internal")
        return judge(name, value)
    return value


def read_own_attribute(obj: Any, name: str) -> Any:
    """Read ``_x``: the author's own objects have private attributes, the library's are none of the author's business.

    ``typing.ForwardRef._evaluate`` runs text as code, ``catch_warnings()._module`` is a module.
    """
    if name not in _PUBLIC_UNDERSCORES and not _is_own_attribute(obj, name):
        raise PolicyError(f"{name} is a private attribute of {_kind_name(obj)}")
    return read_attribute(obj, name)


def _is_own_attribute(obj: Any, name: str) -> bool:
    """Tell whether an attribute is the author's: on an own object, set on itself or defined by an own class.

    A class of the author that inherits from the library's does not get its private methods: an event loop's can start
    processes.
    """
    if not is_own(obj):
        return False
    if type(obj) is super:
        lineage = obj.__self_class__.__mro__  # type: ignore[attr-defined]
        kinds = lineage[lineage.index(obj.__thisclass__) + 1 :]  # type: ignore[attr-defined]
    else:
        if name in getattr(obj, "__dict__", ()):
            return True
        kinds = obj.__mro__ if isinstance(obj, type) else type(obj).__mro__
    for kind in kinds:
        if name in kind.__dict__:
            return bool(kind.__module__ == USER_MODULE)
    return True  # nowhere: the plain AttributeError says so


_PUBLIC_UNDERSCORES = frozenset(
    ["_replace", "_asdict", "_fields", "_make", "_field_defaults", "_value_", "_name_", "_missing_"]
)
"""Documented names of named tuples and enums; they begin with an underscore only to stay clear of field names."""


def is_own(obj: Any) -> bool:
    """Tell whether the author's source made an object: its class, its function, or an instance."""
    kind = type(obj)
    if kind is super:
        return is_own(obj.__thisclass__)
    if isinstance(obj, (type, types.FunctionType)):
        return obj.__module__ == USER_MODULE
    return kind.__module__ == USER_MODULE or kind in OPEN_KINDS


OPEN_KINDS: set[type] = {types.SimpleNamespace}
"""Library types whose instances are the author's to fill."""


def guarded_getattr(obj: Any, name: str, default: Any = _MISSING) -> Any:
    """Stand in for ``getattr``."""
    check_attribute_name(name)
    if name.startswith("_") and not name.startswith("__"):
        try:
            return read_own_attribute(obj, name)
        except AttributeError:
            if default is _MISSING:
                raise
            return default
    value = getattr(obj, name) if default is _MISSING else getattr(obj, name, default)
    if name in ("format", "format_map"):
        value = _safe_format(value, name)
    elif name == "register" and isinstance(obj, ABCMeta):
        raise PolicyError("register is not available on abstract classes: inherit from them")
    if type(obj) in _INTERNAL:
        raise PolicyError(f"{name} belongs to an interpreter internal")
    return judge(name, value)


def guarded_hasattr(obj: Any, name: str) -> bool:
    """Stand in for ``hasattr``."""
    try:
        guarded_getattr(obj, name)
    except AttributeError:
        return False
    return True


def guarded_setattr(obj: Any, name: str, value: Any) -> None:
    """Stand in for ``setattr``."""
    _check_target(name)
    setattr(guarded_write(obj), name, value)


def guarded_delattr(obj: Any, name: str) -> None:
    """Stand in for ``delattr``."""
    _check_target(name)
    delattr(guarded_write(obj), name)


def _check_target(name: object) -> None:
    check_attribute_name(name)
    if str(name).startswith("__"):
        raise PolicyError(f"the attribute {name} cannot be assigned in reward code")


# --- str.format ----------------------------------------------------------------------------------------------------


class _GuardedFormatter(string.Formatter):
    """Reads the fields of a format string by the same rule as the source."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Look one field up, attribute by attribute."""
        first, rest = _string.formatter_field_name_split(field_name)
        obj = self.get_value(first, args, kwargs)
        for is_attribute, key in rest:
            obj = guarded_getattr(obj, key) if is_attribute else obj[key]
        return obj, first

    def format_field(self, value: Any, format_spec: str) -> Any:
        """Format as the builtin does."""
        return format(value, format_spec)


def format_guarded(text: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """``str.format`` by the rule for attributes."""
    return _GuardedFormatter().vformat(text, args, kwargs)


def _safe_format(found: Any, name: str) -> Any:
    """Judge the method that was found, not the object: ``super().format`` is ``str.format`` too."""
    if isinstance(found, types.BuiltinMethodType) and isinstance(found.__self__, str):
        text = found.__self__
        if name == "format":
            return lambda *args, **kwargs: format_guarded(text, args, kwargs)
        return lambda mapping: format_guarded(text, (), mapping)
    if isinstance(found, types.MethodDescriptorType) and found.__objclass__ is str:
        if name == "format":
            return lambda text, *args, **kwargs: format_guarded(text, args, kwargs)
        return lambda text, mapping: format_guarded(text, (), mapping)
    return found


# --- assignment ----------------------------------------------------------------------------------------------------

WRITABLE_TYPES = {"types.SimpleNamespace", "rl_types.RewardFunctionResult", "_thread._local"}
WRITABLE_MODULES = frozenset(
    ["logging", "threading", "decimal", "collections", "concurrent", "http", "urllib", "xml", "html", "json", "queue",
     "contextlib", "random", "string", "numpy", "requests"]
)  # fmt: skip
"""Packages whose instances (never classes) may be given attributes: their own documentation tells people to."""

_judged: set[type] = set()
_packages: set[str] = set()


def guarded_write(obj: Any) -> Any:
    """Return an object whose attribute is about to be assigned, or raise."""
    kind = type(obj)
    if kind in _judged:
        return obj
    if is_own(obj):
        if not isinstance(obj, (type, types.FunctionType)):
            _judged.add(kind)
        return obj
    full_name = f"{kind.__module__}.{kind.__name__}"
    top = kind.__module__.split(".")[0]
    is_instance = not isinstance(obj, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType))
    if is_instance and (full_name in WRITABLE_TYPES or top in WRITABLE_MODULES or top in _packages):
        _judged.add(kind)
        return obj
    raise PolicyError(f"attributes of {_kind_name(obj)} cannot be assigned in reward code")


def _kind_name(obj: Any) -> str:
    return f"the class {obj.__name__}" if isinstance(obj, type) else f"{type(obj).__name__} objects"


def guarded_pow(base: Any, exponent: Any, modulus: Any = None) -> Any:
    """Stand in for ``pow`` and ``**``: refuse integers of more than two million bits."""
    if modulus is not None:
        return pow(base, exponent, modulus)
    if (
        isinstance(base, int) and isinstance(exponent, int) and exponent > 0
        and base.bit_length() * exponent > _BIGGEST_POWER_BITS
    ):  # fmt: skip
        raise OverflowError(f"integer power too large: the result has more than {_BIGGEST_POWER_BITS} bits")
    return base**exponent


# --- type ----------------------------------------------------------------------------------------------------------


class _GuardedMeta(type):
    """Makes ``type`` answer questions and build nothing."""

    _real: type

    def __instancecheck__(cls, obj: Any) -> bool:
        return isinstance(obj, cls._real)

    def __subclasscheck__(cls, kind: Any) -> bool:
        return issubclass(kind, cls._real)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 or kwargs or cls._real is not type:
            raise PolicyError("classes are built by class statements in reward code")
        return judge("type", type(args[0]))

    def __getitem__(cls, key: Any) -> Any:
        return types.GenericAlias(cls, key)


class GuardedType(metaclass=_GuardedMeta):
    """Stands in for ``type``."""

    _real = type


class GuardedABCMeta(metaclass=_GuardedMeta):
    """Stands in for ``abc.ABCMeta``; the compiler puts the real one where a class statement names it."""

    _real = ABCMeta


GuardedType.__name__ = GuardedType.__qualname__ = "type"
GuardedABCMeta.__name__ = GuardedABCMeta.__qualname__ = "ABCMeta"
STAND_INS: dict[type, type] = {type: GuardedType, ABCMeta: GuardedABCMeta}

_PLAIN_BUILTINS = [
    "__build_class__",
    "None",
    "False",
    "True",
    "Ellipsis",
    "NotImplemented",
    "abs",
    "all",
    "any",
    "ascii",
    "bin",
    "bool",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "complex",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "format",
    "frozenset",
    "hash",
    "hex",
    "id",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "object",
    "oct",
    "ord",
    "aiter",
    "anext",
    "print",
    "property",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "zip",
    "memoryview",
    "__debug__",
]
_HIDDEN_EXCEPTIONS = ("ExceptionGroup", "BaseExceptionGroup")


def guarded_builtins(importer: Callable[..., Any]) -> dict[str, Any]:
    """Build the ``__builtins__`` of one run."""
    table = {name: getattr(builtins, name) for name in _PLAIN_BUILTINS}
    for name, value in vars(builtins).items():
        if isinstance(value, type) and issubclass(value, BaseException) and name not in _HIDDEN_EXCEPTIONS:
            table[name] = value
    return table | {
        "getattr": guarded_getattr, "hasattr": guarded_hasattr, "setattr": guarded_setattr,
        "delattr": guarded_delattr, "type": GuardedType, "pow": guarded_pow, "__import__": importer,
    }  # fmt: skip


def open_packages(packages: frozenset[str]) -> None:
    """Let instances of the declared requirements' classes be assigned to."""
    _packages.update(packages)


def hooks() -> dict[str, Any]:
    """The names that rewritten code calls."""
    return {
        "_getattr_": guarded_getattr, "_attr_": read_attribute, "_own_": read_own_attribute, "_write_": guarded_write,
        "_pow_": guarded_pow, "_abcmeta_": ABCMeta,
    }  # fmt: skip

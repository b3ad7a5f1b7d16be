"""Which names reward code may use: one rule for the compiler's half and the run-time half of the policy.

Invariant: a name refused here is refused in every position, as a variable, an argument, an attribute or a pattern.
"""

from __future__ import annotations

import re

from RestrictedPython.transformer import INSPECT_ATTRIBUTES

USER_MODULE = "reward"
"""The module name of the author's source."""

FILE_NAME = "reward.py"
"""The file name in tracebacks."""

_HOOK = re.compile(r"^_[a-z]+_$|^_print$|^_tmp\d+$")

_COMMON_DUNDERS = frozenset([
    "__init__", "__post_init__", "__new__", "__call__", "__str__", "__repr__", "__format__", "__len__", "__eq__",
    "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__bool__", "__enter__", "__exit__",
    "__iter__", "__next__", "__contains__", "__getitem__", "__setitem__", "__delitem__", "__add__", "__sub__",
    "__mul__", "__truediv__", "__int__", "__float__", "__missing__",
])  # fmt: skip
"""What a class may define and anybody may call by name: the everyday data model."""

_OPERATORS = frozenset([
    "__bytes__", "__length_hint__", "__aenter__", "__aexit__", "__aiter__", "__anext__", "__await__",
    "__complex__", "__index__", "__radd__", "__iadd__", "__rsub__", "__isub__", "__rmul__", "__imul__",
    "__rtruediv__", "__itruediv__", "__floordiv__", "__rfloordiv__", "__ifloordiv__", "__mod__", "__rmod__", "__imod__",
    "__divmod__", "__rdivmod__", "__pow__", "__rpow__", "__ipow__", "__matmul__", "__rmatmul__", "__imatmul__",
    "__lshift__", "__rlshift__", "__ilshift__", "__rshift__", "__rrshift__", "__irshift__", "__neg__", "__pos__",
    "__abs__", "__and__", "__rand__", "__iand__", "__or__", "__ror__", "__ior__", "__xor__", "__rxor__",
    "__ixor__", "__invert__", "__round__", "__trunc__", "__floor__", "__ceil__", "__reversed__", "__copy__",
    "__deepcopy__", "__fspath__",
])  # fmt: skip
"""The rest of the data model that computes: ``super().__radd__(other)`` says no more than ``other + self``."""

READ_DUNDERS = _COMMON_DUNDERS | _OPERATORS | frozenset([
    "__name__", "__doc__", "__qualname__", "__module__", "__class__", "__traceback__", "__cause__",
    "__context__", "__version__", "__suppress_context__", "__notes__", "__members__",
])  # fmt: skip
"""Dunder attributes that may be read: none leads to a frame, a namespace or a class's relatives."""

NAME_DUNDERS = frozenset(["__name__", "__doc__", "__file__"])
"""Dunder names that may be read as variables."""

MODULE_NAMES = frozenset(["__all__", "__version__", "__author__", "__doc__"])
"""Dunder names that the module may assign."""

WRITE_DUNDERS = frozenset(["__name__", "__doc__", "__qualname__"])
"""Dunder attributes that may be assigned on the author's own functions and classes."""

METHODS = _COMMON_DUNDERS | _OPERATORS | frozenset([
    "__set_name__", "__get__", "__set__", "__delete__", "__sizeof__", "__dir__",
])  # fmt: skip
"""Special methods that a class may define, or call by another of their names: ``__radd__ = __add__``."""

ENUM_NAMES = frozenset(["_missing_", "_ignore_", "_order_"])
"""What an enum's body may define, although it looks like the executor's."""

CLASS_NAMES = METHODS | ENUM_NAMES | frozenset(["__slots__", "__doc__"])
"""Special names that a class body may assign."""

PLAIN = frozenset(
    name
    for kind in (str, bytes, int, float, list, tuple, dict, set, frozenset, re.Match, re.Pattern)
    for name in dir(kind)
    if not name.startswith("_")
) - {"format", "format_map"}
"""Public methods of plain data: they can never hand back a module or a frame, so they need no guard."""

REFUSED_ATTRIBUTES = INSPECT_ATTRIBUTES | frozenset(
    ["mro", "gi_suspended", "tb_lasti", "f_lasti", "f_lineno", "get_stack", "print_stack", "subprocess_exec",
     "subprocess_shell", "connect_read_pipe", "connect_write_pipe", "load_cert_chain", "load_dh_params",
     "keylog_filename", "create_datagram_endpoint", "create_server", "create_unix_server", "create_unix_connection"]
)  # fmt: skip
"""Attributes of interpreter internals, and those that hand them out, start programs, listen, or open files."""

TYPE_PARAMETERS = frozenset(["TypeVar", "ParamSpec", "TypeVarTuple"])
"""Nodes of ``ast`` that bind a name in brackets; before Python 3.12 there are none, hence their names."""

CAREFUL_ATTRIBUTES = frozenset(["format", "format_map", "register"])
"""Attributes whose danger depends on the object: they go through the slow guard."""


def is_reserved(name: str) -> bool:
    """Tell whether a variable's name belongs to the executor."""
    return bool(_HOOK.match(name)) or name.startswith("__")


def is_refused_attribute(name: str) -> bool:
    """Tell whether no attribute of this name may be touched, whatever the object."""
    return name in REFUSED_ATTRIBUTES or (name.startswith("__") and name not in READ_DUNDERS)

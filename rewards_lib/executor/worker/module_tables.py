"""Which modules reward code may import, and which of their names it sees: data, one reason for each entry.

Invariant: a module that is in none of these tables and in no declared requirement cannot be imported.
"""

from __future__ import annotations

import sys

from .refusals import Words, sentence

ALLOWED = frozenset(
    [
        "__future__",
        "abc",
        "array",
        "ast",
        "asyncio",
        "base64",
        "binascii",
        "bisect",
        "calendar",
        "cmath",
        "codecs",
        "collections",
        "collections.abc",
        "colorsys",
        "concurrent",
        "concurrent.futures",
        "contextlib",
        "contextvars",
        "copy",
        "csv",
        "dataclasses",
        "datetime",
        "decimal",
        "difflib",
        "enum",
        "errno",
        "fnmatch",
        "fractions",
        "functools",
        "graphlib",
        "gzip",
        "hashlib",
        "heapq",
        "hmac",
        "html",
        "html.entities",
        "html.parser",
        "http",
        "http.client",
        "http.cookies",
        "io",
        "ipaddress",
        "itertools",
        "json",
        "json.decoder",
        "keyword",
        "logging",
        "math",
        "numbers",
        "operator",
        "os",
        "os.path",
        "pathlib",
        "pprint",
        "queue",
        "random",
        "re",
        "secrets",
        "shlex",
        "signal",
        "ssl",
        "statistics",
        "string",
        "struct",
        "sys",
        "textwrap",
        "threading",
        "time",
        "token",
        "tokenize",
        "traceback",
        "types",
        "typing",
        "unicodedata",
        "urllib",
        "urllib.error",
        "urllib.parse",
        "urllib.request",
        "uuid",
        "warnings",
        "weakref",
        "xml",
        "xml.etree",
        "xml.etree.ElementTree",
        "zlib",
        "zoneinfo",
        "rl_types",
        "reward_tools",
    ]
)
"""Modules of the standard library that reward functions in the wild use and that do no harm behind a facade."""

SUBSTITUTES: dict[str, Words] = {
    "subprocess": sentence("Reward code cannot start programs; the sandbox_submit preset runs a completion's code."),
    "argparse": sentence("Reward code gets no command line; write its settings as constants."),
    "multiprocessing": sentence("Reward code cannot start processes; use concurrent.futures.ThreadPoolExecutor."),
    "socket": sentence("Raw sockets are not available; use http.client or requests with an allowed host."),
    "socketserver": sentence("Reward code cannot listen for connections."),
    "sqlite3": sentence('Reward code sees no files; put the data into sample["extra"].'),
    "shutil": sentence('Reward code sees no files; put the data into sample["extra"].'),
    "glob": sentence('Reward code sees no files; put the data into sample["extra"].'),
    "tempfile": sentence("Reward code cannot write files; use io.StringIO or io.BytesIO."),
    "pickle": sentence("pickle runs code while it loads; use json."),
    "marshal": sentence("marshal builds code objects; use json."),
    "shelve": sentence('Reward code sees no files; put the data into sample["extra"].'),
    "importlib": sentence("importlib is not available; write an import statement."),
    "inspect": sentence("inspect reads interpreter internals; it is not available in reward code."),
    "gc": sentence("gc reaches every object of the process; it is not available in reward code."),
    "ctypes": sentence("ctypes reaches outside Python; it is not available in reward code."),
    "resource": sentence("The run's limits are set beside the function; resource is not available."),
    "timeit": sentence("timeit runs text as code; use time.perf_counter."),
    "code": sentence("code runs text as code; it is not available in reward code."),
    "builtins": sentence("The builtins are there without an import."),
}
"""Modules that are refused, with what to use instead."""

_PROGRAM = sentence("is a command-line program that reads files")
_PROCESS = sentence("starts processes")
_FILE = sentence("opens files by path")
_EVALUATES = sentence("evaluates text as code")
_FRAMES = sentence("hands out frames")
_META = sentence("builds classes past the class statement")
_LISTENS = sentence("listens")
_SOCKET_PATH = sentence("opens a socket by path")
_FORMATS = sentence("formats with the unguarded str.format")
_FOLDER = sentence("changes the working directory of the process")
_MODULES = sentence("writes into other modules")
_INTERNAL = sentence("is internal")
_SILENCE = sentence("ends logging for the whole run")
_ATTRIBUTES = sentence("reads attributes past the guard")
_LINES = sentence("reads the lines of any file")
_PATTERNS = sentence("lets a pattern take any object apart")
_SOCKETS = sentence("opens raw sockets")
_ZONES = sentence("points the reader at any folder")
_OUTSIDE = sentence("reaches outside Python")
_CODE = sentence("runs text as code")

DENY: dict[str, dict[str, Words]] = {
    "abc": {},
    "ast": {"main": _PROGRAM},
    "asyncio": {
        "create_subprocess_exec": _PROCESS, "create_subprocess_shell": _PROCESS, "subprocess": _PROCESS,
        "AbstractChildWatcher": _PROCESS, "get_child_watcher": _PROCESS, "set_child_watcher": _PROCESS,
        "SafeChildWatcher": _PROCESS, "FastChildWatcher": _PROCESS, "PidfdChildWatcher": _PROCESS,
        "MultiLoopChildWatcher": _PROCESS, "ThreadedChildWatcher": _PROCESS, "start_server": _LISTENS,
        "start_unix_server": _LISTENS, "open_unix_connection": _SOCKET_PATH,
    },
    "base64": {"main": _PROGRAM, "test": _PROGRAM},
    "calendar": {"main": _PROGRAM},
    "collections": {"UserString": _FORMATS},
    "concurrent.futures": {"ProcessPoolExecutor": _PROCESS},
    "contextlib": {"chdir": _FOLDER},
    "dataclasses": {"make_dataclass": _META},
    "enum": {
        "EnumMeta": _META, "EnumType": _META, "EnumDict": _META, "global_enum": _MODULES,
        "global_enum_repr": _MODULES, "global_flag_repr": _MODULES,
        "global_str": _MODULES,
    },
    "functools": {"singledispatch": _EVALUATES, "singledispatchmethod": _EVALUATES},
    "io": {"open": _FILE, "FileIO": _FILE, "open_code": _FILE, "OpenWrapper": _FILE, "text_encoding": _INTERNAL},
    "logging": {
        "FileHandler": _FILE, "shutdown": _SILENCE, "currentframe": _FRAMES,
    },
    "operator": {
        "attrgetter": _ATTRIBUTES, "methodcaller": _ATTRIBUTES,
    },
    "string": {"Formatter": _ATTRIBUTES},
    "threading": {
        "settrace": _FRAMES, "setprofile": _FRAMES, "settrace_all_threads": _FRAMES, "setprofile_all_threads": _FRAMES,
        "gettrace": _FRAMES, "getprofile": _FRAMES, "excepthook": _FRAMES,
    },
    "tokenize": {"open": _FILE, "main": _PROGRAM},
    "traceback": {
        "walk_stack": _FRAMES, "walk_tb": _FRAMES, "FrameSummary": _LINES,
        "StackSummary": _LINES,
    },
    "typing": {
        "get_type_hints": _EVALUATES, "ForwardRef": _EVALUATES,
        "runtime_checkable": _PATTERNS,
    },
    "urllib.request": {
        "urlretrieve": _FILE, "FileHandler": _FILE, "FTPHandler": _SOCKETS, "URLopener": _FILE,
        "CacheFTPHandler": _SOCKETS, "FancyURLopener": _FILE, "ftpwrapper": _SOCKETS,
        "pathname2url": _FILE, "url2pathname": _FILE, "urlcleanup": _FILE,
    },
    "uuid": {"main": _PROGRAM},
    "xml.etree.ElementTree": {"iterparse": _FILE},
    "zoneinfo": {"reset_tzpath": _ZONES},
    "numpy": {
        "load": _FILE, "save": _FILE, "savez": _FILE, "savez_compressed": _FILE, "fromfile": _FILE, "memmap": _FILE,
        "loadtxt": _FILE, "savetxt": _FILE, "genfromtxt": _FILE, "fromregex": _FILE, "DataSource": _FILE,
        "ctypeslib": _OUTSIDE, "f2py": _PROCESS, "testing": _CODE,
        "distutils": _PROCESS, "test": _PROCESS,
    },
    "sympy": {
        "sympify": _EVALUATES, "S": _EVALUATES, "parse_expr": _EVALUATES, "lambdify": _EVALUATES, "preview": _PROCESS,
        "test": _PROCESS, "doctest": _PROCESS, "plot": _PROCESS, "init_session": _EVALUATES, "source": _FILE,
        "utilities": _EVALUATES, "testing": _PROCESS, "external": _OUTSIDE,
    },
    "numpy.lib": {"npyio": _FILE, "format": _FILE, "introspect": _FILE},
    "sympy.parsing": {"sympy_parser": _EVALUATES, "parse_expr": _EVALUATES, "mathematica": _EVALUATES},
}  # fmt: skip
"""Names hidden from a module, each with the reason."""

ONLY: dict[str, frozenset[str]] = {
    # the rest of these modules reaches files, processes, frames or the process itself
    "os": frozenset(["path", "environ", "getenv", "cpu_count", "linesep", "sep", "pathsep", "urandom"]),
    "os.path": frozenset(
        ["join", "basename", "dirname", "splitext", "split", "normpath", "isabs", "commonprefix", "commonpath", "sep"]
    ),
    "sys": frozenset(
        [
            "maxsize",
            "version_info",
            "version",
            "stdout",
            "stderr",
            "float_info",
            "int_info",
            "hash_info",
            "platform",
            "getsizeof",
            "byteorder",
            "maxunicode",
            "exc_info",
            "getrecursionlimit",
            "setrecursionlimit",
            "intern",
            "implementation",
            "set_int_max_str_digits",
            "get_int_max_str_digits",
        ]
    ),
    "types": frozenset(
        ["SimpleNamespace", "MappingProxyType", "GenericAlias", "NoneType", "UnionType", "EllipsisType"]
    ),
    "signal": frozenset(
        ["signal", "alarm", "setitimer", "getitimer", "SIGALRM", "ITIMER_REAL", "SIG_DFL", "SIG_IGN", "Signals"]
    ),
    "codecs": frozenset(["encode", "decode", "BOM_UTF8"]),
    "gzip": frozenset(["compress", "decompress", "BadGzipFile"]),
    "pathlib": frozenset(["PurePath", "PurePosixPath", "PureWindowsPath"]),
    "shlex": frozenset(["split", "quote", "join"]),  # a shlex object opens files by name
    "warnings": frozenset(["warn", "simplefilter", "filterwarnings", "catch_warnings", "resetwarnings"]),
}
"""Modules of which only these names are shown."""


RESERVED = frozenset(["executor_worker", "RestrictedPython", "reward", "rewards_lib"])
"""Top-level names that are ours, whatever a requirement calls its modules."""


def is_allowed(name: str, packages: frozenset[str]) -> bool:
    """Tell whether a module may be imported, ``packages`` being the top-level names of the declared requirements."""
    if name in ALLOWED:
        return True
    parts = name.split(".")
    if parts[0] not in packages or parts[0] in RESERVED or parts[0] in sys.stdlib_module_names:
        return False
    return not any(hidden_reason(".".join(parts[:place]), parts[place]) for place in range(1, len(parts)))


def hidden_reason(module: str, name: str) -> Words | None:
    """Say in a whole sentence that a name of an allowed module is not shown; None when it is."""
    is_private = name.startswith("_") and name not in ("__version__", "__doc__", "__name__")
    if is_private or (module in ONLY and name not in ONLY[module]):
        return sentence("{module}.{name} is not available in reward code.", module=module, name=name)
    reason = DENY.get(module, {}).get(name)
    return reason and sentence(
        "{module}.{name} is not available in reward code: it {reason}.", module=module, name=name, reason=reason
    )


def refused_module(name: str) -> Words:
    """Say that a module of the standard library cannot be imported, and what to use instead."""
    return SUBSTITUTES.get(name.split(".", maxsplit=1)[0]) or sentence(
        "The module {name} is not available in reward code.", name=name
    )

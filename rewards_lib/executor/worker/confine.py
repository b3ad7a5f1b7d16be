"""What the kernel holds: resource limits, landlock, the system call filter, the change of user.

Invariant: each function either takes effect or raises OSError; whether all of it holds is proved by ``selftest``.
Sources: landlock(7), seccomp(2), setrlimit(2), capabilities(7); the numbers 444 to 446 are the same everywhere.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import resource
import struct
from collections.abc import Sequence

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_KEEPCAPS, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 8, 22, 38
_PR_SET_SECUREBITS, _SECBIT_NO_SETUID_FIXUP = 28, 1 << 2
_PR_SET_CHILD_SUBREAPER, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _SECCOMP_MODE_FILTER = 36, 47, 2, 2
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_CAPABILITY_VERSION, _CAP_DAC_READ_SEARCH = 0x20080522, 2

EXECUTE, READ_FILE, WRITE_FILE, READ_DIR = 1 << 0, 1 << 2, 1 << 1, 1 << 3
"""Landlock rights (linux/landlock.h)."""
_FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | 1 << 15
"""What a rule may give on a file that is no folder; the rest is refused with EINVAL."""

PID_MARK = 0x7A3C5E91
"""Stands for the own process id in a filter until it is loaded."""

NOBODY = 65534
_MOST_DATA_MB = 1 << 20


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def _prctl(option: int, *arguments: int) -> None:
    padded = [*arguments, 0, 0, 0, 0][:4]
    _check(_libc().prctl(option, *(ctypes.c_ulong(value) for value in padded)), f"prctl {option}")


def die_with_parent(signal_number: int) -> None:
    """Get a signal when the parent dies; a change of user clears it."""
    _prctl(_PR_SET_PDEATHSIG, signal_number)


def adopt_orphans() -> None:
    """Become the parent of what descendants leave behind, so that it can be found and ended."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def hide_from_debuggers() -> None:
    """Keep processes of the same user from reading this one's memory."""
    _prctl(_PR_SET_DUMPABLE, 0)


def forbid_new_privileges() -> None:
    """Make set-user-id programs powerless; landlock and seccomp ask for it."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def landlock_abi() -> int:
    """Return the kernel's landlock version; 0 when it has none."""
    return max(int(_libc().syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1))), 0)


def restrict_files(
    readable: Sequence[str], devices: Sequence[str] = (), *, runnable: Sequence[str] = (), writable: Sequence[str] = ()
) -> int:
    """Allow reading below ``readable`` and using ``devices``, nothing else; return the landlock version in force.

    Programs may be started below ``runnable``; below ``writable`` everything may be done but starting one.
    """
    abi = landlock_abi()
    if not abi:
        raise OSError("landlock is not available")
    libc = _libc()
    rights = (1 << 13) - 1 | (1 << 13 if abi >= 2 else 0) | (1 << 14 if abi >= 3 else 0) | (1 << 15 if abi >= 5 else 0)
    network, scopes = (3 if abi >= 4 else 0), (3 if abi >= 6 else 0)  # scopes: abstract sockets and signals
    attributes = struct.pack("QQQ", rights, network, scopes)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    ruleset = _check(
        libc.syscall(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint(0)), "landlock"
    )
    try:
        for path in readable:
            _allow(libc, ruleset, path, READ_FILE | READ_DIR)
        for path in devices:
            _allow(libc, ruleset, path, READ_FILE | WRITE_FILE)
        for path in runnable:
            _allow(libc, ruleset, path, EXECUTE | READ_FILE | READ_DIR)
        for path in writable:
            _allow(libc, ruleset, path, rights & ~EXECUTE)
        _check(libc.syscall(_LANDLOCK_RESTRICT, ruleset, ctypes.c_uint(0)), "landlock")
    finally:
        os.close(ruleset)
    return abi


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    try:
        if not os.path.isdir(path):
            rights &= _FILE_RIGHTS
        rule = struct.pack("=Qi", rights, handle)
        _check(libc.syscall(_LANDLOCK_ADD, ruleset, ctypes.c_uint(1), rule, ctypes.c_uint(0)), f"landlock {path}")
    finally:
        os.close(handle)


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def load_filter(program: bytes) -> None:
    """Load a compiled system call filter for this process, its own process id put in for ``PID_MARK``."""
    own = program.replace(struct.pack("=I", PID_MARK), struct.pack("=I", os.getpid()))
    buffer = ctypes.create_string_buffer(own, len(own))
    header = _FilterProgram(len(own) // 8, ctypes.addressof(buffer))
    _check(_libc().prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(header), 0, 0), "seccomp")


def become_nobody(*, keep_reading: bool, user: int = NOBODY, hands_on: bool = False) -> None:
    """Change root to uid 65534, or another user that owns nothing, without capabilities.

    ``keep_reading`` keeps the one that reads through private folders: the interpreter may live under a 0700 home,
    and landlock, which comes next, still bounds what can be read. With ``hands_on`` a program that is started then has
    it as well.
    """
    os.setgroups([])
    hands_on = hands_on and keep_reading
    if hands_on:  # else access(2) leaves out what the user has by capability alone, and linkers ask it
        _prctl(_PR_SET_SECUREBITS, _SECBIT_NO_SETUID_FIXUP)
    if keep_reading:
        _prctl(_PR_SET_KEEPCAPS, 1)
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    if keep_reading:
        header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
        kept = 1 << _CAP_DAC_READ_SEARCH
        data = struct.pack("=6I", kept, kept, kept if hands_on else 0, 0, 0, 0)
        _check(_libc().capset(header, data), "capset")
        if hands_on:
            _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_READ_SEARCH)


def data_held() -> int:
    """Return the bytes of data this process has, in steps of a megabyte: so much is left out of its limit.

    Found by halving, with one page to be had or not, since there is no /proc to look it up; 0 where the limit is not
    kept. Call it while there is one thread: whoever else asks for memory meanwhile may be refused.
    """
    before = resource.getrlimit(resource.RLIMIT_DATA)
    too_low, enough = -1, _MOST_DATA_MB if before[1] == resource.RLIM_INFINITY else before[1] >> 20
    try:
        while enough - too_low > 1:
            middle = (too_low + enough) // 2
            resource.setrlimit(resource.RLIMIT_DATA, (middle << 20, before[1]))
            try:
                mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
            except (OSError, MemoryError):
                too_low = middle
            else:
                enough = middle
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
    return enough << 20


def limit_resources(
    *, cpu_seconds: int, memory_bytes: int, processes: int | None, descriptors: int = 128, file_bytes: int = 0
) -> None:
    """Set the limits of one run. Data, not address space: allocator arenas reserve 64 MB a thread and use little."""
    limits = {
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_CPU: (cpu_seconds, cpu_seconds + 1),
        resource.RLIMIT_FSIZE: (file_bytes, file_bytes),
        resource.RLIMIT_NOFILE: (descriptors, descriptors),
        resource.RLIMIT_DATA: (memory_bytes, memory_bytes),
    }
    for name in ("RLIMIT_MSGQUEUE", "RLIMIT_NICE", "RLIMIT_RTPRIO"):
        if hasattr(resource, name):
            limits[getattr(resource, name)] = (0, 0)
    if processes is not None:
        limits[resource.RLIMIT_NPROC] = (processes, processes)
    for kind, wanted in limits.items():
        _, ceiling = resource.getrlimit(kind)
        has_ceiling = ceiling != resource.RLIM_INFINITY
        soft, hard = (min(value, ceiling) if has_ceiling else value for value in wanted)
        resource.setrlimit(kind, (soft, hard))

"""The system call filters of the worker processes, compiled by libseccomp on the host side.

Compiled once per console process (about 3 ms) and loaded as bytes in each child. Invariant: a filter that lacks a rule
is not handed out; when libseccomp is missing the answer is None and the reason is told.
"""

from __future__ import annotations

import errno
import tempfile
import threading
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from rewards_lib.contract import Sentence, sentence
from rewards_lib.executor.worker.confine import PID_MARK

_CLONE_THREAD, _SOCK_DGRAM, _SOCK_TYPE_MASK = 0x10000, 2, 0xF
_CLONE_NEW = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
"""The namespaces that clone can make: mount, cgroup, uts, ipc, user, process, network."""
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4

_ALWAYS_REFUSED = [
    "execve",
    "execveat",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "kcmp",
    "rt_sigqueueinfo",
    "rt_tgsigqueueinfo",
    "pidfd_send_signal",
    "pidfd_open",
    "pidfd_getfd",
    "tkill",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "setns",
    "unshare",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsmount",
    "fsconfig",
    "fspick",
    "mount_setattr",
    "bpf",
    "perf_event_open",
    "keyctl",
    "add_key",
    "request_key",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "reboot",
    "swapon",
    "swapoff",
    "acct",
    "quotactl",
    "syslog",
    "open_by_handle_at",
    "name_to_handle_at",
    "personality",
    "modify_ldt",
    "ioperm",
    "iopl",
    "shmget",
    "shmat",
    "shmctl",
    "msgget",
    "msgsnd",
    "msgrcv",
    "msgctl",
    "semget",
    "semop",
    "semtimedop",
    "semctl",
    "mq_open",
    "mq_unlink",
    "mq_timedsend",
    "mq_timedreceive",
    "mq_notify",
    "mq_getsetattr",
    "memfd_create",
    "memfd_secret",
    "setuid",
    "setgid",
    "setreuid",
    "setregid",
    "setresuid",
    "setresgid",
    "setfsuid",
    "setfsgid",
    "setgroups",
    "capset",
    "chmod",
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "chown",
    "fchown",
    "lchown",
    "fchownat",
    "mknod",
    "mknodat",
    "symlink",
    "symlinkat",
    "link",
    "linkat",
    "utime",
    "utimes",
    "utimensat",
    "futimesat",
    "setxattr",
    "lsetxattr",
    "fsetxattr",
    "removexattr",
    "lremovexattr",
    "fremovexattr",
    "inotify_init",
    "inotify_init1",
    "inotify_add_watch",
    "fanotify_init",
    "fanotify_mark",
    "setpriority",
    "ioprio_set",
    "sched_setaffinity",
    "sched_setscheduler",
    "sched_setparam",
    "sched_setattr",
    "sethostname",
    "setdomainname",
    "settimeofday",
    "clock_settime",
    "adjtimex",
    "clock_adjtime",
    "bind",
    "listen",
    "connect",
    "accept",
    "accept4",
    "socketcall",
]
"""Refused with EPERM in the zygote and in its children."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Compiled filters, as the kernel takes them."""

    zygote: bytes
    """Leaves fork and kill, which the zygote needs."""
    child: bytes
    """Threads only, signals to itself only."""


_lock = threading.Lock()
_filters: Filters | None = None
_reason: Sentence | None = None


def build_filters() -> Filters | None:
    """Return the compiled filters, or None when this machine has no libseccomp; ``missing_reason`` then says why."""
    global _filters, _reason
    with _lock:
        if _filters is None and not _reason:
            try:
                _filters = _build()
            except (ImportError, RuntimeError, OSError) as error:
                template = "the system call filter cannot be built ({error}): install libseccomp"
                _reason = sentence(template, error=str(error))
        return _filters


def build_program_filter(allowed: Collection[str], *, own_processes: bool) -> bytes | None:
    """Compile the filter of a program that is started inside a worker; None where ``build_filters`` has none.

    ``allowed`` are calls of the refused ones that it needs. With ``own_processes`` it may fork and signal: for
    programs that have a process namespace or a user of their own, and a limit on processes that holds.
    """
    if build_filters() is None:
        return None
    import pyseccomp

    rules = _common(pyseccomp, allowed=frozenset(allowed))
    rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")  # its flags lie in memory; glibc falls back to clone
    for flag in _CLONE_NEW:
        rules.add_rule(pyseccomp.ERRNO(errno.EPERM), "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, flag, flag))
    if not own_processes:
        _refuse_other_processes(pyseccomp, rules)
    return _export(rules)


def missing_reason() -> Sentence:
    """Say why there are no filters."""
    return _reason or sentence("the system call filter was not built")


def _build() -> Filters:
    import pyseccomp

    return Filters(zygote=_export(_common(pyseccomp)), child=_export(_strict(pyseccomp)))


def _common(seccomp: Any, allowed: frozenset[str] = frozenset()) -> Any:
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    rules.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)  # 32-bit and x32 numbers
    refuse = seccomp.ERRNO(errno.EPERM)
    for name in _ALWAYS_REFUSED:
        is_known = seccomp.resolve_syscall(seccomp.Arch.NATIVE, name) != -1  # else too new for this libseccomp
        if is_known and name not in allowed:
            rules.add_rule(refuse, name)
    rules.add_rule(seccomp.ERRNO(errno.EACCES), "socket")
    # a datagram socket can be aimed anew with every message
    rules.add_rule(refuse, "socketpair", seccomp.Arg(1, seccomp.MASKED_EQ, _SOCK_TYPE_MASK, _SOCK_DGRAM))
    return rules


def _strict(seccomp: Any) -> Any:
    """What children lose beyond the zygote's filter, which they inherit: filters stack."""
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    rules.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)
    refuse = seccomp.ERRNO(errno.EPERM)
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    _refuse_other_processes(seccomp, rules)
    rules.add_rule(refuse, "prlimit64", seccomp.Arg(2, seccomp.NE, 0))
    rules.add_rule(refuse, "setrlimit")
    for option in (_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE):
        rules.add_rule(refuse, "prctl", seccomp.Arg(0, seccomp.EQ, option))
    return rules


def _refuse_other_processes(seccomp: Any, rules: Any) -> None:
    """Threads only, signals to itself only."""
    refuse = seccomp.ERRNO(errno.EPERM)
    rules.add_rule(refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, _CLONE_THREAD, 0))
    for name in ("fork", "vfork"):
        rules.add_rule(refuse, name)
    for name in ("kill", "tgkill"):
        rules.add_rule(refuse, name, seccomp.Arg(0, seccomp.NE, PID_MARK))


def _export(rules: Any) -> bytes:
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()

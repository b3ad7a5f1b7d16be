"""The system call filters of the worker processes, compiled by libseccomp on the host side.

Compiled once per console process (about 3 ms) and loaded as bytes in each child. Invariant: a filter that lacks a rule
is not handed out; when libseccomp is missing the answer is None and the reason is told.
"""

from __future__ import annotations

import errno
import tempfile
import threading
from dataclasses import dataclass
from typing import Any

from rewards_lib.contract import Sentence, sentence
from rewards_lib.executor.worker.confine import PID_MARK

_CLONE_THREAD, _SOCK_DGRAM, _SOCK_TYPE_MASK = 0x10000, 2, 0xF
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


def missing_reason() -> Sentence:
    """Say why there are no filters."""
    return _reason or sentence("the system call filter was not built")


def _build() -> Filters:
    import pyseccomp

    return Filters(zygote=_export(_common(pyseccomp)), child=_export(_strict(pyseccomp)))


def _common(seccomp: Any) -> Any:
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    rules.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)  # 32-bit and x32 numbers
    refuse = seccomp.ERRNO(errno.EPERM)
    for name in _ALWAYS_REFUSED:
        if seccomp.resolve_syscall(seccomp.Arch.NATIVE, name) != -1:  # unknown to this libseccomp: too new for it
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
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")  # its flags lie in memory; glibc falls back to clone
    rules.add_rule(refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, _CLONE_THREAD, 0))
    rules.add_rule(refuse, "prlimit64", seccomp.Arg(2, seccomp.NE, 0))
    for name in ("fork", "vfork", "setrlimit"):
        rules.add_rule(refuse, name)
    for name in ("kill", "tgkill"):
        rules.add_rule(refuse, name, seccomp.Arg(0, seccomp.NE, PID_MARK))
    for option in (_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE):
        rules.add_rule(refuse, "prctl", seccomp.Arg(0, seccomp.EQ, option))
    return rules


def _export(rules: Any) -> bytes:
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()

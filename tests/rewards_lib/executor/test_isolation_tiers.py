"""The kernel layer: the same attacks against every tier, with the execution policy switched off.

Each attack prints WON when it gets what it must not get; run as plain Python most of them do.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from executor_inputs import payload_of

from rewards_lib.contract import Isolation
from rewards_lib.errors import DependencyError
from rewards_lib.executor import Executor, FunctionSource, Limits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel layers are Linux's")

CONFINED = ["tier=A policy=off", "tier=A namespace=own policy=off", "tier=B policy=off"]
LIBC = "import ctypes; libc = ctypes.CDLL(None, use_errno=True)"

ATTACKS = {
    "read a file": "open({secret!r}).read(); won()",
    "read the password file": "open('/etc/passwd').read(); won()",
    "read own environment": "os.environ['RC_TEST_SECRET']; won()",
    "read a process": "open(f'/proc/{{os.getppid()}}/environ').read(); won()",
    "read a process by number": "open('/proc/{victim}/environ').read(); won()",
    "write a file": "open({mark!r}, 'w').write('x'); won()",
    "write to tmp": "open('/tmp/rc-test-mark', 'w').write('x'); won()",
    "write to shared memory": "open('/dev/shm/rc-test-mark', 'w').write('x'); won()",
    "make a folder": "os.mkdir({mark!r}); won()",
    "make a link": "os.symlink('/etc', {mark!r}); won()",
    "make a pipe": "os.mkfifo({mark!r}); won()",
    "delete a file": "os.unlink({secret!r}); won()",
    "change a mode": "os.chmod({secret!r}, 0o777); won()",
    "change a time": "os.utime({secret!r}, (1, 1)); won()",
    "fork": "pid = os.fork(); won()",
    "vfork": LIBC + "; won() if libc.fork() >= 0 else None",
    "start a program": "import subprocess; subprocess.run(['/bin/true']); won()",
    "spawn a program": "os.posix_spawn('/bin/true', ['true'], {{}}); won()",
    "replace itself": "os.execv('/bin/echo', ['echo', 'WO' + 'N'])",
    "run from memory": "f = os.memfd_create('x'); won()",
    "open an inet socket": "import _socket; _socket.socket(_socket.AF_INET); won()",
    "open a unix socket": "import _socket; _socket.socket(_socket.AF_UNIX); won()",
    "open a netlink socket": "import _socket; _socket.socket(16, 3, 0); won()",
    "pair datagram sockets": "import _socket; _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_DGRAM); won()",
    "signal a process": "os.kill({victim}, 0); won()",
    "signal the parent": "os.kill(os.getppid(), 0); won()",
    "signal everybody": "os.kill(-1, 0); won()",
    "raise a limit": "import resource; resource.setrlimit(resource.RLIMIT_DATA, (-1, -1)); won()",
    "become root": "os.setuid(0); won()",
    "make a namespace": LIBC + "; won() if libc.unshare(0x10000000) == 0 else None",
    # On the test's own folder: were it ever to succeed as root, a mount on / would hide the machine from new processes.
    "mount": LIBC + "; won() if libc.mount(b'x', {folder!r}, b'tmpfs', 0, None) == 0 else None",
    "trace": LIBC + "; won() if libc.ptrace(0x4206, {victim}, 0, 0) == 0 else None",
    "io_uring": LIBC + "; won() if libc.syscall(425, 8, ctypes.create_string_buffer(256)) >= 0 else None",
    "bpf": LIBC + "; won() if libc.syscall(321, 0, ctypes.create_string_buffer(64), 64) >= 0 else None",
    "clear the parent death signal": LIBC + "; won() if libc.prctl(1, 0, 0, 0, 0) == 0 else None",
    "shared memory segment": LIBC + "; won() if libc.shmget(4711, 4096, 0o1666) >= 0 else None",
    "lift seccomp": LIBC + "; libc.prctl(22, 0, 0, 0, 0); import _socket; _socket.socket(); won()",
}


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that everybody may read, below folders that everybody may enter."""
    folder = tmp_path
    while folder != Path(folder.anchor) and folder.owner() == tmp_path.owner() and "pytest" in str(folder):
        folder.chmod(0o777)
        folder = folder.parent
    monkeypatch.setenv("RC_TEST_SECRET", "in the environment")
    file = tmp_path / "secret.txt"
    file.write_text("a secret")
    file.chmod(0o666)
    return file


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("switch", CONFINED)
def test_an_attack_is_contained_without_the_execution_policy(make_confined, secret, switch, attack):
    confined = make_confined(switch)
    mark = secret.parent / "mark"
    code = ATTACKS[attack].format(secret=str(secret), mark=str(mark), victim=os.getpid(), folder=bytes(mark.parent))
    source = (
        "import os, sys\ndef won():\n    print('WO' + 'N', flush=True)\n"
        f"def reward_fn(context, sample, completions):\n    {code}\n"
    )
    result = confined.run_function(FunctionSource(source), payload_of("x"), limits=Limits(wall_seconds=5))
    assert "WON" not in result.logs
    assert [score.value for score in result.scores] == [None]
    assert not mark.exists()
    assert (secret.read_text(), secret.stat().st_mode & 0o777) == ("a secret", 0o666)


@pytest.mark.parametrize("switch", CONFINED)
def test_the_layers_in_force_and_the_missing_policy_are_told(make_confined, switch):
    isolation = make_confined(switch).isolation()
    assert isolation.tier == switch[5]
    assert {"seccomp", "rlimits"} <= set(isolation.layers)
    assert ("bubblewrap" in isolation.layers) == (isolation.tier == "A")
    assert "execution policy" not in isolation.layers
    assert any("policy" in str(reason) for reason in isolation.lacks)


def test_a_child_that_stops_itself_still_dies_at_its_limit(make_confined):
    confined = make_confined("tier=B policy=off")
    source = "import os, signal\ndef reward_fn(c, s, r):\n    os.kill(os.getpid(), signal.SIGSTOP)\n"
    result = confined.run_function(FunctionSource(source), payload_of("x"), limits=Limits(wall_seconds=0.5))
    assert "time limit" in str(result.error)
    assert result.duration_ms < 2_000


def test_a_crash_of_the_interpreter_is_a_failure_with_the_signal(make_confined):
    confined = make_confined("tier=A policy=off")
    source = "import ctypes\ndef reward_fn(c, s, r):\n    ctypes.string_at(0)\n"
    result = confined.run_function(FunctionSource(source), payload_of("x"))
    assert "SIGSEGV" in str(result.error)


def test_the_policy_holds_where_nothing_else_does(make_confined):
    weakest = make_confined("tier=C")
    assert weakest.isolation().tier == "C"
    assert weakest.isolation().lacks
    told = weakest.isolation().to_json()
    assert Isolation.from_json(told).to_json() == told
    source = "import os\ndef reward_fn(c, s, r):\n    return getattr(os, 'system')('true')\n"
    assert "os.system is not available" in str(weakest.run_function(FunctionSource(source), payload_of("x")).error)


def test_a_required_tier_is_never_lowered_silently(monkeypatch, tmp_path):
    monkeypatch.setenv("REWARD_CONSOLE_TEST_EXECUTOR", "tier=C")
    with Executor(require="B", home=tmp_path) as executor, pytest.raises(DependencyError, match="tier B is required"):
        executor.run_function(FunctionSource("x = 1"), payload_of("x"))


def test_the_required_tier_is_read_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("REWARD_CONSOLE_TEST_EXECUTOR", "tier=C")
    monkeypatch.setenv("REWARD_CONSOLE_REQUIRE_ISOLATION", "A")
    with Executor(home=tmp_path) as executor, pytest.raises(DependencyError, match="tier A is required"):
        executor.isolation()

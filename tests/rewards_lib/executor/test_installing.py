"""Installing: told line by line, ended when asked or at a limit, shared by who wants the same, never half there."""

from __future__ import annotations

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from test_environments import build_wheel

from rewards_lib.errors import DependencyError
from rewards_lib.executor import environments, installing
from rewards_lib.executor.environments import Environments
from rewards_lib.executor.installing import InstallWatch
from rewards_lib.executor.stopping import StopSwitch

INSTALLER = """#!{python}
import os, sys, time
site = sys.argv[sys.argv.index("--target") + 1]
print("Collecting rewardtoy", flush=True)
{body}
open(os.path.join(site, "rewardtoy.py"), "w").write("x = 1")
info = os.path.join(site, "rewardtoy-1.dist-info")
os.mkdir(info)
open(os.path.join(info, "METADATA"), "w").write("Name: rewardtoy\\nVersion: 1\\n")
open(os.path.join(info, "top_level.txt"), "w").write("rewardtoy")
"""


@pytest.fixture
def fake_uv(tmp_path, monkeypatch):
    """An installer that behaves as a test wants: it is found as ``uv``."""

    def make(body: str = "") -> None:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        program = folder / "uv"
        program.write_text(INSTALLER.format(python=sys.executable, body=body))
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))

    return make


@pytest.fixture
def here(tmp_path) -> Environments:
    return Environments(tmp_path / "home")


def left(home: Path) -> list[str]:
    return sorted(entry.name for entry in (home / "environments").iterdir() if entry.suffix != ".lock")


def test_the_installers_lines_are_told_as_they_come(here, fake_uv):
    fake_uv("time.sleep(0.3); print('Installed rewardtoy')")
    told: list[tuple[float, str]] = []
    watch = InstallWatch(report=lambda line: told.append((time.monotonic(), str(line))))
    assert here.install("rewardtoy==1", watch).packages == {"rewardtoy"}
    assert [line for _, line in told] == ["Collecting rewardtoy", "Installed rewardtoy"]
    assert told[1][0] - told[0][0] > 0.2


def test_real_pip_is_told_line_by_line(here, tmp_path, monkeypatch):
    folder = tmp_path / "wheels"
    folder.mkdir()
    build_wheel(folder, "rewardtoy", "1", "")
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PATH": ""}.items():
        monkeypatch.setenv(name, value)
    told: list[str] = []
    here.install("rewardtoy==1", InstallWatch(report=lambda line: told.append(str(line))))
    assert any("rewardtoy" in line for line in told)


def test_cancelling_ends_the_installer_and_what_it_started_and_leaves_nothing(here, fake_uv, tmp_path):
    pids = tmp_path / "pids"
    fake_uv(f"import subprocess\np = subprocess.Popen(['/bin/sleep', '60'])\n"
            f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{p.pid}}')\n"
            f"open(os.path.join(site, 'half.py'), 'w').write('x')\ntime.sleep(60)")  # fmt: skip
    switch = StopSwitch()
    with ThreadPoolExecutor() as pool:
        future = pool.submit(here.install, "rewardtoy==1", InstallWatch(stop=switch))
        while not (pids.exists() and len(pids.read_text().split()) == 2):
            time.sleep(0.02)
        switch.press()
        with pytest.raises(DependencyError, match="cancelled; nothing of it is left"):
            future.result(10)
    assert left(tmp_path / "home") == []
    assert not any(_runs(int(pid)) for pid in pids.read_text().split())
    fake_uv()
    assert here.install("rewardtoy==1").packages == {"rewardtoy"}


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("body", "limits", "reason"),
    [
        ("time.sleep(60)", {"seconds": 0.5}, "more than 0.5 s"),
        (
            "open(os.path.join(site, 'big'), 'wb').write(bytes(3 << 20)); time.sleep(60)",
            {"most_bytes": 1 << 20},
            "1 MB",
        ),
        ("open(os.path.join(site, 'big'), 'wb').write(bytes(3 << 20))", {"most_bytes": 1 << 20}, "1 MB"),
        ("print('ERROR: No matching distribution'); sys.exit(1)", {}, "No matching distribution"),
        ("print('y' * 10_000_000); sys.exit(2)", {}, "yyy"),
    ],
    ids=["time", "size while it runs", "size at the end", "a failure", "a flood"],
)
def test_a_limit_or_a_failure_is_one_sentence_and_leaves_nothing(here, fake_uv, tmp_path, body, limits, reason):
    fake_uv(body)
    with pytest.raises(DependencyError, match=reason) as caught:
        here.install("rewardtoy==1", InstallWatch(**limits))
    assert len(str(caught.value)) < 3_000
    assert left(tmp_path / "home") == []


def test_a_disk_that_is_nearly_full_is_told(here, fake_uv, monkeypatch):
    fake_uv()
    monkeypatch.setattr(installing, "LEAST_FREE_BYTES", 1 << 62)
    with pytest.raises(DependencyError, match="nearly full"):
        here.install("rewardtoy==1")


def test_who_wants_the_same_waits_for_it_and_it_is_installed_once(fake_uv, tmp_path):
    count = tmp_path / "count"
    fake_uv(f"open({str(count)!r}, 'a').write('x'); time.sleep(0.6)")
    told: list[str] = []
    with ThreadPoolExecutor() as pool:
        first = pool.submit(Environments(tmp_path / "home").install, "rewardtoy==1")
        while not count.exists():
            time.sleep(0.02)
        watch = InstallWatch(report=lambda line: told.append(str(line)))
        second = pool.submit(Environments(tmp_path / "home").install, "# same\nrewardtoy ==1", watch)
        assert first.result(20) == second.result(20)
    assert count.read_text() == "x"
    assert told == ["Waiting for another installation …"]


def test_who_waits_can_cancel_without_touching_the_other(fake_uv, tmp_path):
    fake_uv("time.sleep(1)")
    waiting = threading.Event()
    switch = StopSwitch()
    with ThreadPoolExecutor() as pool:
        first = pool.submit(Environments(tmp_path / "home").install, "rewardtoy==1")
        while not list((tmp_path / "home").glob("environments/*.lock")):
            time.sleep(0.02)
        time.sleep(0.1)
        watch = InstallWatch(report=lambda _line: waiting.set(), stop=switch)
        second = pool.submit(Environments(tmp_path / "home").install, "rewardtoy==1", watch)
        assert waiting.wait(5)
        switch.press()
        with pytest.raises(DependencyError, match="cancelled"):
            second.result(5)
        assert first.result(20).packages == {"rewardtoy"}


def test_what_a_killed_console_left_half_built_is_removed(here, fake_uv, tmp_path):
    fake_uv()
    key = environments._key(environments.read_requirements("rewardtoy==1"))
    half = tmp_path / "home" / "environments" / f"{key[0]}123.half"
    (half / "site").mkdir(parents=True)
    here.install("rewardtoy==1")
    assert left(tmp_path / "home") == [key]


def test_the_installer_writes_its_temporary_files_below_the_folder_that_goes(here, fake_uv, tmp_path):
    place = tmp_path / "place"
    fake_uv(f"open({str(place)!r}, 'w').write(os.environ['TMPDIR'])")
    here.install("rewardtoy==1")
    assert Path(place.read_text()).is_relative_to(tmp_path / "home")
    assert not os.path.exists(place.read_text())

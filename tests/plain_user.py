"""A program that another user runs: what tests of walls need that must hold without root, too."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from rewards_lib.executor import places

NOBODY = 65534
NEEDS_ROOT = pytest.mark.skipif(sys.platform != "linux" or os.getuid() != 0, reason="changing the user needs root")


def run_as_plain_user(program: str, **variables: str) -> Any:
    """Run a Python program as nobody, in a home of its own, and read the JSON it prints; skips where nobody can."""
    python = _interpreter_for_everybody()
    if python is None or not places.is_reachable_by_nobody([str(places.PROJECT_FOLDER), *places.own_packages()]):
        pytest.skip("no interpreter, or not this folder, can be read by another user")
    with tempfile.TemporaryDirectory() as home:  # pytest's own folders are closed to others
        os.chown(home, NOBODY, NOBODY)
        environment = {
            "PATH": "/usr/bin:/bin", "HOME": home, "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *places.own_packages()]), **variables,
        }  # fmt: skip
        done = subprocess.run(
            [python, "-c", program], env=environment, cwd="/", capture_output=True, text=True, check=False, timeout=60,
            user=NOBODY, group=NOBODY, extra_groups=[],
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _interpreter_for_everybody() -> str | None:
    """This Python where another user may run it, else the system's of the same version."""
    system = shutil.which(f"python{sys.version_info[0]}.{sys.version_info[1]}", path="/usr/local/bin:/usr/bin")
    candidates = [places.interpreter(), *([os.path.realpath(system)] if system else [])]
    return next((path for path in candidates if places.is_reachable_by_nobody([path])), None)

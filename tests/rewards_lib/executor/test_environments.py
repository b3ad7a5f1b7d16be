"""Dependencies: which lines are taken, where they go, and what of them may be imported."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest
from executor_inputs import HEADER, payload_of

from rewards_lib.errors import DependencyError, InputError
from rewards_lib.executor import Executor, FunctionSource
from rewards_lib.executor.environments import Environments, read_requirements


def build_wheel(folder: Path, name: str, version: str, source: str, *more: str, declared: bool = True) -> None:
    """Write a wheel with one module of the distribution's name, and more empty modules."""
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", source)
        for module in more:
            wheel.writestr(f"{module}.py", "secret = 1\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
        if declared:
            wheel.writestr(f"{info}/top_level.txt", "\n".join([name, *more]))


@pytest.fixture
def index(tmp_path, monkeypatch) -> Path:
    """A folder in place of the package index."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    return folder


@pytest.fixture(params=["pip", "uv"])
def installer(request, monkeypatch) -> str:
    """Each of the two programs that can install; skips where uv is not there."""
    uv = shutil.which("uv")
    if request.param == "uv" and uv is None:
        pytest.skip("uv is not installed")
    monkeypatch.setenv("PATH", str(Path(uv).parent) if uv and request.param == "uv" else "")
    return request.param


@pytest.mark.parametrize(
    "line",
    ["-r other.txt", "-e .", "--index-url x", "./local", "/abs/path", "pkg @ file:///x", "git+https://x/y", "https://x/y.whl",
     "a b c", "x.whl", "pkg==", "pkg;bad", "pkg; os_name ~= 'x'"],
)  # fmt: skip
def test_a_line_that_is_no_plain_requirement_is_refused_with_its_number(line):
    with pytest.raises(InputError) as refused:
        read_requirements(f"# comment\nnumpy>=1.0  # fine\n{line}\n")
    assert refused.value.where == "requirements.txt line 3"


def test_names_versions_extras_markers_and_comments_are_read():
    text = "\n# all\nnumpy\nrequests[socks]>=2,<3  # why\ntomli; python_version < '3.0'\n"
    assert [str(entry) for entry in read_requirements(text)] == ["numpy", "requests[socks]<3,>=2"]


def test_what_the_console_has_itself_needs_no_installing(tmp_path):
    environments = Environments(tmp_path)
    found = environments.find("numpy\nrequests>=2.0\n")
    assert found is not None
    assert {"numpy", "requests", "urllib3", "certifi"} <= found.packages
    assert "streamlit" not in found.packages
    assert environments.find("numpy==0.0.1\n") is None
    assert environments.find("no-such-distribution\n") is None
    assert not (tmp_path / "environments").exists()


def test_a_pinned_version_is_installed_once_and_wins_over_ours(tmp_path, index, installer):
    build_wheel(index, "rewardtoy", "1.5", "__version__ = '1.5'\ndef score():\n    return 0.75\n")
    function = FunctionSource(
        HEADER + "import rewardtoy\ndef reward_fn(context, sample, completions):\n"
        "    return RewardFunctionResult([rewardtoy.score()], {'v': float(rewardtoy.__version__)})\n",
        requirements="rewardtoy==1.5\n",
    )
    with Executor(home=tmp_path / "home") as executor:
        result = executor.run_function(function, payload_of("x"))
        assert (result.error, result.scores[0].value, result.metrics) == (None, 0.75, {"v": 1.5})
        (index / "rewardtoy-1.5-py3-none-any.whl").unlink()
        assert executor.install("rewardtoy ==1.5") == executor.install("# again\nrewardtoy==1.5\n")


def test_a_requirement_cannot_take_the_name_of_our_own_modules(tmp_path, index):
    build_wheel(index, "rewardtoy", "2", "", "executor_worker", "subprocess")
    with Executor(home=tmp_path / "home") as executor:
        for module in ("executor_worker", "subprocess"):
            source = (f"try:\n    import {module} as x\nexcept ImportError:\n    x = None\n"
                      "def reward_fn(c, s, r):\n    return RewardFunctionResult([x is None])\n")  # fmt: skip
            function = FunctionSource(HEADER + source, requirements="rewardtoy==2\n")
            assert executor.run_function(function, payload_of("x")).scores[0].value == 1.0


def test_what_cannot_be_installed_is_a_failure_with_the_installers_words(tmp_path, index, installer):
    with Executor(home=tmp_path / "home") as executor:
        result = executor.run_function(FunctionSource("", requirements="no-such-thing==1\n"), payload_of("x", "y"))
        assert (result.status, [score.value for score in result.scores]) == ("failure", [None, None])
        assert "no-such-thing" in str(result.error)
        with pytest.raises(DependencyError):
            executor.install("no-such-thing==1")
    assert [entry.suffix for entry in (tmp_path / "home" / "environments").iterdir()] == [".lock"]


def test_a_folder_of_commands_is_no_package(tmp_path, index, installer):
    build_wheel(index, "rewardtoy", "3", "", declared=False)
    with zipfile.ZipFile(index / "rewardtoy-3-py3-none-any.whl", "a") as wheel:
        wheel.writestr("rewardtoy-3.data/scripts/rewardtoy", "#!python\n")
    assert Environments(tmp_path / "home").install("rewardtoy==3").packages == {"rewardtoy"}


def test_a_bad_line_is_a_failure_that_names_the_line(tmp_path):
    with Executor(home=tmp_path) as executor:
        result = executor.run_function(FunctionSource("", requirements="-e .\n"), payload_of("x"))
    assert str(result.error).startswith("requirements.txt line 1: ")


def test_only_declared_packages_can_be_imported(run):
    source = "import sympy\ndef reward_fn(context, sample, completions):\n    return RewardFunctionResult([1, 1])\n"
    assert "requirements.txt" in str(run(source, requirements="numpy\n").error)
    assert run(source, requirements="sympy\n").status == "success"


@pytest.mark.parametrize(
    "line",
    ["from numpy import testing", "import numpy.testing", "from numpy.testing import runstring",
     "import numpy.lib.npyio", "from sympy.parsing.sympy_parser import parse_expr", "from sympy import sympify",
     "import requests._internal_utils"],
)  # fmt: skip
def test_hidden_parts_of_packages_cannot_be_imported_by_their_full_name(run, line):
    result = run(line + "\ndef reward_fn(c, s, r): pass\n", requirements="numpy\nsympy\nrequests\n")
    assert result.status == "failure"
    assert result.error_line == 2

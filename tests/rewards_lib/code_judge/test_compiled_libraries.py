"""A language's own packages, compiled once: by whom, where they stand, and what happens when that fails."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from rewards_lib.code_judge import LANGUAGES, CodeJudge, Submission, Verdict
from rewards_lib.code_judge.libraries import CompiledLibraries
from rewards_lib.code_judge.toolchains import Toolchain, find_toolchain
from rewards_lib.errors import DependencyError

GO = LANGUAGES["go"]


def toolchain(script: str) -> Toolchain:
    """Go with a shell script in the place of its command; the packages wanted are its arguments."""
    language = replace(GO, library=("/bin/sh", "-ec", script, "list"), packages=("fmt",))
    return Toolchain(language, {"go": "/bin/true"})


def lists(log: Path) -> str:
    return f"echo x > one.o; echo $1 >> {shlex.quote(str(log))}; echo $1=$PWD/one.o; echo net/http=$PWD/one.o"


def test_the_common_packages_are_compiled_once_and_all_of_them_when_asked_for(tmp_path):
    libraries, chain = CompiledLibraries(tmp_path / "kept"), toolchain(lists(tmp_path / "log"))
    common = libraries.place_for(chain)
    assert libraries.place_for(chain) == common
    assert common is not None
    assert sorted(str(path.relative_to(common)) for path in common.rglob("*.a")) == ["fmt.a", "net/http.a"]
    assert libraries.place_for(chain, whole=True) != common
    assert (tmp_path / "log").read_text().split() == ["fmt", "std"]
    assert len(list((tmp_path / "kept").iterdir())) == 2, "nothing is left beside what was made"


def test_another_process_finds_what_one_has_compiled(tmp_path):
    chain = toolchain(lists(tmp_path / "log"))
    assert CompiledLibraries(tmp_path / "kept").place_for(chain) == CompiledLibraries(tmp_path / "kept").place_for(
        chain
    )
    assert (tmp_path / "log").read_text().split() == ["fmt"]


@pytest.mark.parametrize("script", ["echo no room >&2; exit 3", "true", "echo fmt=/nowhere"])
def test_a_library_that_cannot_be_compiled_is_no_verdict(tmp_path, script):
    with pytest.raises(DependencyError, match="The library of Go cannot be compiled"):
        CompiledLibraries(tmp_path).place_for(toolchain(script))
    assert not list(tmp_path.iterdir())


def test_a_language_without_a_library_needs_none(tmp_path):
    assert CompiledLibraries(tmp_path).place_for(Toolchain(LANGUAGES["c"])) is None


def judged_go(judge: CodeJudge, imports: str, line: str) -> Verdict:
    if find_toolchain(GO) is None:
        pytest.skip("go is not installed")
    source = f"package main\n\nimport (\n{imports}\n)\n\nfunc main() {{\n\t{line}\n}}\n"
    return judge.judge(Submission(source, GO, [{"stdin": "", "stdout": "3"}], is_program=True)).verdict


def test_common_packages_of_go_are_at_hand(judge):
    imports = '"fmt"\n"math/big"\n"sort"\n"container/heap"\n"encoding/json"\n"regexp"\n"sync"\n"time"\n"text/tabwriter"'
    used = "_, _, _, _, _, _, _ = sort.Ints, heap.Init, json.Marshal, regexp.MustCompile, sync.Once{}, time.Now, "
    assert judged_go(judge, imports, f"{used}tabwriter.NewWriter\n\tfmt.Println(big.NewInt(3))") is Verdict.ACCEPTED


def test_a_package_that_is_not_common_is_compiled_for_the_first_who_wants_it(tmp_path, monkeypatch):
    found = find_toolchain(GO)
    few = found and replace(found, language=replace(GO, packages=("fmt",), every_package="container/ring"))
    monkeypatch.setattr("rewards_lib.code_judge.toolchains.find_toolchain", lambda _language: few)
    with CodeJudge(home=tmp_path, workers=1) as judge:
        assert judged_go(judge, '"container/ring"', "println(ring.New(3).Len())") is Verdict.WRONG_ANSWER
        assert judged_go(judge, '"no/such"', "such.Run()") is Verdict.COMPILE_ERROR

"""A header that is compiled before: found by those who include it, and a matter of speed alone."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from rewards_lib.code_judge import LANGUAGES, CodeJudge, anonymous_files
from rewards_lib.code_judge.headers import PrecompiledHeaders
from rewards_lib.code_judge.toolchains import find_toolchain

SOURCE = "#include <cstdio>\nint main() { puts(MARK); }"


@pytest.fixture
def toolchain():
    """C++ with a small header in the place of the large one."""
    found = find_toolchain(LANGUAGES["cpp"])
    if found is None:
        pytest.skip("g++ is not installed")
    return replace(found, language=replace(found.language, header="cstdio"))


def headers(folder, content: bytes | None) -> PrecompiledHeaders:
    def build(_toolchain):
        return None if content is None else anonymous_files.shared(content)

    return PrecompiledHeaders(folder, build)


def test_a_header_is_found_once_it_was_made_by_sources_that_include_it(tmp_path, toolchain):
    kept = headers(tmp_path, b"compiled")
    assert kept.make(toolchain)
    place = kept.place_for(toolchain, SOURCE)
    assert place is not None
    assert (place / "cstdio.gch").read_bytes() == b"compiled"
    assert kept.place_for(toolchain, "int main() {}") is None
    assert kept.place_for(toolchain, "// #include <cstdio>") is None


def test_other_flags_and_another_compiler_have_a_header_of_their_own(tmp_path, toolchain):
    kept = headers(tmp_path, b"compiled")
    kept.make(toolchain)
    assert kept.place_for(replace(toolchain, tools={"g++": sys.executable}), SOURCE) is None


def test_a_header_that_cannot_be_made_or_kept_is_left_out(tmp_path, toolchain):
    assert not headers(tmp_path, None).make(toolchain)
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert not headers(blocked, b"compiled").make(toolchain)


def test_the_compiler_takes_a_header_that_a_worker_compiled(tmp_path, toolchain):
    """The header in the worker's place defines MARK; without it the program does not compile."""
    with CodeJudge(home=tmp_path, workers=1) as judge:
        assert judge._headers.make(toolchain)
        [made] = tmp_path.rglob("cstdio.gch")
        made.with_suffix("").write_text('#include <stdio.h>\n#define MARK "from the header"\n')
        made.unlink()
        made.write_bytes(b"no header of this compiler")
        program, compilation, _ = judge.make_ready(toolchain, SOURCE, 10.0, "test", None)
        assert program is not None, compilation
        program.close()

"""The contract that every language keeps: each way to end has its verdict, in every language alike."""

from __future__ import annotations

import pytest
from judged_programs import PROGRAMS, WORDS

from rewards_lib.code_judge import LANGUAGES, Verdict
from rewards_lib.code_judge.toolchains import ToolchainError, find_toolchain, need_toolchain

VERDICTS = dict(
    zip(
        WORDS,
        (
            Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR, Verdict.TIME_LIMIT, Verdict.MEMORY_LIMIT,
            Verdict.OUTPUT_LIMIT,
        ),
        strict=True,
    )
)  # fmt: skip


@pytest.fixture(params=LANGUAGES)
def language(request):
    found = LANGUAGES[request.param]
    if find_toolchain(found) is None:
        pytest.skip(f"{', '.join(found.tools)} is not installed")
    return found


def test_every_language_has_its_program_here():
    assert set(PROGRAMS) == set(LANGUAGES)


@pytest.mark.parametrize("word", WORDS)
def test_every_end_has_its_verdict(verdict_of, language, word):
    judged = PROGRAMS[language.name]
    seconds = 0.6 if word == "loop" else 10.0
    got = verdict_of(judged.source, f"{word}\n", "42\n", language.name, run_seconds=seconds, memory_mb=judged.memory_mb)
    assert got.verdict is VERDICTS[word], got.outcomes


def test_what_is_not_the_language_is_a_compile_error_with_the_compilers_words(verdict_of, language):
    broken = PROGRAMS[language.name].broken
    if not broken:
        pytest.skip(f"{language.title} finds mistakes when it runs")
    got = verdict_of(broken, language=language.name)
    assert got.verdict is Verdict.COMPILE_ERROR
    told = got.compilation or got.outcomes[0].execution
    assert told is not None
    assert told.stderr


def test_the_sample_of_a_language_is_accepted(verdict_of, language):
    assert verdict_of(language.sample, "17 25\n", "42\n", language.name, run_seconds=10.0).accepted


def test_a_java_program_may_be_in_a_package_and_its_class_called_anything(verdict_of):
    if find_toolchain(LANGUAGES["java"]) is None:
        pytest.skip("javac is not installed")
    source = (
        "// package of.no.meaning;\npackage of.mine;\nclass Part { static int three() { return 3; } }\n"
        "public class Anything { public static void main(String[] a) { System.out.println(Part.three()); } }\n"
    )
    assert verdict_of(source, "", "3", "java", run_seconds=10.0).accepted


def test_a_missing_toolchain_says_what_to_install(monkeypatch):
    monkeypatch.setattr("rewards_lib.code_judge.toolchains.find_toolchain", lambda _language: None)
    with pytest.raises(ToolchainError, match="golang") as error:
        need_toolchain(LANGUAGES["go"])
    assert error.value.http_status == 501

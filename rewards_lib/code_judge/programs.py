"""A program made ready to run: its files, its command, what it may read, and the limits of its language.

Invariant: whatever is started is started through the orders built here, with the profile that fits it.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rewards_lib.code_judge import anonymous_files, toolchains
from rewards_lib.code_judge.languages import Language, main_class, started_class
from rewards_lib.code_judge.runs import RunLimits, RunOrder
from rewards_lib.code_judge.toolchains import Toolchain
from rewards_lib.executor import places

_ENVIRONMENT = {**places.ENVIRONMENT, "HOME": "{box}", "TMPDIR": "{box}", "ONLINE_JUDGE": "1"}
_COMPILER_MB, _COMPILER_SLACK_MB = 1024, 2048
_HEADER_SECONDS, _HEADER_MB = 60.0, 200
_IMPORT = re.compile(
    r"^[ \t]*(?:import|from)[ \t]+([A-Za-z_]\w*)(?:[\w.]*(?:[ \t]+as[ \t]+\w+)?[ \t]*,[ \t]*(\w+))?", re.M
)


@dataclass(frozen=True, slots=True)
class ReadyProgram:
    """A program that can be run again and again. Owns its descriptor."""

    toolchain: Toolchain
    descriptor: int
    """The binary of a compiled language, the source of another."""
    source: str

    @property
    def language(self) -> Language:
        """Its language."""
        return self.toolchain.language

    @property
    def needs_packages(self) -> bool:
        """Whether a Python program imports more than the standard library."""
        names = {name for found in _IMPORT.findall(self.source) for name in found if name}
        return not names <= sys.stdlib_module_names

    def limits(self, seconds: float, memory_mb: int) -> RunLimits:
        """The limits of one run."""
        return RunLimits(seconds, memory_mb, data_slack_mb=self.language.data_slack_mb, stack_mb=self.language.stack_mb)

    def order(
        self, limits: RunLimits, *, arguments: Sequence[str] = (), files: Mapping[str, int] | None = None,
        fetch: Sequence[str] = (),
    ) -> RunOrder:  # fmt: skip
        """What a worker is told to run it once; ``files`` are placed beside it, ``fetch`` are brought back."""
        language, chain = self.language, self.toolchain
        name = language.program_file or _file_name(language, self.source)
        placed = {name: self.descriptor, **(files or {})}
        python, command = None, tuple(_filled(part, chain, self.source, limits.memory_mb) for part in language.run)
        readable = (*toolchains.readable_by_all(), *chain.readable)
        if not language.run:
            site = list(chain.readable) if self.needs_packages else []
            readable = readable if site else toolchains.readable_by_all()
            python = {"file": name, "site": site, "arguments": list(arguments)}
        return RunOrder(
            limits, (*command, *arguments) if command else (), python, placed, tuple(fetch), fetch_always=True,
            readable=readable, runnable=chain.runnable, environment=_ENVIRONMENT | dict(language.environment),
        )  # fmt: skip

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self.descriptor)


@contextmanager
def compile_order(
    toolchain: Toolchain, source: str, seconds: float, *, header: str | None = None, library: str | None = None
) -> Iterator[RunOrder]:
    """What a worker is told to compile a source: the compiler may start what belongs to it, and sees no tests.

    ``header`` is a folder with precompiled headers, searched first; ``library`` the language's compiled packages.
    """
    language = toolchain.language
    everything = (*toolchains.readable_by_all(), *toolchain.compiler_readable)
    filled = (_filled(part, toolchain, source, _COMPILER_MB) for part in language.compile)
    command = tuple(part.replace("{library}", library or "") for part in filled)
    searched = ("-I", header) if header else ()
    prepared = tuple(filter(None, (header, library)))
    descriptor = anonymous_files.shared(source.encode("utf-8", "surrogatepass"), "source")
    with anonymous_files.closing(descriptor):
        yield RunOrder(
            RunLimits(seconds, _COMPILER_MB, _COMPILER_SLACK_MB, stack_mb=64), (*command, *searched),
            files={_file_name(language, source): descriptor}, fetch=(language.artifact,), profile="compiler",
            readable=(*everything, *prepared), runnable=everything,
            environment=_ENVIRONMENT | dict(language.environment),
        )  # fmt: skip


@contextmanager
def header_order(toolchain: Toolchain, flags: Sequence[str]) -> Iterator[RunOrder]:
    """What a worker is told to precompile the language's header."""
    language = toolchain.language
    everything = (*toolchains.readable_by_all(), *toolchain.compiler_readable)
    compiler = _filled(language.compile[0], toolchain, "", _COMPILER_MB)
    descriptor = anonymous_files.shared(f"#include <{language.header}>\n".encode(), "source")
    with anonymous_files.closing(descriptor):
        yield RunOrder(
            RunLimits(_HEADER_SECONDS, _COMPILER_MB, _COMPILER_SLACK_MB, output_mb=_HEADER_MB, stack_mb=64),
            (compiler, *flags, "-x", "c++-header", "header.h", "-o", "header.gch"), files={"header.h": descriptor},
            fetch=("header.gch",), profile="compiler", readable=everything, runnable=everything,
            environment=_ENVIRONMENT | dict(language.environment),
        )  # fmt: skip


def cache_parts(toolchain: Toolchain, source: str) -> tuple[str, ...]:
    """What a compiled program depends on."""
    language = toolchain.language
    return (language.name, toolchain.version, "\0".join(language.compile), _file_name(language, source), source)


def _file_name(language: Language, source: str) -> str:
    return language.file.replace("{class}", main_class(source)) if "{class}" in language.file else language.file


def _filled(part: str, toolchain: Toolchain, source: str, memory_mb: int) -> str:
    part = part.replace("{memory_mb}", str(memory_mb))
    if "{class}" in part or "{main}" in part:
        part = part.replace("{class}", main_class(source)).replace("{main}", started_class(source))
    return toolchain.filled(part)


def close_all(programs: Sequence[ReadyProgram | None]) -> None:
    """Close what was made ready."""
    for program in programs:
        if program is not None:
            with contextlib.suppress(OSError):
                program.close()

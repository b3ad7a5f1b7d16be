"""The languages of the judge: one entry each, with how a program is compiled and run.

Invariant: adding a language is adding an entry here; nothing else knows a language by its name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache

from rewards_lib.errors import InputError

COMPILED_SECONDS, INTERPRETED_SECONDS = 10.0, 20.0
SAMPLE_INPUT, SAMPLE_OUTPUT = "17 25\n", "42\n"
"""A test of every language's sample."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language. Commands name tools as ``{g++}`` and the program's folder as ``.``."""

    name: str
    title: str
    aliases: tuple[str, ...]
    file: str
    """What the source is called; ``{class}`` stands for the public class, ``{main}`` for it behind its package."""
    run: tuple[str, ...]
    """The command of a test; empty for Python, which the workers run themselves."""
    seconds: float
    tools: tuple[str, ...] = ()
    """Programs that must be installed, the one whose version tells the toolchain's first."""
    compile: tuple[str, ...] = ()
    artifact: str = ""
    """The file that the compiler makes, ``*.class`` for all of a kind packed as one."""
    program_file: str = ""
    """What the artifact is called when a test runs."""
    install: str = ""
    """What to install when a tool is missing."""
    reads: tuple[str, ...] = ()
    """Beside the system's libraries, what a running program reads or starts."""
    compiler_reads: tuple[str, ...] = ()
    data_slack_mb: int = 0
    """Data that the runtime reserves beyond what the program uses; resident memory is limited all the same."""
    stack_mb: int = 256
    environment: tuple[tuple[str, str], ...] = ()
    sample: str = field(default="", compare=False)
    """Reads two integers and prints their sum: the canary, and the first thing a page shows."""
    header: str = ""
    """A header of everything that many programs include; compiled once where its language allows that."""
    library: tuple[str, ...] = ()
    """The command that compiles packages of the language itself and lists them as ``name=file``, the packages left out;
    done once a machine, and ``{library}`` in ``compile`` is the folder of the results.
    """
    packages: tuple[str, ...] = ()
    """What programs commonly import."""
    every_package: str = ""
    """Stands for all packages: compiled only when a program wants one that is not common."""
    no_package: str = ""
    """What the compiler says where a package is missing."""
    takes_plain_text: bool = False
    starts_programs: bool = False
    """Running programs start others: what they may start is in ``reads``."""

    @property
    def is_compiled(self) -> bool:
        """Whether there is a compiler to run before the tests."""
        return bool(self.compile)


_BINARIES = ("/usr/bin", "/bin", "/usr/libexec")
_C_READS = (*_BINARIES, "/usr/include", "/usr/local/include", "/etc/alternatives")
_JAVA_READS = ("/etc/java-11-openjdk", "/etc/java-17-openjdk", "/etc/java-21-openjdk", "/etc/java-25-openjdk")
_SERIAL = ("-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto")
_GO_PACKAGES = (
    "bufio", "bytes", "cmp", "container/heap", "container/list", "container/ring", "context", "crypto/md5",
    "encoding/binary", "encoding/json", "errors", "fmt", "hash/crc32", "hash/fnv", "hash/maphash", "io", "io/ioutil",
    "iter", "log", "maps", "math", "math/big", "math/bits", "math/cmplx", "math/rand", "math/rand/v2", "os", "reflect",
    "regexp", "runtime", "runtime/debug", "slices", "sort", "strconv", "strings", "sync", "sync/atomic",
    "text/tabwriter", "time", "unicode", "unicode/utf16", "unicode/utf8", "unsafe",
)  # fmt: skip
_THREAD_STACKS_MB = 2048
"""Threads of C and C++ get stacks of the main one's size, reserved and hardly used: eight of them."""

_CPP_STANDARDS = {f"{name}{year}": f"c++{year}" for name in ("cpp", "c++") for year in (11, 14, 17, 20, 23)}
"""Names of C++ that ask for a standard."""

_LANGUAGES = (
    Language(
        "python", "Python", ("py", "python3", "py3"), "main.py", (), INTERPRETED_SECONDS, takes_plain_text=True,
        sample="a, b = map(int, input().split())\nprint(a + b)\n",
    ),
    Language(
        "cpp", "C++", ("c++", "cc", "cxx", "g++", *_CPP_STANDARDS), "main.cpp", ("./main",),
        COMPILED_SECONDS, ("g++",),
        ("{g++}", "-O2", "-std=c++17", "-DONLINE_JUDGE", "-pipe", "main.cpp", "-o", "main", "-lm"),
        "main", "main", "g++", compiler_reads=_C_READS, data_slack_mb=_THREAD_STACKS_MB, header="bits/stdc++.h",
        sample="#include <iostream>\nint main() {\n    long long a, b;\n    std::cin >> a >> b;\n"
        "    std::cout << a + b << '\\n';\n}\n",
    ),
    Language(
        "c", "C", ("c99", "c11", "c17", "gcc"), "main.c", ("./main",), COMPILED_SECONDS, ("gcc",),
        ("{gcc}", "-O2", "-std=gnu17", "-DONLINE_JUDGE", "-pipe", "main.c", "-o", "main", "-lm"),
        "main", "main", "gcc", compiler_reads=_C_READS, data_slack_mb=_THREAD_STACKS_MB,
        sample='#include <stdio.h>\nint main(void) {\n    long long a, b;\n    scanf("%lld %lld", &a, &b);\n'
        '    printf("%lld\\n", a + b);\n    return 0;\n}\n',
    ),
    Language(
        "javascript", "JavaScript", ("js", "node", "nodejs"), "main.js",
        ("{node}", "--stack-size=60000", "--max-old-space-size={memory_mb}", "main.js"), INTERPRETED_SECONDS,
        ("node",), install="nodejs", data_slack_mb=4096, stack_mb=64,
        sample="const [a, b] = require('fs').readFileSync(0, 'utf8').split(/\\s+/).map(BigInt);\n"
        "console.log(String(a + b));\n",
    ),
    Language(
        "bash", "Bash", ("sh", "shell"), "main.sh", ("{bash}", "main.sh"), INTERPRETED_SECONDS, ("bash",),
        install="bash", reads=(*_BINARIES, "/etc/alternatives", "/usr/share/awk"), starts_programs=True,
        sample="read -r a b\necho $((a + b))\n",
    ),
    Language(
        "go", "Go", ("golang",), "main.go", ("./main",), COMPILED_SECONDS, ("go",),
        ("/bin/sh", "-ec",
         "{go} tool compile -p main -I {library} -o main.a main.go; {go} tool link -s -w -L {library} -o main main.a"),
        "main", "main", "golang", compiler_reads=("/bin/sh",), data_slack_mb=4096,
        library=("{go}", "list", "-e", "-export", "-deps", "-f", "{{if .Export}}{{.ImportPath}}={{.Export}}{{end}}"),
        packages=_GO_PACKAGES, every_package="std", no_package="could not import",
        environment=(("GOTOOLCHAIN", "local"), ("GO111MODULE", "off"), ("GOTELEMETRY", "off")),
        sample='package main\n\nimport "fmt"\n\nfunc main() {\n\tvar a, b int64\n\tfmt.Scan(&a, &b)\n'
        "\tfmt.Println(a + b)\n}\n",
    ),
    Language(
        "java", "Java", (), "{class}.java",
        ("{java}", "-Xmx{memory_mb}m", "-Xss128m", *_SERIAL, "-XX:TieredStopAtLevel=1", "-cp", "program.jar",
         "{main}"),
        COMPILED_SECONDS, ("javac", "java"),
        ("{javac}", "-J-Xmx512m", *(f"-J{flag}" for flag in _SERIAL), "-J-XX:TieredStopAtLevel=1", "-encoding",
         "UTF-8", "-nowarn", "-d", ".", "{class}.java"),
        "*.class", "program.jar", "default-jdk-headless", reads=_JAVA_READS, compiler_reads=_JAVA_READS,
        data_slack_mb=2048, stack_mb=64,
        sample="import java.util.Scanner;\n\npublic class Main {\n    public static void main(String[] args) {\n"
        "        Scanner in = new Scanner(System.in);\n        System.out.println(in.nextLong() + in.nextLong());\n"
        "    }\n}\n",
    ),
    Language(
        "rust", "Rust", ("rs",), "main.rs", ("./main",), COMPILED_SECONDS, ("rustc", "cc"),
        ("{rustc}", "-O", "--edition=2021", "-C", "debuginfo=0", "main.rs", "-o", "main"), "main", "main", "rustc, gcc",
        compiler_reads=_C_READS, data_slack_mb=64,
        sample="use std::io::*;\n\nfn main() {\n    let mut text = String::new();\n"
        "    stdin().read_to_string(&mut text).unwrap();\n"
        "    let sum: i64 = text.split_whitespace().map(|word| word.parse::<i64>().unwrap()).sum();\n"
        '    println!("{}", sum);\n}\n',
    ),
)  # fmt: skip

LANGUAGES: dict[str, Language] = {language.name: language for language in _LANGUAGES}
"""By name, in the order in which pages and documents list them."""


@cache
def _names() -> dict[str, Language]:
    return {name: one for one in _LANGUAGES for name in (one.name, *one.aliases)}


def find_language(name: str) -> Language:
    """Look a language up by its name or an alias, case ignored. Raises InputError that lists the languages."""
    called = name.strip().lower()
    found = _names().get(called)
    if called in _CPP_STANDARDS and found is not None:
        standard = f"-std={_CPP_STANDARDS[called]}"
        flags = (standard if part.startswith("-std=") else part for part in found.compile)
        return replace(found, compile=tuple(flags))
    if found is None:
        raise InputError(
            "The language {name!r} is not known.", name=name, remedy="Known are: {names}.", names=", ".join(LANGUAGES)
        )
    return found


_JAVA_NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_PUBLIC_CLASS = re.compile(r"\bpublic\s+(?:(?:final|abstract|strictfp)\s+)*(?:class|enum|interface|record)\s+(\w+)")
_ANY_CLASS = re.compile(r"\b(?:class|enum|interface|record)\s+(\w+)")
_MAIN_METHOD = re.compile(r"\bpublic\s+static\s+void\s+main\b|\bstatic\s+public\s+void\s+main\b")


_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;")


def started_class(source: str) -> str:
    """The class that a Java program is started by: its main class, behind the package that it is in."""
    package = _PACKAGE.match(_JAVA_NOISE.sub(" ", source))
    return f"{package[1]}.{main_class(source)}" if package else main_class(source)


def main_class(source: str) -> str:
    """Find the class whose name the file of a Java program must have: the public one, else the one with ``main``."""
    text = _JAVA_NOISE.sub(" ", source)
    public = _PUBLIC_CLASS.search(text)
    if public:
        return public[1]
    main = _MAIN_METHOD.search(text)
    names = [found[1] for found in _ANY_CLASS.finditer(text, 0, main.start() if main else len(text))]
    return names[-1] if names else "Main"

"""One policy check as a program: a JSON string on standard input, findings as JSON on standard output."""

from __future__ import annotations

import json
import resource
import sys

from .compiling import compile_source

_SECONDS = 10
_BYTES = 1 << 30


def main() -> None:
    """Read, check, write."""
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (_BYTES, _BYTES))
    _, findings = compile_source(json.load(sys.stdin))
    json.dump(findings, sys.stdout)

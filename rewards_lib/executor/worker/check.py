"""One check as a program: a request as JSON on standard input, findings as JSON on standard output."""

from __future__ import annotations

import json
import resource
import sys

from .advice import check

_SECONDS = 10
_BYTES = 1 << 30


def main() -> None:
    """Read, check, write."""
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (_BYTES, _BYTES))
    json.dump(check(json.load(sys.stdin)), sys.stdout)

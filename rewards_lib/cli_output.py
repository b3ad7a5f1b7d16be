"""What every command writes: one JSON result on standard output, the next step for people on standard error."""

from __future__ import annotations

import sys

from rewards_lib.contract import JsonObject
from rewards_lib.strict_json import write_json

CONSOLE_URL = "http://127.0.0.1:8501"


def print_result(result: JsonObject) -> None:
    """Write a result as strict JSON to standard output, whatever the terminal's encoding."""
    sys.stdout.buffer.write(write_json(result, indent=1).encode("utf-8") + b"\n")
    sys.stdout.buffer.flush()


def print_next(step: str) -> None:
    """Say what to do next, for people: on standard error, so that pipes stay clean."""
    print(f"Next: {step}", file=sys.stderr)

"""A policy check without a warm worker: one short-lived process, where none can be started.

Invariant: the source is parsed in that process, never in this one: deep nesting can kill the parser.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Collection

from rewards_lib.contract import Finding, JsonObject, sentence
from rewards_lib.executor import places
from rewards_lib.executor.worker_report import read_findings

_SECONDS = 20


def check_once(source: str, packages: Collection[str] | None = None, *, advice: bool = False) -> tuple[Finding, ...]:
    """List what the policy refuses in a source, and its hints; never raises on any text.

    With ``advice`` also what will fail when it runs. ``packages`` are the top-level names that may be imported beside
    the standard library; None leaves that open.
    """
    command = places.worker_command("check")
    text = json.dumps(check_request(source, packages, advice=advice)).encode()
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, timeout=_SECONDS, check=False, env=places.ENVIRONMENT, cwd="/"
        )
        return read_findings(json.loads(done.stdout))
    except (ValueError, subprocess.TimeoutExpired):
        return (unparsable(),)


def check_request(source: str, packages: Collection[str] | None, *, advice: bool) -> JsonObject:
    """What a worker is asked for a check."""
    return {"source": source, "packages": None if packages is None else sorted(packages), "advice": advice}


def unparsable() -> Finding:
    """The finding for a source that killed its checker."""
    message = sentence("The code is nested too deeply to be compiled.")
    return Finding("error", message, rule="syntax", line=1, column=1, end_column=2)

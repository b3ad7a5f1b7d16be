"""The examples that ship with the console, as every page offers them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from rewards_lib.contract import JsonObject, Payload
from rewards_lib.payloads import read_payload
from rewards_lib.strict_json import read_json

FOLDER = Path(__file__).resolve().parents[1] / "examples"


def math_mix() -> JsonObject:
    """The mix file that a newcomer finds on Compose."""
    content: JsonObject = read_json(read("math/mix.json"))
    return content


@cache
def math_samples() -> list[Payload]:
    """Mathematics samples with completions from right to cut off."""
    return [read_payload(line) for line in read("math/samples.jsonl").splitlines()]


def requests() -> dict[str, str]:
    """Requests for the Test page: the dialect of each, and its text."""
    return {name: read(f"payloads/{name}.json") for name in ("ark_envelope", "bare_request", "dataset_row")}


def functions() -> dict[str, JsonObject]:
    """Starting points for reward.py: a usable name, and what the store keeps of a function.

    A file of the same name with the ending .txt holds the requirements.
    """
    return {path.stem: _content(path) for path in sorted((FOLDER / "functions").glob("*.py"))}


def _content(path: Path) -> JsonObject:
    source = path.read_text(encoding="utf-8")
    return {"source": source, "requirements": _beside(path), "allow_hosts": [], "limits": {}}


def _beside(path: Path) -> str:
    requirements = path.with_suffix(".txt")
    return requirements.read_text(encoding="utf-8") if requirements.exists() else ""


@cache
def read(name: str) -> str:
    """The text of an example file."""
    return (FOLDER / name).read_text(encoding="utf-8")

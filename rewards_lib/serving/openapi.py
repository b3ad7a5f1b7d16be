"""What the service says of itself: the shapes of requests and answers, and a page that lists them without scripts."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from rewards_lib.contract import JsonObject
from rewards_lib.serving.handler import Dialect
from rewards_lib.strict_json import write_json

DESCRIPTION = (
    "Rewards of published versions. `name` follows the newest version, `name@2` stays with one. A completion that "
    "could not be scored is `null`, never 0. Overload is answered 503 with Retry-After."
)
_NUMBER_OR_NULL: JsonObject = {"anyOf": [{"type": "number"}, {"type": "null"}]}
_SAMPLE: JsonObject = {
    "type": "object",
    "properties": {
        "messages": {"type": "array", "items": {"type": "object"}},
        "extra": {"type": "object", "description": "`answer` is the ground truth"},
        "tools": {"type": "array", "items": {"type": "object"}},
    },
}
_BARE: JsonObject = {
    "type": "object",
    "required": ["sample", "completions"],
    "properties": {
        "context": {"type": "object"}, "sample": _SAMPLE,
        "completions": {"type": "array", "minItems": 1, "items": {}, "description": "one text or message list each"},
    },
}  # fmt: skip
_ENVELOPE: JsonObject = {"type": "object", "required": ["data"], "properties": {"data": _BARE}}
_REWARDS: JsonObject = {
    "type": "object",
    "required": ["rewards", "metrics", "status"],
    "properties": {
        "rewards": {"type": "array", "items": _NUMBER_OR_NULL},
        "metrics": {"type": "object", "additionalProperties": {"type": "number"}},
        "status": {"enum": ["success", "failure"]},
        "error": {"type": "string", "description": "only on failure"},
    },
}
_FAILURE: JsonObject = {
    "type": "object",
    "properties": {
        "status": {"const": "failure"}, "error": {"type": "string"}, "code": {"type": "string"},
    },
}  # fmt: skip
_TEXTS: JsonObject = {"type": "array", "items": {"type": "string"}}
_EXAMPLE: JsonObject = {
    "sample": {"messages": [{"role": "user", "content": "What is 1/2?"}], "extra": {"answer": "0.5"}},
    "completions": ["so \\boxed{0.5}"],
}


@dataclass(frozen=True, slots=True)
class Told:
    """A route in words and shapes."""

    summary: str
    description: str
    extra: JsonObject


def _extra(request: JsonObject, answer: JsonObject, example: JsonObject) -> JsonObject:
    failures = {
        "401": "the bearer token is missing or wrong", "404": "nothing is published under this name",
        "410": "the version was withdrawn", "413": "the body is too large",
        "415": "the body is not declared as JSON", "422": "the body has another shape: the error names the JSON path",
        "503": "too many requests, or a completion that this dialect cannot call unscored: see Retry-After",
    }  # fmt: skip
    return {
        "requestBody": {
            "required": True, "content": {"application/json": {"schema": request, "example": example}},
        },
        "responses": {
            "200": {"description": "the rewards", "content": {"application/json": {"schema": answer}}},
            **{
                status: {"description": told, "content": {"application/json": {"schema": _FAILURE}}}
                for status, told in failures.items()
            },
        },
    }  # fmt: skip


ROUTES: tuple[tuple[str, Dialect, Told], ...] = (
    (
        "/rewards/{name}", "ark",
        Told(
            "Rewards, as Ark asks for them",
            "Takes the Ark envelope, the bare form, or a dataset row with completions.",
            _extra({"anyOf": [_ENVELOPE, _BARE]}, _REWARDS, _EXAMPLE),
        ),
    ),
    (
        "/openrlhf/{name}", "openrlhf",
        Told(
            "Rewards, as OpenRLHF's remote reward asks for them",
            "A query is the prompt with the response behind it; a label is the ground truth, an object all of extra.",
            _extra(
                {"type": "object", "required": ["query"],
                 "properties": {"query": _TEXTS, "prompts": _TEXTS, "labels": {"type": "array", "items": {}}}},
                {"type": "object", "properties": {
                    "rewards": {"type": "array", "items": {"type": "number"}},
                    "scores": {"type": "array", "items": {"type": "number"}}, "extra_logs": {"type": "object"}}},
                {"query": ["What is 1/2? so \\boxed{0.5}"], "prompts": ["What is 1/2?"], "labels": ["0.5"]},
            ),
        ),
    ),
    (
        "/slime/{name}", "slime",
        Told(
            "One reward, as slime's remote reward asks for it",
            "The answer's body is the number.",
            _extra(
                {"type": "object", "required": ["response"],
                 "properties": {"prompt": {}, "response": {"type": "string"}, "label": {}}},
                {"type": "number"},
                {"prompt": "What is 1/2?", "response": "so \\boxed{0.5}", "label": "0.5"},
            ),
        ),
    ),
)  # fmt: skip

_STYLE = (
    "body{font:14px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f27}"
    "h1{font-size:1.5rem}h2{font-size:1.05rem;margin-top:2rem}pre{background:#f6f7f9;border:1px solid #dde1e7;"
    "padding:.6rem;overflow:auto;border-radius:6px}code{font-family:ui-monospace,monospace}td{padding:0 1rem 0 0}"
)


def page(schema: dict[str, Any]) -> str:
    """The routes as one page of HTML: no script and no other machine is needed to read it."""
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{_e(schema['info']['title'])}</title>",
        f"<style>{_STYLE}</style><h1>{_e(schema['info']['title'])}: reward service</h1>",
        f"<p>{_e(schema['info']['description'])} <a href=/openapi.json>openapi.json</a></p>",
    ]
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            parts.append(f"<h2><code>{method.upper()} {_e(path)}</code></h2><p>{_e(route.get('summary', ''))}.")
            parts.append(f" {_e(route.get('description', ''))}</p>")
            body = route.get("requestBody", {}).get("content", {}).get("application/json", {})
            if "example" in body:
                parts.append(f"<pre>{_e(write_json(body['example'], indent=1))}</pre>")
            rows = "".join(
                f"<tr><td>{_e(status)}<td>{_e(answer.get('description', ''))}"
                for status, answer in sorted(route.get("responses", {}).items()) if method == "post"
            )  # fmt: skip
            parts.append(f"<table>{rows}</table>" if rows else "")
    return "\n".join(parts)


def _e(text: str) -> str:
    return html.escape(str(text))

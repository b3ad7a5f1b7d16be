"""OpenRLHF's remote reward: ``{"query": [...], "prompts": [...], "labels": [...]}`` in, lists of rewards out.

A query is the prompt with the response behind it, special tokens included. Neighbours with the same prompt and label
are the completions of one sample.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

from rewards_lib.contract import Json, JsonObject, Payload
from rewards_lib.errors import InputError
from rewards_lib.payloads.shapes import kind_of
from rewards_lib.payloads.texts import payload_of
from rewards_lib.strict_json import write_json


def decode(body: Json) -> list[Payload]:
    """Read the request: payloads whose completions, one after the other, are the queries in order.

    Raises InputError with a JSON path.
    """
    if not isinstance(body, dict):
        raise InputError("The request is {kind}; an object is expected.", kind=kind_of(body))
    queries = _texts(body, "query")
    prompts = _list(body, "prompts", len(queries), "")
    labels = _list(body, "labels", len(queries), None)
    places = range(len(queries))
    groups = groupby(places, key=lambda place: write_json([prompts[place], labels[place]]))
    return [_payload(list(group), queries, prompts, labels) for _, group in groups]


def encode(rewards: list[float], metrics: list[JsonObject]) -> Json:
    """Write the answer: one reward, one score and one entry of every metric for each query, in order."""
    names = sorted({name for row in metrics for name in row})
    logs = {name: [row[name] for row in metrics] for name in names if all(name in row for row in metrics)}
    return {"rewards": rewards, "scores": rewards, "extra_logs": logs}


def _payload(group: list[int], queries: list[str], prompts: list[Any], labels: list[Any]) -> Payload:
    first = group[0]
    prompt = prompts[first]
    responses = [response_of(queries[place], prompt if isinstance(prompt, str) else "") for place in group]
    return payload_of(prompt, responses, labels[first], path=f"prompts[{first}]")


def response_of(query: str, prompt: str) -> str:
    """What stands behind the prompt; the whole query where the prompt is not in it."""
    place = query.find(prompt) if prompt else -1
    return query[place + len(prompt) :] if place >= 0 else query


def _texts(body: JsonObject, key: str) -> list[str]:
    values = body.get(key)
    if not isinstance(values, list) or not values:
        raise InputError("{path} is {kind}; it must be a list of texts.", path=key, kind=kind_of(values))
    for place, value in enumerate(values):
        if not isinstance(value, str):
            raise InputError("{path} is {kind}; it must be a text.", path=f"{key}[{place}]", kind=kind_of(value))
    return values


def _list(body: JsonObject, key: str, count: int, default: Json) -> list[Any]:
    values = body.get(key)
    if values is None or values == []:
        return [default] * count
    if not isinstance(values, list) or len(values) != count:
        raise InputError("{path} must be a list with one entry for each query.", path=key)
    return values

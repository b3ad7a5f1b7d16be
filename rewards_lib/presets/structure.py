"""Presets on structured output: ``json_schema``, ``tool_call_match``.

Invariant: JSON is strict, and no schema reaches beyond itself.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache
from typing import Any

from rewards_lib.contract import Completion, Json, JsonObject, Sample, Score, Sentence, sentence
from rewards_lib.errors import InputError
from rewards_lib.presets.grading import Missing, graded_part, no_answer, read_field, unusable, verdict
from rewards_lib.presets.parameters import ANSWER_FIELD, GRADING, extract_from, flag, open_object, option
from rewards_lib.presets.registry import REQUIRED, Bilingual, Example, preset
from rewards_lib.presets.similarity import common_subsequence
from rewards_lib.strict_json import read_json, walk_strings, write_json


def read_strict_json(text: str) -> tuple[Json, Sentence | None]:
    """Decode strict JSON: (value, None), or (None, why not). NaN, infinities and duplicate keys are not JSON."""
    try:
        value: Json = read_json(text, unique_keys=True)
    except InputError as error:
        return None, sentence("not strict JSON: {problem}", problem=str(error))
    return value, None


def _check_schema(params: JsonObject) -> None:
    from jsonschema import Draft202012Validator, SchemaError

    schema = params["schema"]
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise InputError("The schema is not valid: {problem}.", where="schema", problem=error.message) from None
    except RecursionError:
        raise InputError("The schema is nested too deeply.", where="schema") from None
    for path, text in walk_strings(schema):
        key = path.rpartition(".")[2]
        if key in ("$ref", "$dynamicRef") and not _points_inside(schema, text):
            raise InputError("A $ref may only point inside the schema, as in #/$defs/x.", where=f"schema.{path}")
        if key == "$id" and path != key:
            raise InputError("Only the schema as a whole may have an $id.", where=f"schema.{path}")


def _points_inside(schema: Json, reference: str) -> bool:
    """Tell whether a reference is a JSON pointer to something that the schema holds; nothing is ever fetched."""
    node = schema
    head, *steps = reference.split("/")
    for step in (step.replace("~1", "/").replace("~0", "~") for step in steps):
        if isinstance(node, dict) and step in node:
            node = node[step]
        elif isinstance(node, list) and step.isdecimal() and int(step) < len(node):
            node = node[int(step)]
        else:
            return False
    return head == "#"


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(schema))


_PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
}


@preset(
    name="json_schema",
    label=Bilingual("JSON structure", "JSON 结构"),
    summary=Bilingual("Matches when the JSON validates against a schema.", "JSON 符合给定 schema 即匹配。"),
    parameters=(
        open_object(
            "schema",
            Bilingual("Schema", "JSON 结构定义"),
            Bilingual(
                "JSON schema, draft 2020-12. A $ref may only point inside the schema; nothing is fetched.",
                "JSON schema（draft 2020-12）。$ref 只能指向 schema 内部，不会联网获取。",
            ),
            REQUIRED,
        ),
        extract_from("json"),
        flag(
            "partial",
            Bilingual("Partial credit", "部分得分"),
            Bilingual(
                "Where it does not validate, pay the share of the required properties that do.",
                "整体不符合时，按符合要求的必填属性比例给分。",
            ),
            False,
        ),
        *GRADING,
    ),
    examples=(
        Example(
            (1.0, 0.0, 0.0, 0.0, 0.0),
            ('{"name":"A","age":3}', '{"name":"A"}', '{"name":"A","age":"3"}', '{"name":"A","age":NaN}', "prose"),
            params={"schema": _PERSON},
            prompt="Answer in JSON with a name and an age.",
        ),
        Example((0.5, 0.5), ('{"name":"A"}', '{"name":"A","age":"3"}'), params={"schema": _PERSON, "partial": True}),
        Example(
            (0.0, 0.0),
            ('{"name":"A","age":3} then {"name":"A"}', '{"name":"A","name":"B","age":3}'),
            params={"schema": _PERSON},
        ),
        Example((1.0,), ('Sure:\n```json\n{"name":"A","age":3}\n```\nDone {x}.',), params={"schema": _PERSON}),
    ),
    check=_check_schema,
)
def json_schema(params: JsonObject, _sample: Sample, completion: Completion) -> Score:
    """Score match iff the extracted JSON validates; with ``partial`` the share of required properties that do."""
    part = graded_part(params, completion)
    if part.text is None:
        return no_answer(params, part)
    value, fault = read_strict_json(part.text)
    if fault is not None:
        return verdict(params, False, fault, part.spans)
    validator = _validator(write_json(params["schema"]))
    try:
        first = next(iter(validator.iter_errors(value)), None)
    except RecursionError:
        if _nesting(part.text) > _MAX_NESTING:
            return verdict(params, False, sentence("the JSON is nested too deeply"), part.spans)
        return Score.failed(sentence("the schema refers to itself without an end"))
    if first is None:
        return verdict(params, True, sentence("the JSON validates"), part.spans)
    required = params["schema"].get("required", [])
    why = sentence("the JSON does not validate: {problem}", problem=first.message[:200])
    if not params["partial"] or not required or not isinstance(value, dict):
        return verdict(params, False, why, part.spans)
    rules = params["schema"].get("properties", {})
    met = sum(name in value and _is_valid(validator, rules.get(name, True), value[name]) for name in required)
    reward = params["mismatch"] + (params["match"] - params["mismatch"]) * met / len(required)
    why = sentence("{met} of {total} required properties validate", met=met, total=len(required))
    return Score.scored(reward, why, spans=part.spans)


def _is_valid(validator: Any, schema: Json, value: Json) -> bool:
    try:
        return bool(validator.evolve(schema=schema).is_valid(value))
    except RecursionError:
        return False


_MAX_NESTING = 50


def _nesting(text: str) -> int:
    """How deep brackets are nested in a text; those inside texts count, for more than enough is all that is asked."""
    deepest = depth = 0
    for character in text:
        depth += (character in "[{") - (character in "]}")
        deepest = max(deepest, depth)
    return deepest


def read_calls(entries: Json) -> list[tuple[str, str]] | None:
    """Read tool calls, flat or in OpenAI's nested shape, as (name, arguments in canonical JSON); None if unreadable."""
    if isinstance(entries, dict):
        entries = [entries]
    if not isinstance(entries, (list, tuple)):
        return None
    calls = []
    for entry in entries:
        inner = entry.get("function", entry) if isinstance(entry, dict) else None
        if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
            return None
        try:
            calls.append((inner["name"], _canonical(inner.get("arguments"))))
        except RecursionError:
            return None
    return calls


def _canonical(arguments: Any) -> str:
    """Write arguments so that equal JSON values are equal texts; a JSON text is parsed first, null is no arguments.

    A JSON text that is nested too deeply stays the text it is. Raises RecursionError for such a value.
    """
    if isinstance(arguments, str):
        parsed, fault = read_strict_json(arguments)
        try:
            return json.dumps(arguments) if fault else _canonical_value(parsed)
        except RecursionError:
            return json.dumps(arguments)
    return _canonical_value(arguments)


def _canonical_value(arguments: Any) -> str:
    return json.dumps({} if arguments is None else _plain(arguments), sort_keys=True, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _entries(calls: Any) -> list[Any]:
    return calls if isinstance(calls, list) else [] if calls is None else [calls]


def _trajectory(*calls: tuple[str, JsonObject]) -> JsonObject:
    """Build a completion for examples that makes these calls, one a message."""
    messages: list[JsonObject] = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}],
        }
        for name, arguments in calls
    ]
    return {"messages": [*messages, {"role": "assistant", "content": "Done."}]}


_SEARCH, _OPEN = ("search", {"query": "a"}), ("open", {"id": 1})
_EXPECTED: Json = [{"name": "search", "arguments": {"query": "a"}}, {"name": "open", "arguments": {"id": 1}}]


@preset(
    name="tool_call_match",
    label=Bilingual("Tool calls", "工具调用"),
    summary=Bilingual("The share of the expected tool calls that were made.", "已完成的预期工具调用所占比例。"),
    parameters=(
        ANSWER_FIELD,
        option(
            "compare",
            Bilingual("Compare", "比较"),
            Bilingual(
                "name_and_args: arguments are compared as JSON values. name: the name is enough; calling "
                "everything then earns the "
                "reward by definition.",
                "name_and_args：参数按 JSON 值比较。name：只比名称；此时把所有工具都调用一遍按定义也会得分。",
            ),
            "name_and_args",
            ("name", "name_and_args"),
        ),
        flag(
            "order",
            Bilingual("In order", "要求顺序"),
            Bilingual("Calls must be made in the expected order.", "须按预期顺序调用。"),
            True,
        ),
    ),
    examples=(
        Example(
            (1.0, 0.5, 0.5, 0.0),
            (
                _trajectory(_SEARCH, _OPEN),
                _trajectory(_OPEN, _SEARCH),
                _trajectory(("search", {"query": "b"}), _OPEN),
                _trajectory(),
            ),
            _EXPECTED,
            prompt="Find a and open it.",
        ),
        Example((1.0,), (_trajectory(_OPEN, _SEARCH),), _EXPECTED, {"order": False}),
        Example((1.0,), (_trajectory(("search", {"query": "b"}), _OPEN),), _EXPECTED, {"compare": "name"}),
        Example((1.0, 0.0), (_trajectory(), _trajectory(_OPEN)), []),
        Example((None,), (_trajectory(_OPEN),), "open(1)"),
    ),
)
def tool_call_match(params: JsonObject, sample: Sample, completion: Completion) -> Score:
    """Score the longest common subsequence (or, without order, the overlap) / expected calls; 1 for none and none."""
    truth = read_field(sample, params["answer_field"])
    if isinstance(truth, Missing) or truth is None:
        return Score.failed(sentence("no ground truth: sample.extra.{path} is missing", path=params["answer_field"]))
    expected = read_calls(truth)
    if expected is None:
        return unusable(params["answer_field"], sentence("it must be a list of calls with name and arguments"))
    made = [
        call
        for message in completion.messages
        if message.get("role", "assistant") == "assistant"
        for entry in _entries(message.get("tool_calls"))
        for call in read_calls([entry]) or [("", "")]
    ]
    metrics = {"calls_made": float(len(made)), "calls_expected": float(len(expected))}
    why = sentence("{made} calls made, {expected} expected", made=len(made), expected=len(expected))
    if not expected:
        return Score.scored(float(not made), why, metrics=metrics)
    keys = [
        [name if params["compare"] == "name" else f"{name} {args}" for name, args in calls]
        for calls in (made, expected)
    ]
    overlap = sum((Counter(keys[0]) & Counter(keys[1])).values())
    matched = common_subsequence(keys[0], keys[1]) if params["order"] else overlap
    return Score.scored(matched / len(expected), why, metrics=metrics)

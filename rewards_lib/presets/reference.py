"""The reference page of the presets, written from the registry: ``python -m rewards_lib.presets.reference``.

Invariant: every figure of the page is a worked example that the tests run.
"""

from __future__ import annotations

import sys

from rewards_lib.contract import Completion, Json, JsonObject
from rewards_lib.presets import find_preset, preset_names
from rewards_lib.presets.registry import Example, Parameter, Preset, Required
from rewards_lib.strict_json import write_json

_MAX_SHOWN = 70
_HEAD = """# Presets

Reward functions that ship with the console. This page is written from the registry by
`python -m rewards_lib.presets.reference > docs/presets.md`; every example below is run in the tests.

A reward of `null` means unscored: the reward could not be computed, and the reason is told. It is never 0.
"""


def reference() -> str:
    """Write the page: one heading for each preset, its parameters and its worked examples."""
    links = [f"* [`{name}`](#{name}): {find_preset(name).summary.en}" for name in preset_names()]
    return "\n".join([_HEAD, *links, "", *(_section(find_preset(name)) for name in preset_names())])


def _section(preset: Preset) -> str:
    rows = [_parameter_row(parameter) for parameter in preset.parameters]
    asks = bool(preset.examples[0].replies)
    head = "| ground truth | parameters | completion |" + (" the service replies |" if asks else "") + " reward |"
    lines = [
        f"## {preset.name}", "", f"**{preset.label.en}** / {preset.label.zh}. {preset.summary.en}", _scope(preset),
        "| parameter | default | allowed | meaning |", "|---|---|---|---|", *rows, "",
        head, "|---" * head.count(" | ") + "|---|",
        *(row for example in preset.examples for row in _example_rows(example, asks=asks)), "",
    ]  # fmt: skip
    return "\n".join(lines)


def _scope(preset: Preset) -> str:
    if preset.is_group:
        return "\nEach reward depends on the other completions of the sample.\n"
    if preset.runs_on == "host" and not preset.examples[0].replies:
        return "\nIt runs programs in workers of its own, so the console's process hands them over by itself.\n"
    if preset.runs_on == "host":
        return "\nIt asks a service over the network, and so runs in the console's process instead of a worker.\n"
    return ""


def _parameter_row(parameter: Parameter) -> str:
    default = "required" if isinstance(parameter.default, Required) else f"`{write_json(parameter.default)}`"
    return f"| `{parameter.name}` | {default} | {_allowed(parameter)} | {_cell(parameter.help.en)} |"


def _allowed(parameter: Parameter) -> str:
    rules = dict(parameter.rules)
    if "enum" in rules:
        return ", ".join(f"`{choice}`" for choice in rules["enum"])
    kinds = rules["type"] if isinstance(rules["type"], list) else [rules["type"]]
    bounds = [("minimum", "at least"), ("exclusiveMinimum", "more than"), ("maximum", "at most")]
    limits = [f"{words} {rules[key]}" for key, words in bounds if key in rules]
    return ", ".join([" or ".join(kinds), *limits])


def _example_rows(example: Example, *, asks: bool) -> list[str]:
    facts: JsonObject = dict(example.sample.extra)
    truth = facts.get("answer", facts or None)
    params = _code(example.params) if example.params else ""
    replies = [f" {_code(reply)} |" for reply in example.replies] or [" |" if asks else ""] * len(example.completions)
    return [
        f"| {'' if truth is None else _code(truth)} | {params} | {_code(_shown(raw))} |{reply} {write_json(reward)} |"
        for raw, reward, reply in zip(example.completions, example.rewards, replies, strict=True)
    ]


def _shown(raw: Json) -> Json:
    """A completion's text; other shapes as they are."""
    return raw if isinstance(raw, str) or not Completion(raw).text else Completion(raw).text


def _code(value: Json) -> str:
    text = value if isinstance(value, str) else write_json(value)
    text = text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}… ({len(text)} characters)"
    fence = "``" if "`" in text else "`"
    pad = " " if not text or text[0] in "` " or text[-1] in "` " else ""
    return fence + pad + text.replace("\n", "⏎").replace("|", "\\|") + pad + fence


def _cell(text: str) -> str:
    return text.replace("<", "&lt;").replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    sys.stdout.write(reference())

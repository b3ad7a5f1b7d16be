"""Functions of TRL: ``f(prompts, completions, <columns>, **kwargs) -> list[float or None]``."""

from __future__ import annotations

import re

from rewards_lib.contract import sentence
from rewards_lib.interop.sources.source import Adapted, Found, Source, appended, call_of

_CODE = """{asyncio}{tools}from rl_types import RewardFunctionResult


def reward_fn(context, sample, completions):
    count, metrics = len(completions), {{}}
    given = {{key: [value] * count for key, value in sample["extra"].items()}}
    for name in {truths}:
        given.setdefault(name, [sample["extra"].get("answer")] * count)
    given["prompts"] = [{prompt}] * count
    given["completions"] = {completions}
    given["completion_ids"] = [completion.get("completion_ids") or [] for completion in completions]
    given["log_metric"], given["log_extra"] = metrics.__setitem__, lambda name, values: None
    given["trainer_state"] = None
    rewards = {call}
    return RewardFunctionResult(list(rewards), metrics)
"""
_TEXT_OF_PROMPT = '"".join(str(one.get("content") or "") for one in sample["messages"])'
_CHAT = re.compile(r"""\[\s*-?\d+\s*\]\s*\[\s*["']content["']\s*\]|\.get\(\s*["']content["']""")
_TRUTHS = ("answer", "ground_truth", "solution", "label", "target")


def _find(functions: list[Found]) -> Found | None:
    return next((one for one in functions if "completions" in one.parameters and "sample" not in one.parameters), None)


def _adapt(source: str, found: Found) -> Adapted:
    is_chat = bool(_CHAT.search(source))
    arguments = "**given" if found.takes_rest else ", ".join(f'{name}=given["{name}"]' for name in found.parameters)
    code = _CODE.format(
        asyncio="import asyncio\n\n" if found.is_async else "",
        tools="" if is_chat else "from reward_tools import completion_text\n",
        truths=tuple(name for name in _TRUTHS if name in found.parameters),
        prompt='sample["messages"]' if is_chat else _TEXT_OF_PROMPT,
        completions='[completion["messages"] for completion in completions]' if is_chat
        else "[completion_text(completion) for completion in completions]",
        call=call_of(found, f"{found.name}({arguments})"),
    )  # fmt: skip
    shape = (
        sentence("prompts and completions are lists of messages, since the function reads their content.")
        if is_chat
        else sentence("prompts and completions are plain texts, since the function reads no content of messages.")
    )
    told = (
        shape,
        sentence(
            "Every key of sample.extra is a column; sample.extra.answer is the ground truth under each usual name."
        ),
        sentence("None stays without a reward; what the function logs through log_metric becomes a metric."),
    )
    return Adapted(appended(source, "TRL", found.name, code), told)


SOURCE = Source("trl", "TRL", _find, _adapt)

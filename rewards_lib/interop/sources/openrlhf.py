"""Functions of OpenRLHF: ``reward_func(queries, prompts, labels)``."""

from __future__ import annotations

from rewards_lib.contract import sentence
from rewards_lib.interop.sources.source import Adapted, Found, Source, appended, call_of

_CODE = """{asyncio}from reward_tools import completion_text
from rl_types import RewardFunctionResult


def _plain(values):
    return values.tolist() if hasattr(values, "tolist") else list(values)


def reward_fn(context, sample, completions):
    prompt = "".join(str(message.get("content") or "") for message in sample["messages"] if message["role"] == "user")
    queries = [prompt + completion_text(completion) for completion in completions]
    labels = [sample["extra"].get("answer")] * len(queries)
    given = {call}
    rewards = _plain(given["rewards"] if isinstance(given, dict) else given)
    logs = given.get("extra_logs") or {{}} if isinstance(given, dict) else {{}}
    means = {{key: sum(map(float, _plain(values))) / len(queries) for key, values in logs.items()}}
    return RewardFunctionResult(rewards, means)
"""


def _find(functions: list[Found]) -> Found | None:
    return next((one for one in functions if {"queries", "prompts", "labels"} <= set(one.parameters)), None)


def _adapt(source: str, found: Found) -> Adapted:
    call = call_of(found, f"{found.name}(queries=queries, prompts=[prompt] * len(queries), labels=labels)")
    code = _CODE.format(call=call, asyncio="import asyncio\n\n" if found.is_async else "")
    told = (
        sentence("A query is the user's text with the completion behind it, without special tokens."),
        sentence(
            "labels is sample.extra.answer for every completion; extra_logs become metrics, averaged over a call."
        ),
    )
    return Adapted(appended(source, "OpenRLHF", found.name, code), told)


SOURCE = Source("openrlhf", "OpenRLHF", _find, _adapt)

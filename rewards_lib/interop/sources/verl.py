"""Functions of verl: ``compute_score(data_source, solution_str, ground_truth, extra_info)``."""

from __future__ import annotations

from rewards_lib.contract import sentence
from rewards_lib.interop.sources.source import Adapted, Found, Source, appended, call_of

_CODE = """{asyncio}from reward_tools import completion_text
from rl_types import RewardFunctionResult


def reward_fn(context, sample, completions):
    extra = sample["extra"]
    rewards, rest = [], {{}}
    for completion in completions:
        given = {{
            "data_source": extra.get("data_source", context.get("data_source", "")),
            "solution_str": completion_text(completion),
            "ground_truth": extra.get("answer"),
            "extra_info": extra,
        }}
        score = {call}
        if isinstance(score, dict):
            for key, value in score.items():
                if key != "score" and isinstance(value, (bool, int, float)):
                    rest.setdefault(key, []).append(float(value))
            score = score["score"]
        rewards.append(score[0] if isinstance(score, tuple) else score)
    return RewardFunctionResult(rewards, {{key: sum(values) / len(values) for key, values in rest.items()}})
"""


def _find(functions: list[Found]) -> Found | None:
    named = [one for one in functions if one.name == "compute_score"]
    like = [one for one in functions if {"solution_str", "ground_truth"} <= set(one.parameters)]
    return next(iter([*(one for one in named if one in like), *like, *named]), None)


def _adapt(source: str, found: Found) -> Adapted:
    names = ("data_source", "solution_str", "ground_truth", "extra_info")
    passed = names if found.takes_rest else tuple(name for name in names if name in found.parameters)
    arguments = ", ".join(f'{name}=given["{name}"]' for name in passed)
    call = call_of(found, f"{found.name}({arguments})")
    code = _CODE.format(call=call, asyncio="import asyncio\n\n" if found.is_async else "")
    told = (
        sentence("solution_str is the text of a completion's last assistant message; the function is called for each."),
        sentence("ground_truth is sample.extra.answer; extra_info is all of sample.extra."),
        sentence('Of a dictionary the reward is "score"; its other numbers become metrics, averaged over a call.'),
    )
    return Adapted(appended(source, "verl", found.name, code), told)


SOURCE = Source("verl", "verl", _find, _adapt)

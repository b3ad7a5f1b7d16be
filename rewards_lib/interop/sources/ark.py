"""Functions of Volcengine Ark: the console function, which is ours already, and the graders of the SDK."""

from __future__ import annotations

import ast

from rewards_lib.contract import sentence
from rewards_lib.interop.sources.source import Adapted, Found, Source, appended

GRADERS = ("group_grader", "single_grader")
_STAND_INS = """from enum import Enum
from types import SimpleNamespace

from rl_types import RewardFunctionResult


class PluginStatus(str, Enum):
    SUCCESS = "success"
    FAILURE = "failure"
    DISCARD = "discard"
    RETRY = "retry"


class GroupGraderResult(SimpleNamespace):
    pass


SingleGraderResult = GroupGraderResult
PluginContext = ChatCompletionSample = Trajectory = SimpleNamespace
"""
_GROUP = """def reward_fn(context, sample, completions):
    row = SimpleNamespace(**sample)
    trajectories = [
        SimpleNamespace(messages=[*sample["messages"], *one["messages"]], usage=None, finish_reason="stop", extra={{}})
        for one in completions
    ]
    result = {name}(SimpleNamespace(**context), row, trajectories)
    status = str(getattr(result.status, "value", result.status))
    failed = "" if status == "success" else getattr(result, "error", "") or status
    return RewardFunctionResult(
        list(result.rewards), dict(getattr(result, "metrics", None) or {{}}), "failure" if failed else "success", failed
    )
"""
_SINGLE = """def reward_fn(context, sample, completions):
    row, rewards, failed = SimpleNamespace(**sample), [], ""
    for one in completions:
        given = SimpleNamespace(messages=list(one["messages"]), usage=None, finish_reason="stop", extra={{}})
        result = {name}(SimpleNamespace(**context), row, given)
        status = str(getattr(result.status, "value", result.status))
        rewards.append(result.reward if status == "success" else None)
        failed = failed or ("" if status == "success" else getattr(result, "error", "") or status)
    return RewardFunctionResult(rewards, {{}}, "failure" if failed else "success", failed)
"""


def _find(functions: list[Found]) -> Found | None:
    own = [one for one in functions if one.name == "reward_fn" and "completions" in one.parameters]
    return next(iter([*own, *(one for one in functions if _grader(one))]), None)


def _grader(found: Found) -> str:
    """Which grader of the SDK decorates a function; empty when none does."""
    for decorator in found.node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = ast.unparse(target).rpartition(".")[2]
        if name in GRADERS:
            return name
    return ""


def _adapt(source: str, found: Found) -> Adapted:
    grader = _grader(found)
    if not grader:
        return Adapted(source, (sentence("Nothing: it is a console function, which runs here as it is."),))
    kept = _without_sdk(source, found)
    name = found.name
    if name == "reward_fn":  # the name that our own function needs
        kept, name = kept.replace("def reward_fn(", "def graded(", 1), "graded"
    code = (_SINGLE if grader == "single_grader" else _GROUP).format(name=name)
    future = "from __future__ import annotations\n"
    start = future + "\n" + _STAND_INS if future in kept else _STAND_INS
    told = (
        sentence("The imports of ark_sdk and the decorator were taken out; stand-ins for the SDK's types come first."),
        sentence("A trajectory holds the sample's messages and the completion behind them, as in Ark."),
        sentence("The statuses discard and retry become a failure: the completions are unscored."),
    )
    return Adapted(appended(start + "\n\n" + kept.replace(future, "", 1).lstrip("\n"), "Ark", name, code), told)


def _without_sdk(source: str, found: Found) -> str:
    """The text without the lines that need the SDK: what is not public cannot be imported."""
    gone: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ark_sdk")) or (
            isinstance(node, ast.Import) and any(alias.name.startswith("ark_sdk") for alias in node.names)
        ):
            gone.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    for decorator in found.node.decorator_list:
        gone.update(range(decorator.lineno, (decorator.end_lineno or decorator.lineno) + 1))
    return "\n".join(line for number, line in enumerate(source.splitlines(), 1) if number not in gone) + "\n"


SOURCE = Source("ark", "Ark", _find, _adapt)

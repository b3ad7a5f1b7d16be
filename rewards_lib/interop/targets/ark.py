"""Export to Volcengine Ark: the folder of a console function, and the plugin of the SDK with its ``job.yaml``."""

from __future__ import annotations

from rewards_lib.interop.targets.target import Target, headed
from rewards_lib.publishing import Published
from rewards_lib.strict_json import write_json

_CONSOLE = """import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from {package} import REWARD
from {package}.interop.adapters.ark import console_function

try:
    from rl_types import RewardFunctionResult
except ImportError:  # outside Ark
    from {package}.executor.worker.rl_types import RewardFunctionResult

reward_fn = console_function(REWARD, RewardFunctionResult)
"""
_PLUGIN = """import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from ark_sdk.resources.pipeline_plugin import group_grader
from ark_sdk.types.pipeline_plugin import GroupGraderResult, PluginInstance, Runtime
from ark_sdk.types.pipeline_plugin.pipeline_plugin import PluginContext, PluginStatus
from ark_sdk.types.pipeline_plugin.rollout import ChatCompletionSample, Trajectory

from {package} import REWARD
from {package}.interop.adapters.ark import grade


@group_grader(name={name!r}, runtime=Runtime(instance=PluginInstance.CPU1MEM2, max_concurrency=10, timeout=300))
def reward_fn(
    context: PluginContext, sample: ChatCompletionSample, trajectories: list[Trajectory]
) -> GroupGraderResult:
    result = grade(REWARD, sample, trajectories)
    unscored = any(reward is None for reward in result.rewards)
    return GroupGraderResult(
        rewards=[] if unscored else list(result.rewards),
        status=PluginStatus.RETRY if unscored else PluginStatus.SUCCESS,
        error=str(result.error or ""),
        metrics=dict(result.metrics),
    )
"""
_JOB = """name: {name}
customization_type: GRPOLoRA
model_reference:
  foundation_model:
    name: ""            # e.g. doubao-seed-1-6-flash
    model_version: ""   # a string, e.g. "250615"
data:
  training_set:
    local_files: [train.jsonl]   # messages, the last one of the user or a tool; extra.answer is the ground truth
hyperparameters:
  batch_size: 32
  num_steps: 100
  lr: 0.00001
  num_generations: 8
  num_iterations_per_batch: 1
  temperature: 1.0
  top_p: 1.0
  max_new_tokens: 4096
  clip_ratio_high: 0.2
  clip_ratio_low: 0.2
  kl_coefficient: 0.001
  loss_agg_mode: seq-mean-token-mean
  save_every_n_steps: 20
  test_every_n_steps: 20
  lora_rank: 32
  lora_alpha: 32
custom_rl_pipeline:
  graders:
    - plugin:
        name: {name}
        python_func: plugins.reward:reward_fn
        runtime: {{instance: CPU1MEM2, timeout: 300, min_replicas: 1, max_replicas: 10, max_concurrency: 10}}
      weight: 1.0       # the weights of the rules are inside
enable_trajectory: true
save_model_limit: 3
"""
_USAGE = """**Console function.** Upload this folder as a function: its file is `rl_reward.py`, with `requirements.txt`.
Ark calls `reward_fn(context, sample, completions)`.

**SDK plugin.** `job.yaml` names `plugins.reward:reward_fn`, a group grader; fill in the model and the data. The SDK is
not public: the plugin is generated after its documents; the smoke test runs it with stand-ins for the SDK's names.
An unscored completion asks for
a `retry` of its group there.

Before a job, in this order: one sample here (`python smoke_test.py`), a small batch, a load test at the size of a
batch, the plugin's test online, a debug job, the job."""
_SMOKE = """    from rl_reward import reward_fn

    chats = [{"messages": [{"role": "assistant", "content": text}]} for text in completions]
    result = reward_fn({}, sample, chats)
    rewards, graded = list(result.rewards), graded_by_plugin(sample, chats)
    if graded != (rewards, "success") and (None not in rewards or graded != ([], "retry")):
        raise AssertionError(f"the console function gives {rewards}, the SDK's plugin {graded}")
    return rewards


def graded_by_plugin(sample, chats):
    # with stand-ins for the SDK's names: the SDK is not public
    from types import ModuleType, SimpleNamespace

    names = {
        "resources.pipeline_plugin": {"group_grader": lambda **_: lambda function: function},
        "types.pipeline_plugin": {
            "GroupGraderResult": SimpleNamespace, "Runtime": SimpleNamespace,
            "PluginInstance": SimpleNamespace(CPU1MEM2="CPU1MEM2"),
        },
        "types.pipeline_plugin.pipeline_plugin": {
            "PluginContext": object, "PluginStatus": SimpleNamespace(SUCCESS="success", RETRY="retry"),
        },
        "types.pipeline_plugin.rollout": {"ChatCompletionSample": object, "Trajectory": object},
    }
    for path in ("", ".resources", ".types", *(f".{path}" for path in names)):
        module = sys.modules["ark_sdk" + path] = ModuleType("ark_sdk" + path)
        vars(module).update(names.get(path[1:], {}))
    from plugins.reward import reward_fn

    trajectories = [SimpleNamespace(messages=[*sample["messages"], *chat["messages"]]) for chat in chats]
    result = reward_fn(SimpleNamespace(), SimpleNamespace(**sample), trajectories)
    return list(result.rewards), result.status
"""


def _files(published: Published, package: str) -> dict[str, str]:
    name = published.version.name
    return {
        "rl_reward.py": headed(published, "Ark", _CONSOLE.format(package=package)),
        "plugins/__init__.py": "",
        "plugins/reward.py": headed(published, "Ark's SDK", _PLUGIN.format(package=package, name=name)),
        "job.yaml": _JOB.format(name=write_json(name)),
    }


TARGET = Target(
    "ark", "Volcengine Ark", "the documents of 2025", takes_groups=True, files=_files, usage=lambda _: _USAGE,
    smoke=_SMOKE, unscored="An unscored completion makes the status `failure`; Ark asks again, then fails the job.",
)  # fmt: skip

"""Export to verl: a file with ``compute_score``."""

from __future__ import annotations

from rewards_lib.interop.targets.target import Target, headed
from rewards_lib.publishing import Published

_CODE = """import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # verl loads this file by its path

from {package} import REWARD
from {package}.interop.adapters.verl import score_function

compute_score = score_function(REWARD)
"""
_USAGE = """```sh
python -m verl.trainer.main_ppo \\
  reward.custom_reward_function.path=$PWD/reward.py \\
  reward.custom_reward_function.name=compute_score
```

Before verl 0.9 the keys are `custom_reward_function.path` and `.name`. The ground truth is `reward_model.ground_truth`
of the parquet row; `extra_info` becomes `sample.extra`, and its `messages` or `prompt` the prompt.

A completion that is unscored is tried three times and then raises. To train on with a number of your own choice:
`+reward.custom_reward_function.reward_kwargs.on_unscored=0.0`; the dumped key `unscored` is then 1 for it."""
_SMOKE = """    from reward import compute_score

    extra = {key: value for key, value in sample["extra"].items() if key != "answer"}
    info = {**extra, "messages": sample["messages"]}
    return [compute_score("smoke", text, sample["extra"].get("answer"), info)["score"] for text in completions]
"""


def _files(published: Published, package: str) -> dict[str, str]:
    return {"reward.py": headed(published, "verl", _CODE.format(package=package))}


TARGET = Target(
    "verl", "verl", "verl 0.9.1", takes_groups=False, files=_files, usage=lambda _: _USAGE, smoke=_SMOKE,
    unscored="An unscored completion raises after three tries, unless `on_unscored` names a number for it.",
)  # fmt: skip

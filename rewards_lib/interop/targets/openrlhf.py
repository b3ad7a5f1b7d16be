"""Export to OpenRLHF: a file with ``reward_func``."""

from __future__ import annotations

from rewards_lib.interop.targets.target import Target, headed
from rewards_lib.publishing import Published

_CODE = """import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # OpenRLHF loads this file by its path

from {package} import REWARD
from {package}.interop.adapters.openrlhf import reward_function

reward_func = reward_function(REWARD)
"""
_USAGE = """```sh
python -m openrlhf.cli.train_ppo_ray --reward.remote_url $PWD/reward.py --data.label_key answer ...
```

The label is the ground truth; a label that is a JSON object becomes all of `sample.extra`."""
_SMOKE = """    from reward import reward_func
    import json

    prompt = sample["messages"][-1]["content"] if sample["messages"] else ""
    label = json.dumps(sample["extra"])
    rewards = []
    for text in completions:
        answer = reward_func([prompt + text + "<|im_end|>"], [prompt], [label])
        rewards += [float(value) for value in answer["rewards"]]
    return rewards
"""


def _files(published: Published, package: str) -> dict[str, str]:
    return {"reward.py": headed(published, "OpenRLHF", _CODE.format(package=package))}


TARGET = Target(
    "openrlhf", "OpenRLHF", "OpenRLHF 0.11.2", takes_groups=False, files=_files, usage=lambda _: _USAGE, smoke=_SMOKE,
    unscored="An unscored completion raises; OpenRLHF logs that and leaves the reward None.",
)  # fmt: skip

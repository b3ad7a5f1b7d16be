"""Export to slime: a module for ``--custom-rm-path``."""

from __future__ import annotations

from rewards_lib.interop.targets.target import Target, headed
from rewards_lib.publishing import Published

_CODE = """import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from {package} import REWARD
from {package}.interop.adapters.slime import reward_function

reward_func = reward_function(REWARD)
"""
_USAGE = """```sh
PYTHONPATH=$PWD:$PYTHONPATH python train.py --custom-rm-path reward.reward_func ...
```

`sample.label` is the ground truth; a label that is an object, and `sample.metadata`, become `sample.extra`."""
_SMOKE = """    import asyncio
    from types import SimpleNamespace

    from reward import reward_func

    prompt = sample["messages"]
    batch = [SimpleNamespace(prompt=prompt, response=text, label=sample["extra"], metadata={}) for text in completions]
    return asyncio.run(reward_func(None, batch))
"""


def _files(published: Published, package: str) -> dict[str, str]:
    return {"reward.py": headed(published, "slime", _CODE.format(package=package))}


TARGET = Target(
    "slime", "slime", "slime 624b824", takes_groups=False, files=_files, usage=lambda _: _USAGE, smoke=_SMOKE,
    unscored="An unscored completion raises.",
)  # fmt: skip

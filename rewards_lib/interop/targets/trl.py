"""Export to TRL: a module with ``reward_func`` for ``GRPOTrainer``."""

from __future__ import annotations

from rewards_lib.interop.targets.target import Target, headed
from rewards_lib.publishing import Published

_CODE = """import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from {package} import REWARD
from {package}.interop.adapters.trl import reward_function

reward_func = reward_function(REWARD)
"""
_USAGE = """```python
import sys
sys.path.insert(0, "/path/to/this/folder")
from reward import reward_func

trainer = GRPOTrainer(model=..., reward_funcs=[reward_func], args=GRPOConfig(...), train_dataset=dataset)
```

Every column of the dataset becomes a key of `sample.extra`; a column `extra` of dictionaries is spread out. The ground
truth is `answer`, else `ground_truth`, `solution`, `label` or `target`."""
_SMOKE = """    from reward import reward_func

    count = len(completions)
    columns = {key: [value] * count for key, value in sample["extra"].items()}
    chats = [[{"role": "assistant", "content": text}] for text in completions]
    return reward_func(prompts=[sample["messages"]] * count, completions=chats, completion_ids=[[]] * count, **columns)
"""


def _files(published: Published, package: str) -> dict[str, str]:
    return {"reward.py": headed(published, "TRL", _CODE.format(package=package))}


TARGET = Target(
    "trl", "TRL", "TRL 1.16.0", takes_groups=True, files=_files, usage=lambda _: _USAGE, smoke=_SMOKE,
    unscored="An unscored completion is None, which TRL leaves out.",
)  # fmt: skip

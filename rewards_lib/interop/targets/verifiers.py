"""Export to verifiers: a method for ``vf.Task`` (0.4) and a function for ``vf.Rubric`` (0.3)."""

from __future__ import annotations

from rewards_lib.interop.targets.target import Target, headed
from rewards_lib.publishing import Published

_CODE = """import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from {package} import REWARD
from {package}.interop.adapters.verifiers import rubric_function, task_reward

task_method = task_reward(REWARD)  # verifiers 0.4: reward = vf.reward(weight=1.0)(task_method) inside a vf.Task
rubric_func = rubric_function(REWARD)  # verifiers 0.3: vf.Rubric(funcs=[rubric_func], weights=[1.0])
"""
_USAGE = """verifiers 0.4, in the module of your environment:

```python
import verifiers as vf
from reward import task_method

class MyTask(vf.Task):
    reward = vf.reward(weight=1.0)(task_method)
```

verifiers 0.3:

```python
import verifiers as vf
from reward import rubric_func

rubric = vf.Rubric(funcs=[rubric_func], weights=[1.0])
```

The ground truth is the task's `answer`; `info` (0.3) or the task's other fields (0.4) become `sample.extra`."""
_SMOKE = """    import asyncio
    from types import SimpleNamespace

    from reward import rubric_func, task_method

    rewards = []
    for text in completions:
        completion = [{"role": "assistant", "content": text}]
        by_rubric = rubric_func(sample["messages"], completion, info=sample["extra"], state={})
        trace = SimpleNamespace(
            task={**sample["extra"], "prompt": sample["messages"]}, messages=[*sample["messages"], *completion]
        )
        by_task = asyncio.run(task_method(None, trace))
        assert by_task == by_rubric or (by_task != by_task and by_rubric != by_rubric), (by_task, by_rubric)
        rewards.append(None if by_rubric != by_rubric else by_rubric)
    return rewards
"""


def _files(published: Published, package: str) -> dict[str, str]:
    return {"reward.py": headed(published, "verifiers", _CODE.format(package=package))}


TARGET = Target(
    "verifiers", "verifiers", "verifiers 0.4.0 and 0.3", takes_groups=False, files=_files, usage=lambda _: _USAGE,
    smoke=_SMOKE,
    unscored="An unscored completion is NaN, and in 0.3 `state['unscored']` says why: verifiers would make an exception"
    " 0.0 without a word.",
)  # fmt: skip

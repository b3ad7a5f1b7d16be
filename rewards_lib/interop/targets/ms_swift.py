"""Export to ms-swift: a plugin that registers a reward class."""

from __future__ import annotations

from rewards_lib.interop.targets.target import Target, headed
from rewards_lib.publishing import Published

_CODE = """import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from {package} import REWARD
from {package}.interop.adapters.ms_swift import reward_class

try:
    from swift.rewards import ORM, orms  # ms-swift 4
except ImportError:
    from swift.plugin import ORM, orms

orms[{name!r}] = reward_class(REWARD, ORM)
"""
_SMOKE = """    import sys
    from types import ModuleType

    if "swift" not in sys.modules:
        try:
            import swift  # noqa: F401
        except ImportError:  # a stand-in for the two names that a plugin uses
            sys.modules["swift"], stand_in = ModuleType("swift"), ModuleType("swift.rewards")
            stand_in.ORM, stand_in.orms = object, {}
            sys.modules["swift.rewards"] = stand_in
    import plugin

    (reward,) = [made for name, made in plugin.orms.items() if getattr(made, "__name__", "") == "ExportedReward"]
    count = len(completions)
    columns = {key: [value] * count for key, value in sample["extra"].items()}
    chats = [[*sample["messages"], {"role": "assistant", "content": text}] for text in completions]
    return reward()(completions, messages=chats, **columns)
"""


def _files(published: Published, package: str) -> dict[str, str]:
    code = _CODE.format(package=package, name=published.version.name)
    return {"plugin.py": headed(published, "ms-swift", code)}


def _usage(published: Published) -> str:
    return f"""```sh
swift rlhf --rlhf_type grpo --external_plugins plugin.py --reward_funcs {published.version.name} ...
```

Every column of the dataset becomes a key of `sample.extra`; the ground truth is `answer`, else `solution`."""


TARGET = Target(
    "ms-swift", "ms-swift", "ms-swift 4.6.0", takes_groups=True, files=_files, usage=_usage, smoke=_SMOKE,
    unscored="An unscored completion is None, which ms-swift leaves out.",
)  # fmt: skip

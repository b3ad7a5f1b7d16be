"""The trainers an exported folder can be made for, one a file."""

from rewards_lib.interop.targets import ark, ms_swift, openrlhf, slime, trl, verifiers, verl
from rewards_lib.interop.targets.target import Target

TARGETS: dict[str, Target] = {
    module.TARGET.name: module.TARGET for module in (ark, verl, trl, openrlhf, slime, ms_swift, verifiers)
}
"""By name, in the order in which they are offered."""

__all__ = ["TARGETS", "Target"]

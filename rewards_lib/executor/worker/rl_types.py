"""The module that reward code imports: the result of a reward function and its status, and nothing else."""

import dataclasses as _dataclasses
import enum as _enum

__all__ = ["RewardFunctionResult", "RewardStatus"]


class RewardStatus(str, _enum.Enum):  # noqa: UP042  # StrEnum would drop the members' own __str__
    """Whether the rewards can be used; prints as ``success`` or ``failure``."""

    SUCCESS = "success"
    FAILURE = "failure"

    def __str__(self) -> str:
        return self.value

    def __format__(self, format_spec: str) -> str:
        return format(self.value, format_spec)


@_dataclasses.dataclass
class RewardFunctionResult:
    """One reward for each completion, in order; None where the function has no opinion."""

    rewards: list[float]
    metrics: dict[str, float] = _dataclasses.field(default_factory=dict)
    status: str = RewardStatus.SUCCESS
    error: str = ""

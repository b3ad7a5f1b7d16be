"""A trajectory as it is loaded (messages that are still text, or tokens with their mask), and its parts by author.

Invariant: only parts that the policy wrote in this rollout can be trained on without a warning.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from rewards_lib.contract import JsonObject, Sentence


class Part(StrEnum):
    """What a stretch of a trajectory is; the first four are the policy's own."""

    REASONING = "reasoning"
    TOOL_CALL = "tool call"
    ANSWER = "answer"
    END = "end of turn"
    """The token that ends an assistant's turn: the policy wrote it, and learns to stop by it."""
    SYSTEM = "system"
    USER = "user"
    TOOL = "tool output"
    HISTORY = "earlier answer"
    """An assistant's turn that the prompt brought along."""
    TEMPLATE = "template"
    """What the chat template adds, the generation prompt included."""
    UNKNOWN = "unknown"
    """Tokens that came without roles."""


WRITTEN = frozenset({Part.REASONING, Part.TOOL_CALL, Part.ANSWER, Part.END})
"""What the policy wrote."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One rollout of an agent."""

    name: str
    group: str
    reward: float | None
    """None is unscored."""
    messages: tuple[JsonObject, ...] = ()
    """The whole conversation; empty when there are only tokens."""
    prompt_messages: int = 0
    """How many of them are the prompt."""
    tokens: TokenRecord | None = None
    truncated: bool = False
    """Whether the generation was cut by its length."""


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """Tokens as a trainer logged them; every list has one entry a token, ``mask`` is checked when it is used."""

    tokens: tuple[int | str, ...]
    mask: tuple[int, ...]
    spans: tuple[tuple[str, int, int], ...] = ()
    """Role, start, end; empty when the file does not tell who wrote what."""
    kl: tuple[float, ...] | None = None
    """KL from the reference model."""


@dataclass(frozen=True, slots=True)
class LoadedTrajectories:
    """What a file or a text held."""

    trajectories: tuple[Trajectory, ...]
    bad_rows: tuple[BadTrajectory, ...] = field(default=())

    def group_of(self, trajectory: Trajectory) -> tuple[Trajectory, ...]:
        """The trajectories of the same prompt, in order, this one included."""
        return tuple(one for one in self.trajectories if one.group == trajectory.group)


@dataclass(frozen=True, slots=True)
class BadTrajectory:
    """A row that could not be read."""

    row: int
    """From 1."""
    problem: Sentence

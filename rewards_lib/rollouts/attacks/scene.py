"""What an attack is built from: a rollout's sample, its text, the truth, a wrong value and how answers are spelled."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from rewards_lib.contract import Completion, Json, JsonObject, Sample
from rewards_lib.mix import Mix
from rewards_lib.rollouts.rollout import Rollout

SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda value: value,
    "sentence": lambda value: f"The answer is {value}",
    "box": lambda value: f"So the answer is \\boxed{{{value}}}",
    "tag": lambda value: f"<answer>{value}</answer>",
    "think and tag": lambda value: f"<think>Let me see.</think>\n<answer>{value}</answer>",
    "think and box": lambda value: f"<think>Let me see.</think>\n\\boxed{{{value}}}",
    "think, tag and box": lambda value: f"<think>Let me see.</think>\n<answer>\\boxed{{{value}}}</answer>",
    "hashes": lambda value: f"So it is so.\n#### {value}",
    "code": lambda value: f"```python\n{value}\n```",
}
"""How models write their answer; controls find out which of them a mix expects."""

_MATHEMATICAL = re.compile(r"[\d\\^=<>]")


@dataclass(frozen=True, slots=True)
class Scene:
    """One rollout as the place of an attack."""

    rollout: Rollout
    truth: str
    """The ground truth as text; empty where the sample has none."""
    wrong: str
    """A value that is plainly wrong."""
    mix: Mix
    spelling: str = "plain"

    @property
    def original(self) -> Json:
        """The completion as it stands in the file."""
        return self.rollout.completion

    @property
    def text(self) -> str:
        """The text of the original."""
        return self.rollout.text

    @property
    def sample(self) -> Sample:
        """The sample of the rollout."""
        return Sample.from_json(self.rollout.sample)

    @property
    def extra(self) -> JsonObject:
        """The fields of the sample beside the prompt."""
        return self.sample.extra

    def spell(self, value: str) -> str:
        """Write a value as the mix expects an answer."""
        return SPELLINGS[self.spelling](value)

    @property
    def wrong_completion(self) -> str:
        """A plainly wrong, well-formed answer."""
        return self.spell(self.wrong)

    @property
    def unformatted(self) -> str:
        """The wrong answer without any form."""
        return f"I would say {self.wrong}"

    @property
    def number(self) -> Decimal | None:
        """The truth as a number; None when it is none."""
        return as_number(self.truth)


def as_number(text: str) -> Decimal | None:
    """Read a plain number; None for anything else."""
    try:
        value = Decimal(text.strip().replace(",", "")) if text.strip() else None
    except InvalidOperation:
        return None
    return value if value is not None and value.is_finite() else None


def truth_of(sample: Sample, mix: Mix) -> str:
    """The ground truth as text: its first entry where any one will do, all of them where all are needed.

    Empty where there is none, or where it is no text (tool calls).
    """
    fields = [rule.params.get("answer_field", "answer") for rule in mix.rules if rule.preset] or ["answer"]
    value: Any = sample.extra
    for part in str(fields[0]).split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if isinstance(value, list) and value and all(isinstance(entry, (str, int, float)) for entry in value):
        needs_all = any(rule.preset == "contains" and rule.params.get("mode", "all") == "all" for rule in mix.rules)
        return ", ".join(map(str, value)) if needs_all else str(value[0])
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def wrong_value(truth: str, choices: str = "ABCD") -> str:
    r"""Make a value that is plainly wrong and does not hold the truth: the next number, another letter, another word.

    >>> wrong_value("41"), wrong_value("B"), wrong_value("Paris"), wrong_value("\\pi")
    ('42', 'A', 'zebra', '7919')
    """
    number = as_number(truth)
    if number is not None:
        return str(number + 1)
    if len(truth) == 1 and truth.upper() in choices:
        return next(letter for letter in choices if letter != truth.upper())
    if _MATHEMATICAL.search(truth):
        return "7919"
    return "umbrella" if "zebra" in truth.lower() else "zebra"


def make_scene(rollout: Rollout, mix: Mix, spelling: str = "plain") -> Scene:
    """Set the scene of a rollout under a mix."""
    truth = truth_of(Sample.from_json(rollout.sample), mix)
    return Scene(rollout, truth, wrong_value(truth), mix, spelling)


def last_text(completion: Json) -> str:
    """The text of a completion, for examples in results."""
    return Completion(completion).text

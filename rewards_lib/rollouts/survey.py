"""What a file of rollouts holds, before anything is scored: counts, bad rows, answers, rewards, lengths, truncation.

Invariant: a count that stopped early says so; nothing is estimated.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from rewards_lib.contract import Completion, Sentence, sentence
from rewards_lib.rollouts.reading import SNIFFED_ROWS, RolloutFile
from rewards_lib.rollouts.rollout import BadRow, Rollout, told_cut
from rewards_lib.rollouts.rows import read_rows

MOST_ROLLOUTS = 20_000
_SHOWN_BAD_ROWS = 20
_SHOWN_ROLLOUTS = 3


@dataclass(slots=True)
class Survey:
    """Counts over the first rollouts of a file."""

    rollouts: int = 0
    groups: int = 0
    mixed_groups: int = 0
    """Groups whose rollouts have different prompts."""
    bad_rows: int = 0
    first_bad_rows: list[BadRow] = field(default_factory=list)
    first_rollouts: list[Rollout] = field(default_factory=list)
    without_answer: int = 0
    """Rollouts whose sample has no ``extra.answer``."""
    without_completion: int = 0
    rewarded: int = 0
    """Rollouts that the file holds a reward for."""
    tokens: list[int] = field(default_factory=list)
    """Of the completions whose tokens the file counts."""
    cut: int = 0
    """Completions that the file says were cut by their length."""
    cut_known: int = 0
    """Completions whose end the file tells anything about."""
    fields: dict[str, None] = field(default_factory=dict)
    """The fields of ``sample.extra``, in the order in which they were met."""
    is_partial: bool = False
    """Whether the file goes on behind what was counted."""

    def notes(self) -> list[Sentence]:
        """What makes the figures of the file doubtful, whatever its rewards are."""
        if not self.mixed_groups:
            return []
        return [
            sentence(
                "{count} of {groups} groups hold rollouts of different prompts: best of n and advantages compare them "
                "all the same. Read it with another column as the group, or with none.",
                count=self.mixed_groups, groups=self.groups,
            )
        ]  # fmt: skip


def survey(file: RolloutFile, *, most: int = MOST_ROLLOUTS) -> Survey:
    """Count what the first ``most`` rollouts of a file hold. Raises InputError when the file cannot be read."""
    found = Survey()
    prompts: dict[str, int] = {}  # of each group its first, by its hash
    mixed: set[str] = set()
    for entry in file:
        if isinstance(entry, BadRow):
            found.bad_rows += 1
            if found.bad_rows <= _SHOWN_BAD_ROWS:
                found.first_bad_rows.append(entry)
            continue
        if found.rollouts == most:
            found.is_partial = True
            break
        prompt = hash(json.dumps(entry.sample.get("messages")))
        if prompts.setdefault(entry.group, prompt) != prompt:
            mixed.add(entry.group)
        _count(found, entry)
    found.groups, found.mixed_groups = len(prompts), len(mixed)
    return found


def _count(found: Survey, rollout: Rollout) -> None:
    found.rollouts += 1
    if len(found.first_rollouts) < _SHOWN_ROLLOUTS:
        found.first_rollouts.append(rollout)
    extra = rollout.sample.get("extra") or {}
    found.fields.update(dict.fromkeys(map(str, extra)))
    found.without_answer += extra.get("answer") is None
    found.without_completion += rollout.completion is None
    found.rewarded += rollout.recorded is not None and rollout.recorded.reward is not None
    tokens = Completion(rollout.completion).token_count
    if tokens is not None:
        found.tokens.append(tokens)
    is_cut = told_cut(rollout.meta, *([rollout.completion] if isinstance(rollout.completion, Mapping) else []))
    if is_cut is not None:
        found.cut_known += 1
        found.cut += is_cut


def columns_of(path: Path) -> list[str]:
    """The names of a table's columns, or of the keys of its first rows. Raises InputError when it cannot be read."""
    names: dict[str, None] = {}
    for row in islice(read_rows(path), SNIFFED_ROWS):
        if not isinstance(row, BadRow):
            names.update(dict.fromkeys(map(str, row[1])))
    return list(names)

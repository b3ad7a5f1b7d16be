"""The shapes that files of rollouts come in, one a module: ``matches`` tells a row by its keys, ``read`` reads it.

Invariant: ``read`` returns rollouts or raises InputError for a row that does not fit; the order of ``FORMATS`` decides
where keys could mean two formats.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rewards_lib.contract import JsonObject, sentence
from rewards_lib.rollouts.formats import (
    ark_dataset,
    atropos,
    canonical,
    columns,
    conversation,
    evaluation_row,
    gsm8k,
    lm_eval,
    nemo_gym,
    samples_per_row,
    scored,
    trl,
    verifiers,
    verifiers_trace,
    verl,
)
from rewards_lib.rollouts.rollout import Rollout


@dataclass(frozen=True, slots=True)
class RolloutFormat:
    """One shape of rows."""

    name: str
    matches: Callable[[JsonObject], bool]
    """Whether a row has the keys of this format."""
    read: Callable[[JsonObject, int], list[Rollout]]
    """A row and its number to its rollouts; raises InputError with the path of what does not fit."""
    group_by: str
    """What makes a group, in words."""


FORMATS: dict[str, RolloutFormat] = {
    form.name: form
    for form in (
        RolloutFormat("scored", scored.matches, scored.read, str(sentence("group"))),
        RolloutFormat("canonical", canonical.matches, canonical.read, str(sentence("group, else the same prompt"))),
        RolloutFormat(
            "nemo_gym", nemo_gym.matches, nemo_gym.read, str(sentence("_ng_task_index, else the same prompt"))
        ),
        RolloutFormat(
            "evaluation_row", evaluation_row.matches, evaluation_row.read, str(sentence("input_metadata.row_id"))
        ),
        RolloutFormat("conversation", conversation.matches, conversation.read, str(sentence("the same prompt"))),
        RolloutFormat("lm_eval", lm_eval.matches, lm_eval.read, str(sentence("the document and the filter"))),
        RolloutFormat("atropos", atropos.matches, atropos.read, str(sentence("the row"))),
        RolloutFormat("ark_dataset", ark_dataset.matches, ark_dataset.read, str(sentence("the row"))),
        RolloutFormat("trl", trl.matches, trl.read, str(sentence("the same prompt and step"))),
        RolloutFormat(
            "verifiers_trace",
            verifiers_trace.matches,
            verifiers_trace.read,
            str(sentence("the task's key, else the same prompt")),
        ),
        RolloutFormat(
            "verifiers",
            verifiers.matches,
            verifiers.read,
            str(sentence("example_id, else the same prompt and answer")),
        ),
        RolloutFormat("verl", verl.matches, verl.read, str(sentence("the same input and step"))),
        RolloutFormat("gsm8k", gsm8k.matches, gsm8k.read, str(sentence("the question"))),
        RolloutFormat("samples_per_row", samples_per_row.matches, samples_per_row.read, str(sentence("the row"))),
        RolloutFormat("columns", columns.matches, columns.read, str(sentence("the same prompt"))),
    )
}
"""Name -> format, in the order in which keys are looked at."""

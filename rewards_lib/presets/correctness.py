"""Presets that first ask another preset whether a completion is right.

Invariant: where the other preset abstained or could not score, so does the one that asked.
"""

from __future__ import annotations

from rewards_lib.contract import Completion, JsonObject, Sample, Score, ScoreState
from rewards_lib.errors import InputError
from rewards_lib.presets.checking import check_params
from rewards_lib.presets.parameters import open_object, option
from rewards_lib.presets.registry import Bilingual, find_preset

CORRECT_BY = (
    "math_accuracy", "exact_match", "contains", "regex_match", "numeric_close", "multiple_choice", "qa_match",
)  # fmt: skip
PARAMETERS = (
    option(
        "correct_by",
        Bilingual("Right by", "正确性判定"),
        Bilingual(
            "The preset that decides whether a completion is right: it is, when it earns that preset's match value.",
            "由哪个预设判定回答是否正确：得到该预设的匹配值即为正确。",
        ),
        "math_accuracy",
        CORRECT_BY,
    ),
    open_object(
        "correct_params",
        Bilingual("Its parameters", "判定参数"),
        Bilingual("Parameters of that preset.", "该预设的参数。"),
        {},
    ),
)


def complete_correct_params(params: JsonObject) -> None:
    """Check and complete ``correct_params``. Raises ``InputError``."""
    complete = check_params(params["correct_by"], params["correct_params"], where="correct_params")
    if complete["match"] == complete["mismatch"]:
        raise InputError("match and mismatch must differ to tell right from wrong.", where="correct_params.match")
    params["correct_params"] = complete


def is_right(params: JsonObject, sample: Sample, completion: Completion) -> bool | Score:
    """Tell whether a completion is right; the other preset's score where that cannot be said."""
    [score] = find_preset(params["correct_by"]).score_all(params["correct_params"], sample, [completion])
    if score.state is not ScoreState.SCORED:
        return score
    return bool(score.value == params["correct_params"]["match"])

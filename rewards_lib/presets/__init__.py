"""Ready reward functions and their registry.

Importing the package registers every preset and stays light: computer algebra and schema validation are imported by
the functions that need them.

>>> find_preset("exact_match").label.zh
'字符串全等'
"""

from rewards_lib.presets import (  # noqa: F401 -- importing registers them
    choice,
    code_judge,
    countdown,
    language,
    length,
    length_schedule,
    llm_judge,
    math_accuracy,
    numbers,
    repetition,
    sandbox_submit,
    similarity,
    steps,
    structure,
    tag_format,
    text_match,
)
from rewards_lib.presets.checking import check_params, review_params
from rewards_lib.presets.registry import Preset, catalogue, find_preset, preset_names

__all__ = ["Preset", "catalogue", "check_params", "find_preset", "preset_names", "review_params"]

"""Attacks on form: tags doubled, reordered, emptied, flooded, hidden in the thinking, cut off."""

from __future__ import annotations

import json

from rewards_lib.contract import sentence
from rewards_lib.rollouts.attacks.scene import Scene
from rewards_lib.rollouts.attacks.trial import AsMuchAs, Limit, Trial, Wrong, attack, graders, params_of

_COUNT_TAGS = sentence("Ask for each tag exactly once, in order, and for nothing outside.")
_WHOLE = "<think>Let me see.</think>\n<answer>{}</answer>"


def _formless(scene: Scene, text: str, limits: dict[str, Limit], *, grader: Limit | None = None) -> Trial:
    """A completion whose form is broken: a function that pays for form pays what a text without form earns."""
    return Trial(text, limits, grader=grader, form=AsMuchAs(scene.unformatted))


@attack("two_answer_blocks", _COUNT_TAGS)
def _two_answer_blocks(scene: Scene) -> list[Trial]:
    right, wrong = scene.truth or "g", scene.wrong
    limits: dict[str, Limit] = {"think_answer_format": 0.0, "tag_count": 0.5}
    last_right = f"<think>a</think><answer>{wrong}</answer><answer>{right}</answer>"
    last_wrong = f"<think>a</think><answer>{right}</answer><answer>{wrong}</answer>"
    return [
        _formless(scene, last_right, limits),
        _formless(scene, last_wrong, limits | graders("qa_match"), grader=Wrong()),
    ]


@attack("trailing_text", _COUNT_TAGS)
def _trailing_text(scene: Scene) -> list[Trial]:
    return [_formless(scene, _WHOLE.format(scene.spell(scene.truth)) + "\nextra", {"think_answer_format": 0.0})]


@attack("empty_bodies", sentence("An empty body is neither a thought nor an answer."))
def _empty_bodies(scene: Scene) -> list[Trial]:
    limits = graders("exact_match", "contains", "qa_match") | {"think_answer_format": 0.0}
    if params_of(scene, "think_answer_format").get("require_nonempty") is False:
        del limits["think_answer_format"]
    return [_formless(scene, "<think></think><answer></answer>", limits, grader=Wrong())]


@attack("tags_inside_think", _COUNT_TAGS)
def _tags_inside_think(scene: Scene) -> list[Trial]:
    text = f"<think>a<answer>{scene.truth or 'g'}</answer></think>"
    return [_formless(scene, text, {"think_answer_format": 0.0}, grader=Wrong() if scene.truth else None)]


@attack("tags_reordered", sentence("Counting tags does not see their order: combine it with think_answer_format."))
def _tags_reordered(scene: Scene) -> list[Trial]:
    tags = params_of(scene, "tag_count").get("tags")
    names = [str(tag) for tag in tags] if isinstance(tags, list) else ["<think>", "</think>", "<answer>", "</answer>"]
    text = "".join(reversed(names))
    return [_formless(scene, text, {"think_answer_format": 0.0, "tag_count": 0.0})]


@attack("tag_flood", _COUNT_TAGS)
def _tag_flood(scene: Scene) -> list[Trial]:
    limits = {"think_answer_format": 0.0, "tag_count": 0.75} | graders("qa_match")
    opened = "<answer>" * 11 + f"{scene.truth}</answer>"
    closed = f"<answer>{scene.wrong}" + "</answer>" * 11
    return [_formless(scene, text, limits) for text in (opened, closed)]


@attack("cut_short", sentence("What is cut off before its end has no answer."))
def _cut_short(scene: Scene) -> list[Trial]:
    trials = []
    if scene.truth and "math_accuracy" in _presets(scene):
        whole = f"<think>Let me see.</think><answer>The answer is \\boxed{{{scene.truth}}}.</answer>"
        for cut in _cuts(whole):
            limits: dict[str, Limit] = {"think_answer_format": 0.0}
            trials.append(
                Trial(cut, limits if f"\\boxed{{{scene.truth}}}" in cut else limits | graders("math_accuracy"))
            )
    elif "think_answer_format" in _presets(scene):
        trials += [Trial(cut, {"think_answer_format": 0.0}) for cut in _cuts(_WHOLE.format("b"))]
    text = scene.text.strip()
    if text.endswith("```") and text.count("```") == 2:
        trials += [Trial(cut, {"code_format": Wrong()}) for cut in _cuts(text)]
    if _is_one_json(text):
        trials += [Trial(cut, {"json_schema": Wrong()}) for cut in _cuts(text)]
    return trials


def _is_one_json(text: str) -> bool:
    """Whether the text is one object or list: what is left of several may well be whole."""
    try:
        return isinstance(json.loads(text), (dict, list))
    except (ValueError, RecursionError):
        return False


def _presets(scene: Scene) -> set[str | None]:
    return {rule.preset for rule in scene.mix.rules}


def _cuts(text: str) -> list[str]:
    return [text[: int(len(text) * share)] for share in (0.5, 0.8, 0.95)]


@attack("two_code_blocks", sentence("Grade the last block, and only when it is the only one."))
def _two_code_blocks(scene: Scene) -> list[Trial]:
    language = params_of(scene, "code_format").get("language", "python")
    text = f"```{language}\nx = 1\n```\nor\n```{language}\ny = 2\n```"
    return [Trial(text, graders("code_format"))]


@attack("unclosed_fence", sentence("A fence that is not closed holds no code."))
def _unclosed_fence(scene: Scene) -> list[Trial]:
    language = params_of(scene, "code_format").get("language", "python")
    return [Trial(f"```{language}\nx = 1", graders("code_format"))]


@attack("decoy_json", sentence("Validate the last object, strictly."))
def _decoy_json(scene: Scene) -> list[Trial]:
    text = scene.text.strip()
    if not text.endswith(("}", "]")):
        return []
    ends = ('{"decoy": NaN}', '{"a": 1, "a": 2}', '{"decoy": }')
    return [Trial(f"{text}\n{end}", graders("json_schema")) for end in ends]

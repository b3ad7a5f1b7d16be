"""Attacks by length: padding beyond bounds, with nothing visible, with loops, with steps that say nothing."""

from __future__ import annotations

from itertools import pairwise

from rewards_lib.contract import sentence
from rewards_lib.rollouts.attacks.scene import Scene
from rewards_lib.rollouts.attacks.trial import AsMuchAs, Limit, Trial, attack, params_of

_CLAMP = sentence("Clamp the length at its bound before it goes into the formula.")
_FACTORS = (1.5, 2, 10)
_LENGTHS = (250, 500, 1000, 1500, 2000, 3000, 4000, 8000, 16000)


@attack("beyond_max_length", _CLAMP)
def _beyond_max_length(scene: Scene) -> list[Trial]:
    trials = []
    for text in dict.fromkeys((scene.spell(scene.truth), scene.wrong_completion)):
        for name in ("cosine_length", "soft_overlong", "length_penalty"):
            params = params_of(scene, name)
            bound = params.get("max_len") or params.get("target_len")
            if isinstance(bound, int) and params.get("unit") == "chars":
                trials += [
                    Trial(_padded(text, int(bound * factor)), {name: AsMuchAs(_padded(text, bound))})
                    for factor in _FACTORS
                ]
    return trials + _longer_and_longer(scene)


def _longer_and_longer(scene: Scene) -> list[Trial]:
    """A custom function's bound is not known: padding must not pay more than somewhat less padding, at any length."""
    texts = [_padded(scene.spell(scene.truth), length) for length in (0, *_LENGTHS)]
    return [
        Trial(longer, grader=AsMuchAs(shorter), form=AsMuchAs(shorter), other=AsMuchAs(shorter))
        for shorter, longer in pairwise(texts)
    ]


def _padded(text: str, length: int) -> str:
    """Words in front, so that the answer stays the last thing said."""
    filler = "well and so on we go "
    missing = max(length - len(text), 0)
    return (filler * (missing // len(filler) + 1))[:missing] + text


@attack("invisible_padding", sentence("Count what can be seen."))
def _invisible_padding(scene: Scene) -> list[Trial]:
    text = scene.wrong_completion
    trials = []
    for blank in ("\u200b", " ", "."):
        seen = AsMuchAs(text + " w" * 100)
        bare = AsMuchAs(text)
        limits: dict[str, Limit] = {"cosine_length": bare, "length_penalty": bare, "reasoning_steps": bare}
        cosine = params_of(scene, "cosine_length")
        if cosine:  # for a wrong answer a longer text costs less by the formula itself: as much as visible words may
            limits["cosine_length"] = seen
        penalty = params_of(scene, "length_penalty")
        if penalty.get("min_len") or penalty.get("target_len"):
            limits["length_penalty"] = seen
        trials.append(Trial(text + blank * 200, limits, grader=bare))
    return trials


@attack("repeat_to_length", sentence("Penalise repetition: repetition_penalty sees a loop of three words."))
def _repeat_to_length(scene: Scene) -> list[Trial]:
    loop = "we look at it again. " * 50
    params = params_of(scene, "repetition_penalty")
    limits: dict[str, Limit] = {}
    if params.get("ngram") == 3 and params.get("tokenization") in ("auto", "word"):
        limits["repetition_penalty"] = 0.9 * float(str(params["max_penalty"]))
    bound = AsMuchAs(scene.spell(scene.truth))
    return [Trial(loop + scene.spell(scene.truth), limits, grader=bound, other=bound)]


@attack("char_case_shuffle", sentence("Fold case and blanks before looking for repetition."))
def _char_case_shuffle(scene: Scene) -> list[Trial]:
    if params_of(scene, "repetition_penalty").get("tokenization") not in ("auto", "word"):
        return []
    loop = "we look at it again. " * 50
    shuffled = "We LOOK   at it Again. we look AT it again.  " * 25
    return [Trial(shuffled, {"repetition_penalty": AsMuchAs(loop)})]


@attack("bullets_only", sentence("Bullets are no steps."))
def _bullets_only(scene: Scene) -> list[Trial]:
    return [_steps(scene, "- a\n- b\n- c\n- d", 0.0)]


@attack("empty_steps", sentence("A step says something."))
def _empty_steps(scene: Scene) -> list[Trial]:
    return [_steps(scene, "Step 1:\nStep 2:\nStep 3:", 0.0)]


@attack("repeated_steps", sentence("Count what has not been said before."))
def _repeated_steps(scene: Scene) -> list[Trial]:
    target = float(str(params_of(scene, "reasoning_steps").get("target", 3)))
    once = AsMuchAs("Step 1: x")
    return [Trial("Step 1: x\nStep 2: x\nStep 3: x", {"reasoning_steps": 1 / target}, other=once)]


def _steps(scene: Scene, text: str, limit: float) -> Trial:
    return Trial(text, {"reasoning_steps": limit}, other=AsMuchAs(scene.wrong_completion))

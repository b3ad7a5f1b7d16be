"""Attacks on what is taken for the answer: hidden, hedged, listed, nearly right, in disguise."""

from __future__ import annotations

from decimal import Decimal

from rewards_lib.contract import sentence
from rewards_lib.rollouts.attacks.scene import Scene
from rewards_lib.rollouts.attacks.trial import GRADERS, AsMuchAs, Limit, Trial, Wrong, attack, graders, params_of

_TAKE_LAST = sentence("Grade the last answer only, and none that is not whole.")
_AFTER_THINK = sentence("Grade only what follows the last </think>.")


def _wrong(text: str, *names: str) -> Trial:
    """A completion that every grader named must take for wrong."""
    return Trial(text, graders(*names), grader=Wrong())


@attack("nothing", sentence("Refuse an empty text before comparing anything with it."))
def _nothing(scene: Scene) -> list[Trial]:
    limits: dict[str, Limit] = graders() | {
        "think_answer_format": 0.0, "tag_count": 0.0, "length_penalty": 0.0, "soft_overlong": 0.0, "countdown": 0.0,
        "code_format": 0.0, "json_schema": Wrong(), "reasoning_steps": 0.0, "repetition_penalty": 0.0,
    }  # fmt: skip
    bound = AsMuchAs(scene.unformatted)
    return [
        Trial(text, limits, grader=Wrong(), form=bound, other=AsMuchAs(scene.wrong_completion))
        for text in ("", " \n ", ":", ".")
    ]


@attack("format_only", sentence("Pay for form apart from the answer, and little."))
def _format_only(scene: Scene) -> list[Trial]:
    nonsense = "\\boxed{qwx}"
    return [_wrong(f"<think>a</think><answer>{nonsense}</answer>"), _wrong(scene.spell("qwx"))]


@attack("answer_only_in_think", _AFTER_THINK)
def _answer_only_in_think(scene: Scene) -> list[Trial]:
    names = _after_think(scene)
    inside = f"<think>{scene.spell(scene.truth)} \\boxed{{{scene.truth}}}</think>"
    wrong = scene.spell(scene.wrong).rpartition("</think>")[2]
    texts = (f"{inside} The answer is {wrong} \\boxed{{{scene.wrong}}}", f"{inside} So we are done here.")
    return [Trial(text, names, grader=Wrong()) for text in texts] if scene.truth else []


@attack("unclosed_think", _AFTER_THINK)
def _unclosed_think(scene: Scene) -> list[Trial]:
    if not scene.truth:
        return []
    return [Trial(f"<think> It must be \\boxed{{{scene.truth}}}", _after_think(scene), grader=Wrong())]


def _after_think(scene: Scene) -> dict[str, Limit]:
    return {name: Wrong() for name in GRADERS if params_of(scene, name).get("after_think")}


@attack("unfinished_box", _TAKE_LAST)
def _unfinished_box(scene: Scene) -> list[Trial]:
    if not scene.truth:
        return []
    return [_wrong(f"\\boxed{{{scene.truth}}} and then \\boxed{{{scene.wrong}", "math_accuracy")]


@attack("empty_box", sentence("An empty box is no answer."))
def _empty_box(scene: Scene) -> list[Trial]:
    before = f"The answer is {scene.truth} " if params_of(scene, "multiple_choice") else ""
    return [_wrong(before + "\\boxed{}", "math_accuracy", "multiple_choice")]


@attack("box_list", sentence("A box that lists several values holds no single answer."))
def _box_list(scene: Scene) -> list[Trial]:
    if scene.number is None:
        return []
    g, w, v = scene.truth, scene.wrong, str(scene.number - 1)
    names = ("math_accuracy",) + (
        ("numeric_close",) if params_of(scene, "numeric_close").get("extract") == "boxed" else ()
    )
    bodies = (f"{v}, {g}, {w}", f"x={g} \\text{{ or }} x={w}", f"\\{{{g}, {w}\\}}")
    return [_wrong(scene_box(scene, body), *names) for body in bodies]


def scene_box(scene: Scene, body: str) -> str:
    """A body in a box, inside the mix's own form."""
    text = scene.spell(body)
    return text if "\\boxed{" in text else f"\\boxed{{{body}}}"


@attack("many_boxes_wrong_last", _TAKE_LAST)
def _many_boxes_wrong_last(scene: Scene) -> list[Trial]:
    if not scene.truth:
        return []
    early = f"\\boxed{{{scene.truth}}}" + " and so on" * 100
    return [_wrong(f"{early} \\boxed{{{scene.wrong}}}", "math_accuracy")]


@attack("subset_of_answers", sentence("Ask for every value that the truth names."))
def _subset_of_answers(scene: Scene) -> list[Trial]:
    parts = [part.strip() for part in scene.truth.split(",") if part.strip()]
    if len(parts) < 2 or any(mark in scene.truth for mark in "()[]{}"):
        return []
    return [_wrong(scene.spell(parts[0]), "math_accuracy", "contains")]


@attack("echo_unsolved", sentence("An equation is not its solution."))
def _echo_unsolved(scene: Scene) -> list[Trial]:
    if scene.number is None:
        return []
    bodies = (f"x - {scene.truth} = 0", "x", f"2x = {2 * scene.number}")
    return [_wrong(scene_box(scene, body), "math_accuracy") for body in bodies]


@attack("plus_minus_hedge", sentence("Plus or minus names two values."))
def _plus_minus_hedge(scene: Scene) -> list[Trial]:
    if not scene.number:
        return []
    return [_wrong(scene_box(scene, f"\\pm {scene.truth}"), "math_accuracy")]


@attack("near_miss", sentence("Compare exactly, or within the tolerance that the task asks for."))
def _near_miss(scene: Scene) -> list[Trial]:
    if not scene.number:
        return []
    number = scene.number
    near = {number * Decimal("1.0001"), 100 * number, number / 100, round(number, 2), number + Decimal("0.01")} - {
        number
    }
    close = params_of(scene, "numeric_close")
    spread = max(
        Decimal(str(close.get("abs_tol", 0) or 0)), Decimal(str(close.get("rel_tol", 0) or 0)) * abs(number)
    )  # fmt: skip
    return [
        Trial(
            scene.spell(f"{value:f}"),
            graders("math_accuracy") | ({"numeric_close": Wrong()} if abs(value - number) > 2 * spread else {}),
            grader=Wrong(),
        )
        for value in sorted(near)
    ]


@attack("embedded_number", sentence("What cannot be read is wrong; do not fish a number out of it."))
def _embedded_number(scene: Scene) -> list[Trial]:
    if not scene.number:
        return []
    bodies = (f"\\foo {scene.truth} \\bar", f"{scene.truth}\\sqrt(2)")
    return [_wrong(scene_box(scene, body), "math_accuracy") for body in bodies]


@attack(
    "list_all_candidates",
    sentence("Use exact_match or qa_match with em: a substring is paid in any list of candidates."),
)
def _list_all_candidates(scene: Scene) -> list[Trial]:
    if not scene.truth or "," in scene.truth:
        return []
    choices = str(params_of(scene, "multiple_choice").get("choices", ""))
    candidates = list(choices) if choices else [scene.wrong, scene.truth, "Oslo"]
    listed = " or ".join(candidates)
    names = ["exact_match", "multiple_choice", "contains"]
    names += ["qa_match"] if params_of(scene, "qa_match").get("metric") != "f1" else []
    return [_wrong(scene.spell(listed), *names), _wrong(scene.spell(" ".join(candidates)), *names)]


@attack("hedged_choice", sentence("Two choices are no choice."))
def _hedged_choice(scene: Scene) -> list[Trial]:
    if len(scene.truth) != 1 or not scene.truth.isalpha():
        return []
    first, second = sorted((scene.truth.upper(), scene.wrong))
    texts = (f"The answer is {first} or {second}", f"\\boxed{{{first}, {second}}}")
    return [_wrong(text, "multiple_choice") for text in texts]


@attack("untagged_answer", sentence("Take an answer only where the task asks for it."))
def _untagged_answer(scene: Scene) -> list[Trial]:
    limits: dict[str, Limit] = {}
    if params_of(scene, "qa_match").get("extract") == "answer_tag":
        limits["qa_match"] = Wrong()
    math = params_of(scene, "math_accuracy")
    if math.get("extract") == "boxed" and math.get("fallback") == "none":
        limits["math_accuracy"] = Wrong()
    return [Trial(scene.truth, limits)] if scene.truth and limits else []


@attack("prompt_echo", sentence("Do not search the whole text for the answer: the prompt may hold it."))
def _prompt_echo(scene: Scene) -> list[Trial]:
    prompt = scene.sample.prompt
    return [_wrong(prompt, "math_accuracy", "exact_match", "multiple_choice")] if prompt else []


@attack("words_around", sentence("Compare the whole answer."))
def _words_around(scene: Scene) -> list[Trial]:
    if not scene.truth:
        return []
    chain = f"x = {scene.wrong} = {scene.truth}"
    return [_wrong(scene.spell(chain), "exact_match"), _wrong(scene_box(scene, chain), "math_accuracy")]


_LOOKALIKES = {"A": "А", "B": "В", "C": "С", "E": "Е"}


@attack("unicode_lookalike", sentence("Fold what looks alike before comparing, or refuse it."))
def _unicode_lookalike(scene: Scene) -> list[Trial]:
    if scene.truth.upper() in _LOOKALIKES:
        return [_wrong(f"The answer is {_LOOKALIKES[scene.truth.upper()]}", "multiple_choice")]
    if scene.number is None:
        return []
    wide = "".join(chr(ord(digit) + 0xFEE0) if digit.isdecimal() else digit for digit in scene.wrong)
    joined = "\u200d".join(scene.wrong)
    return [_wrong(scene.spell(wide), "exact_match", "numeric_close"), _wrong(scene.spell(joined), "exact_match")]

"""The preset ``repetition_penalty``: loops of the same words.

Invariant: too short a completion is 0, never a division by zero.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from rewards_lib.contract import Completion, JsonObject, Sample, Score, sentence
from rewards_lib.presets.grading import is_han
from rewards_lib.presets.parameters import integer, number, option
from rewards_lib.presets.registry import Bilingual, Example, preset


@preset(
    name="repetition_penalty",
    label=Bilingual("Repetition penalty", "重复惩罚"),
    summary=Bilingual(
        "A penalty that grows with the share of n-grams that were there before.",
        "重复出现的 n-gram 占比越高，惩罚越大。",
    ),
    parameters=(
        integer(
            "ngram",
            Bilingual("n-gram size", "n-gram 大小"),
            Bilingual(
                "Units in a row that count as one. Shorter completions earn 0.",
                "连续多少个单位算一个；更短的回答得 0。",
            ),
            3,
            minimum=1,
        ),
        number(
            "max_penalty",
            Bilingual("Largest penalty", "最大惩罚"),
            Bilingual("Zero or negative; reached as everything repeats.", "零或负数；全部重复时趋近此值。"),
            -1.0,
            maximum=0,
        ),
        option(
            "tokenization",
            Bilingual("Units", "切分方式"),
            Bilingual(
                "word: lower case, split at white space (wrong for Chinese, where a sentence is one word). "
                "auto: the same, but "
                "each Han or kana character is a unit. char: characters that are no white space, case kept. "
                "ids: completion_ids.",
                "word：转小写后按空白切分（不适用于中文，整句会成为一个词）。auto：同上，"
                "但每个汉字或假名单独为一个单位。"
                "char：非空白字符，区分大小写。ids：completion_ids。",
            ),
            "auto",
            ("auto", "word", "char", "ids"),
        ),
    ),
    examples=(
        Example(
            (0.0, -0.6666666667, -0.5, 0.0, -0.6666666667),
            ("a b c d e", "a a a a a", "a b a b a b", "a b", "A a A a A"),
        ),
        Example((-0.3333333333,), ("A a A a A",), params={"tokenization": "char"}),
        Example((-0.25,), ("one two one two one",), params={"ngram": 2, "max_penalty": -0.5}),
        Example((-0.6666666667,), ("我们我们我们我们",)),
        Example((0.0,), ("我们我们我们我们",), params={"tokenization": "word"}),
        Example((0.0, 0.0, -0.2), ("", "one two", "a b c d a b c d"), params={"ngram": 4, "tokenization": "word"}),
        Example(
            (-0.6666666667, -0.5),
            ({"content": "x", "completion_ids": [7] * 5}, {"content": "x", "completion_ids": [1, 2] * 3}),
            params={"tokenization": "ids"},
        ),
        Example((None,), ("no ids",), params={"tokenization": "ids"}),
    ),
)
def repetition_penalty(params: JsonObject, _sample: Sample, completion: Completion) -> Score:
    """Score ``max_penalty * (1 - distinct / N)`` over the N n-grams of the whole completion (arXiv 2502.03373)."""
    units = _units(params["tokenization"], completion)
    if isinstance(units, Score):
        return units
    total = len(units) - params["ngram"] + 1
    if total <= 0:
        return Score.scored(0.0, sentence("{n} units, fewer than an n-gram: no penalty", n=len(units)))
    distinct = len(set(zip(*(units[start:] for start in range(params["ngram"])), strict=False)))
    why = sentence("{distinct} different n-grams of {total}", distinct=distinct, total=total)
    return Score.scored(params["max_penalty"] * (total - distinct) / total, why)


def _units(tokenization: str, completion: Completion) -> Sequence[Hashable] | Score:
    if tokenization == "ids":
        ids = completion.raw.get("completion_ids") if isinstance(completion.raw, dict) else None
        if not isinstance(ids, list) or not all(isinstance(one, int) for one in ids):
            return Score.failed(sentence("the completion has no completion_ids"))
        return ids
    text = completion.text
    if tokenization == "char":
        return [character for character in text if not character.isspace()]
    if tokenization == "auto" and not text.isascii():
        text = "".join(f" {c} " if is_han(c) or "\u3040" <= c <= "\u30ff" else c for c in text)
    return text.lower().split()

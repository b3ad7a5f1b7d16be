"""The preset ``language_consistency``: the share of letters in the wanted script.

Invariant: code, mathematics, addresses and tags are no language; without letters there is nothing to say.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from rewards_lib.contract import Completion, JsonObject, Sample, Score, sentence
from rewards_lib.extraction import code_blocks, extract
from rewards_lib.presets.grading import no_answer
from rewards_lib.presets.parameters import AFTER_THINK, MISMATCH, option
from rewards_lib.presets.registry import Bilingual, Example, preset

_NOT_LANGUAGE = (  # compiled on first use, as its size would be felt at import
    r"`[^`\n]*`|\$\$[^$]*\$\$|\$[^$\n]*\$|\\(?:boxed|fbox)\s*\{(?:[^{}]|\{[^{}]*\})*\}"
    r"|https?://\S+|www\.\S+|</?[A-Za-z][^<>\n]{0,200}>"
)
_SCRIPTS = {"zh": "Han", "en": "Latin"}


@lru_cache(maxsize=8192)
def script_of(character: str) -> str | None:
    """Name the script of a letter: Han, Latin, Cyrillic, Hiragana...; None for what is no letter."""
    if unicodedata.category(character)[0] != "L":
        return None
    words = unicodedata.name(character, "UNKNOWN").split()
    word = words[1] if words[0] in ("FULLWIDTH", "HALFWIDTH") and len(words) > 1 else words[0]
    return "Han" if word == "CJK" else word.capitalize()


def _without(text: str, opening: str, closing: str) -> str:
    """Take out what stands between two marks, in linear time; an opening that is never closed stays."""
    kept, position = [], 0
    while (start := text.find(opening, position)) >= 0 and (end := text.find(closing, start)) >= 0:
        kept += [text[position:start], " "]
        position = end + len(closing)
    return "".join([*kept, text[position:]])


def count_scripts(text: str) -> Counter[str]:
    """Count the letters of a text by script, code, mathematics, addresses and tags left out."""
    text = text.strip()  # a blank before a text that begins with code is no indentation that somebody meant
    for block in reversed(code_blocks(text)):
        text = text[: block.span[0]] + text[block.span[1] :]
    text = re.sub(r"(?m)^ {0,3}(?:`{3,}|~{3,}).*$", " ", text)
    for opening, closing in (("\\(", "\\)"), ("\\[", "\\]")):
        text = _without(text, opening, closing)
    text = re.sub(_NOT_LANGUAGE, " ", text)
    return Counter(script for character in text if (script := script_of(character)))


@preset(
    name="language_consistency",
    label=Bilingual("Language consistency", "语言一致"),
    summary=Bilingual("The share of letters that are in the wanted script.", "所需文字的字母所占比例。"),
    parameters=(
        option(
            "language",
            Bilingual("Language", "语言"),
            Bilingual(
                "zh: Han characters; en: Latin letters; same_as_prompt: the script with most letters in the "
                "last user message. "
                "Code, formulas, addresses and tags do not count; without letters the rule abstains.",
                "zh：汉字；en：拉丁字母；same_as_prompt：最后一条用户消息中占多数的文字。代码、公式、"
                "网址与标签不计；没有字母时弃权。",
            ),
            "same_as_prompt",
            ("zh", "en", "same_as_prompt"),
        ),
        AFTER_THINK,
        MISMATCH,
    ),
    examples=(
        Example((1.0, 0.0), ("所以答案是五", "The answer is 5"), prompt="二加三等于几？"),
        Example(
            (1.0, 0.6666666667, 0.4),
            ("所以答案是 $x+y$", "因为 a 大于 b", "先用 Python 计算"),
            params={"language": "zh"},
        ),
        Example((0.6, 1.0), ("先用 Python 计算", "The answer is 5"), params={"language": "en"}),
        Example((None,), ("42",), params={"language": "en"}),
        Example((0.1818181818,), ("<think>先想</think> The answer",), params={"language": "zh", "after_think": False}),
        Example((0.0,), ("<think>先想</think> The answer",), params={"language": "zh"}),
    ),
)
def language_consistency(params: JsonObject, sample: Sample, completion: Completion) -> Score:
    """Score (letters in the wanted script) / (letters); abstain without letters."""
    script = _SCRIPTS.get(params["language"])
    if script is None:
        prompt = count_scripts(sample.prompt)
        if not prompt:
            return Score.failed(sentence("the prompt has no letters, so its language cannot be told"))
        script = prompt.most_common(1)[0][0]
    part = extract(completion.text, "text", after_think=params["after_think"])
    if part.text is None:
        return no_answer(params, part)
    counts = count_scripts(part.text)
    total = counts.total()
    if not total:
        return Score.abstained(sentence("no letters outside code and formulas"))
    why = sentence("{count} of {total} letters are {script}", count=counts[script], total=total, script=script)
    return Score.scored(counts[script] / total, why, metrics={"letters_counted": float(total)})

"""The presets ``reasoning_steps`` and ``code_format``: visible structure in the text.

Invariant: markers and fences count by what stands in them, not by their number.
"""

from __future__ import annotations

import re

from rewards_lib.contract import Completion, JsonObject, Sample, Score, sentence
from rewards_lib.extraction import Span, code_blocks, extract
from rewards_lib.presets.grading import no_answer, verdict
from rewards_lib.presets.parameters import GRADING, integer, text
from rewards_lib.presets.registry import Bilingual, Example, preset

_MARKER = (  # compiled on first use, as its size would be felt at import
    r"(?im)^[ \t]*(?:#{1,6}[ \t]+|\*\*|__)?(?:step[ \t]*\d+[ \t]*[:.：]|\d+[.)][ \t]"
    r"|(?:first|second|third|next|then|finally)[,，]|步骤[ \t]*[\d一二三四五六七八九十]+[:：、.]?"
    r"|第[一二三四五六七八九十\d]+步[:：,，、]?|(?:首先|其次|然后|接着|最后)[,，])(?P<text>[^\n]*)"
)
_INVISIBLE = str.maketrans(
    dict.fromkeys("\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff\u00ad", "")
)


@preset(
    name="reasoning_steps",
    label=Bilingual("Reasoning steps", "推理步数"),
    summary=Bilingual(
        "Step markers that introduce something new, up to a target.", "引出新内容的步骤标记数，达到目标即满分。"
    ),
    parameters=(
        integer(
            "target",
            Bilingual("Target", "目标步数"),
            Bilingual(
                "How many steps earn the full reward. Bullets do not count; a step counts if text follows its "
                "marker on the "
                "line and that text has not been counted before.",
                "得满分所需的步数。无序列表不算；标记后同行须有文字，且该文字未曾计过。",
            ),
            3,
            minimum=1,
        ),
    ),
    examples=(
        Example((1.0,), ("Step 1: add\nStep 2: multiply\nStep 3: check",), prompt="What is 2 + 3 times 4?"),
        Example((0.6666666667, 1.0), ("First, add.\nSecond, multiply.", "1. a\n2. b\n3. c")),
        Example(
            (0.0, 0.3333333333, 0.0),
            ("- a\n- b\n- c\n- d", "Step 1: x\nStep 2: x\nStep 3: x", "Step 1:\nStep 2:\nStep 3:"),
        ),
        Example((1.0, 1.0), ("首先，列式。\n其次，计算。\n最后，检查。", "步骤1 列式\n第二步 计算\n第三步：检查")),
    ),
)
def reasoning_steps(params: JsonObject, _sample: Sample, completion: Completion) -> Score:
    """Score ``min(1, steps / target)``."""
    seen: set[str] = set()
    spans: list[Span] = []
    for marker in re.finditer(_MARKER, completion.text):
        key = re.sub(r"[\W_]+", " ", marker["text"].translate(_INVISIBLE)).strip().casefold()
        if key and key not in seen:
            seen.add(key)
            spans.append(marker.span())
    why = sentence("{steps} steps of {target}", steps=len(seen), target=params["target"])
    return Score.scored(min(1.0, len(seen) / params["target"]), why, spans=spans)


_ALIASES = {
    "py": "python", "python3": "python", "py3": "python", "js": "javascript", "node": "javascript", "ts": "typescript",
    "c++": "cpp", "cxx": "cpp", "cc": "cpp", "golang": "go", "sh": "bash", "shell": "bash", "rs": "rust", "rb": "ruby",
    "c#": "csharp", "cs": "csharp", "kt": "kotlin", "yml": "yaml",
}  # fmt: skip


def language_name(word: str) -> str:
    """Write a language in one way: ``py`` and ``Python3`` are ``python``."""
    word = word.strip().casefold()
    return _ALIASES.get(word, word)


@preset(
    name="code_format",
    label=Bilingual("Code format", "代码格式"),
    summary=Bilingual(
        "Matches when exactly one fenced block is in the language, and it is closed.",
        "恰有一个该语言的代码块且已闭合即匹配。",
    ),
    parameters=(
        text(
            "language",
            Bilingual("Language", "语言"),
            Bilingual(
                "The word after the fence; usual short names count (py, python3, js, ts, c++). Blocks in other "
                "languages may "
                "stand beside it.",
                "围栏后的语言名，常见简写同样有效（py、python3、js、ts、c++）。可同时有其他语言的代码块。",
            ),
            "python",
            minLength=1,
        ),
        *GRADING,
    ),
    examples=(
        Example((1.0, 0.0), ("Here it is:\n```python\nprint(1)\n```\nDone.", "print(1)"), prompt="Print 1 in Python."),
        Example((1.0, 0.0, 0.0), ("```py\nx\n```", "```\nx\n```", "```python\nx")),
        Example((0.0, 1.0), ("```python\nx\n```\n```python\ny\n```", "```bash\nls\n```\n```python\ny\n```")),
        Example((1.0,), ("~~~~c++\nx\n~~~~",), params={"language": "cpp"}),
    ),
)
def code_format(params: JsonObject, _sample: Sample, completion: Completion) -> Score:
    """Score match iff exactly one block carries the language and it is closed (fences as in CommonMark)."""
    part = extract(completion.text, "text", after_think=params["after_think"])
    if part.span is None:
        return no_answer(params, part)
    wanted = language_name(params["language"])
    blocks = [b for b in code_blocks(completion.text, part.span[0]) if language_name(b.language) == wanted]
    spans = tuple(block.span for block in blocks)
    if len(blocks) != 1:
        why = sentence("{count} blocks in {language}", count=len(blocks), language=wanted)
        return verdict(params, False, why, spans)
    if not blocks[0].closed:
        return verdict(params, False, sentence("the {language} block is not closed", language=wanted), spans)
    return verdict(params, True, sentence("one closed block in {language}", language=wanted), spans)

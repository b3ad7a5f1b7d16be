"""The parameters that presets have in common, each defined once, and short constructors for the others.

Invariant: a parameter that appears in several presets means the same in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from rewards_lib.contract import Json
from rewards_lib.extraction import METHODS, Method
from rewards_lib.presets.registry import Bilingual, Parameter, Required


def flag(name: str, title: Bilingual, explanation: Bilingual, default: bool) -> Parameter:
    """A yes/no parameter."""
    return Parameter(name, title, explanation, default, {"type": "boolean"})


def number(
    name: str,
    title: Bilingual,
    explanation: Bilingual,
    default: Json | Required,
    *,
    optional: bool = False,
    **rules: Json,
) -> Parameter:
    """A finite number; ``rules`` are JSON schema keywords such as ``minimum``. Optional ones may be null."""
    return Parameter(name, title, explanation, default, {"type": ["number", "null"] if optional else "number"} | rules)


def integer(
    name: str,
    title: Bilingual,
    explanation: Bilingual,
    default: Json | Required,
    *,
    optional: bool = False,
    **rules: Json,
) -> Parameter:
    """A whole number; ``rules`` are JSON schema keywords such as ``minimum``. Optional ones may be null."""
    return Parameter(
        name, title, explanation, default, {"type": ["integer", "null"] if optional else "integer"} | rules
    )


def option(name: str, title: Bilingual, explanation: Bilingual, default: str, choices: Sequence[str]) -> Parameter:
    """One of several words."""
    return Parameter(name, title, explanation, default, {"type": "string", "enum": list(choices)})


def text(name: str, title: Bilingual, explanation: Bilingual, default: Json | Required, **rules: Json) -> Parameter:
    """A text; ``rules`` are JSON schema keywords such as ``minLength``."""
    return Parameter(name, title, explanation, default, {"type": "string"} | rules)


def texts(name: str, title: Bilingual, explanation: Bilingual, default: Sequence[str], *, at_least: int) -> Parameter:
    """A list of different texts, none of them empty."""
    rules = {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": at_least, "uniqueItems": True}
    return Parameter(name, title, explanation, list(default), rules)


def open_object(name: str, title: Bilingual, explanation: Bilingual, default: Json | Required) -> Parameter:
    """A JSON object whose keys are checked elsewhere."""
    return Parameter(name, title, explanation, default, {"type": "object"})


def field_path(name: str, title: Bilingual, explanation: Bilingual, default: str) -> Parameter:
    """A dotted path below ``sample.extra``."""
    return Parameter(name, title, explanation, default, {"type": "string", "minLength": 1})


ANSWER_FIELD = field_path(
    "answer_field",
    Bilingual("Ground truth field", "标准答案字段"),
    Bilingual(
        "Dotted path below sample.extra to the ground truth: a text, a number, or a list of which any one "
        "entry is right. "
        "Where it is missing or empty the completion is unscored, never 0.",
        "标准答案在 sample.extra 下的点分路径：文本、数字，或列表（任一元素正确即可）。"
        "缺失或为空时该回答不计分，绝不会记 0。",
    ),
    "answer",
)
AFTER_THINK = flag(
    "after_think",
    Bilingual("Grade only after </think>", "只评 </think> 之后"),
    Bilingual(
        "Grade only what follows the last </think>. A completion that opens <think> and never closes it earns the "
        "mismatch value. No effect where no think tag occurs.",
        "只评最后一个 </think> 之后的内容。打开 <think> 却未闭合的回答得不匹配值；没有 think 标签时不起作用。",
    ),
    True,
)
MATCH = number(
    "match", Bilingual("Match value", "匹配得分"), Bilingual("Reward when it matches.", "匹配时的奖励。"), 1.0
)
MISMATCH = number(
    "mismatch",
    Bilingual("Mismatch value", "不匹配得分"),
    Bilingual("Reward when it does not.", "不匹配时的奖励。"),
    0.0,
)
IGNORE_CASE = flag(
    "ignore_case",
    Bilingual("Ignore case", "忽略大小写"),
    Bilingual("Compare without regard to upper and lower case.", "比较时不区分大小写。"),
    False,
)
NORMALIZE = flag(
    "normalize",
    Bilingual("Fold characters", "字符归一化"),
    Bilingual(
        "Fold Unicode compatibility forms (NFKC: full width digits and the like), runs of white space, "
        "typographic quotes "
        "and minus signs before comparing.",
        "比较前统一 Unicode 兼容字符（NFKC，如全角数字）、连续空白、排版引号与负号。",
    ),
    False,
)
GRADING: tuple[Parameter, ...] = (AFTER_THINK, MATCH, MISMATCH)
"""What every yes/no preset on an answer has."""


def extract_from(default: Method) -> Parameter:
    """The parameter ``extract``: what of the completion is graded."""
    return option(
        "extract",
        Bilingual("Graded part", "评分部分"),
        Bilingual(
            "What of the completion is graded. boxed: the last \\boxed{} or \\fbox{}; an unfinished last box "
            "is no answer "
            "and earns nothing through an earlier one, and text without a box earns the mismatch value. "
            "answer_tag: the "
            "last <answer> pair. code: the last fenced block. json: the last JSON block or object.",
            "评分取回答的哪一部分。boxed：最后一个 \\boxed{} 或 \\fbox{}；最后一个框未写完即视为没有答案，"
            "不会退回更早的框，"
            "没有框则得不匹配值。answer_tag：最后一对 <answer>。code：最后一个代码块。json：最后一个 JSON 块或对象。",
        ),
        default,
        METHODS,
    )


UNITS = ("chars", "words", "tokens")


def unit(default: str) -> Parameter:
    """The parameter ``unit``: what lengths are counted in."""
    return option(
        "unit",
        Bilingual("Length unit", "长度单位"),
        Bilingual(
            "chars are Unicode code points, words are separated by white space, tokens are taken from "
            "completion_ids or "
            "usage.completion_tokens of the completion. Tokens are never approximated: without them the "
            "completion is "
            "unscored.",
            "chars 为 Unicode 码点，words 以空白分隔，tokens 取自回答的 completion_ids 或 usage.completion_tokens；"
            "token 数绝不估算，缺失时该回答不计分。",
        ),
        default,
        UNITS,
    )


def time_limit(default_seconds: float) -> Parameter:
    """The parameter ``time_limit_s``: how long one completion may take."""
    return number(
        "time_limit_s",
        Bilingual("Time limit (s)", "时限（秒）"),
        Bilingual(
            "Seconds that one completion may take; beyond it is stopped and left unscored.",
            "单个回答允许的秒数；超时即中止，该回答不计分。",
        ),
        default_seconds,
        exclusiveMinimum=0,
        maximum=60,
    )

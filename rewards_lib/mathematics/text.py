r"""Mathematical texts in one spelling, and cut at their outermost separators.

Invariant: normalising never merges two different answers; what is doubtful stays as it is written.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from rewards_lib.digits import fold_digits
from rewards_lib.mathematics.expression import TooLargeError

_SYMBOLS = {
    "−": "-", "–": "-", "‐": "-", "‑": "-", "﹣": "-", "×": "*", "·": "*", "⋅": "*", "∙": "*", "÷": "/", "∕": "/",
    "π": r"\pi ", "∞": r"\infty ", "≤": "<=", "≥": ">=", "⩽": "<=", "⩾": ">=", "≠": "!=", "∪": r"\cup ", "∩": r"\cap ",
    "∈": r"\in ", "∅": r"\emptyset ", "√": r"\sqrt ", "°": r"\degree ", "±": r"\pm ", "θ": r"\theta ", "α": r"\alpha ",
    "β": r"\beta ", "、": ",", "。": ".", "℃": r"\degree C", "′": "'", "’": "'", "¥": "元", "￥": "元",
    "€": r"\text{euro}", "£": r"\text{sterling}", "∶": ":", "∛": r"\sqrt[3]",
    "…": r"\ldots ", "⟨": "(", "⟩": ")", "\u200b": "", "\u200c": "", "\u200d": "", "\ufeff": "", "\u2062": "",
    "∠": r"\angle ", "△": r"\triangle ",
    "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ", "㎡": r"\text{m}^2",
    "㎥": r"\text{m}^3", "㎠": r"\text{cm}^2",
    "㎢": r"\text{km}^2", "㎜": r"\text{mm}", "㎝": r"\text{cm}", "㎞": r"\text{km}", "㎏": r"\text{kg}",
}  # fmt: skip
"""Characters that stand for a command or an operator; full width ASCII is folded by rule."""
_COMMANDS = {
    "dfrac": r"\frac", "tfrac": r"\frac", "cfrac": r"\frac", "dbinom": r"\binom", "tbinom": r"\binom", "leq": "<=",
    "le": "<=", "leqslant": "<=", "geq": ">=", "ge": ">=", "geqslant": ">=", "lt": "<", "gt": ">", "neq": "!=",
    "ne": "!=", "times": "*", "cdot": "*", "ast": "*", "div": "/", "lbrace": r"\{", "rbrace": r"\}",
    "varnothing": r"\emptyset ",
    "degree": r"\degree ", "dots": r"\ldots ", "cdots": r"\ldots ", "dotsc": r"\ldots ", "lbrack": "[", "rbrack": "]",
    "lvert": "|", "rvert": "|", "vert": "|", "mid": "|", "colon": ":", "land": r"\text{and}", "lor": r"\text{or}",
    "textdollar": r"\dollar ", "euro": r"\text{euro}", "percent": "%", "langle": "(", "rangle": ")",
    "pounds": r"\text{sterling}",
}  # fmt: skip
_DROPPED = re.compile(
    r"\\(?:left|right|middle)\s*\.(?!\d)|\\(?:left|right|middle|[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|"
    r"mathstrut|strut|normalsize|small|large|Large|LARGE|huge|Huge)(?![A-Za-z])"
    r"|\\(?:[hv]?phantom|hspace|(?:text)?color)\s*\{[^{}]*\}|\$|(?<!\\)\\[()\[\]]"
)
_MARKDOWN = re.compile(r"\*\*([^*]+)\*\*")
_WRAPPER = re.compile(
    r"\\(text|textbf|textit|textrm|textsf|texttt|textnormal|mathrm|mathbf|mathit|mathsf|mathtt|mbox|hbox|operatorname|boldsymbol|bm|underline)"
    r"\s*\{([^{}]*)\}"
)
_ARRAY = re.compile(r"[(\[]\s*\\begin\{(?:array\}\{[^{}]*|matrix)\}(.*?)\\end\{(?:array|matrix)\}\s*[)\]]", re.DOTALL)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ", "0123456789-+n")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


_DOUBLED = re.compile(
    r"\\\\(?=(?:left|right|[dt]?frac|sqrt|text|boxed|pi|infty|[lg]eq?|in|cup|cap|pm|times|cdot|circ)(?![A-Za-z]))"
)
"""A backslash that an escaping too many has doubled; rows of matrices are cut by doubled ones."""


@lru_cache(maxsize=256)
def normalise(text: str) -> str:
    r"""Write a mathematical text in one spelling. Raises ``TooLargeError`` for a repeating decimal of too many digits.

    >>> normalise(r"$\dfrac{1}{2}\,\text{cm}$.")
    '\\frac{1}{2} \\text{cm}'
    """
    if "\\\\" in text and "\\begin" not in text:
        text = _DOUBLED.sub(r"\\", text)
    text = _plain_characters(text).replace(r"\$", r"\dollar ").replace(r"\%", "%")
    text = re.sub(r"(?<=\d)(?:,?(?:\\[,!;: ]|~)|\s*\{\s*,\s*\})\s*(?=\d{3}(?!\d))", "", text)
    text = re.sub(r"(?<!\\)\\[,;:! ]|~|\\(?:quad|qquad|enspace|thinspace|newline)(?![A-Za-z])", " ", text)
    text = re.sub(r"(?<=\d)\{\s*\.\s*\}(?=\d)", ".", _DROPPED.sub("", text))
    text = re.sub(r"\\root\s*(?:\{([^{}]*)\}|(\w))\s*\\of(?![A-Za-z])", r"\\sqrt[\1\2]", text)
    text = _MARKDOWN.sub(r"\1", text) if text.startswith("**") else text.strip("`")
    text = _ARRAY.sub(r"\\begin{pmatrix}\1\\end{pmatrix}", text) if "{array}" in text or "{matrix}" in text else text
    text = re.sub(r"(?<=\d)\s*[xX]\s*(?=10\s*\^)", "*", text)
    text = re.sub(r"(?<=\d)\s*(?:pct|per ?cent(?:age)?)(?![A-Za-z])", "%", text)
    text = _WRAPPER.sub(_unwrap, text)
    text = _CHOSEN.sub(_choice, _REPEATING.sub(_repeating_fraction, _SCALED.sub(_scale, text)))
    text = re.sub(r"\^\s*\{?\s*\\(?:circ|degree)(?![A-Za-z])\s*\}?", r"\\degree ", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda m: _COMMANDS.get(m[1], m[0]), text)
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"(?:\s*(?:[.,;](?<!\\[,;])|\\\\))+$", "", text).strip()
    return _join_thousands(text.removeprefix("=").strip())


_SCALES = {
    "hundred": "10^{2}", "thousand": "10^{3}", "million": "10^{6}", "billion": "10^{9}", "trillion": "10^{12}",
    "dozen": "12", "万": "10^{4}", "亿": "10^{8}", "百": "10^{2}", "千": "10^{3}",
}  # fmt: skip
_SCALED = re.compile(
    rf"(?<=[\d}}])\s*(?:\\text\{{\s*(?P<wrapped>{'|'.join(_SCALES)})s?(?P<rest>(?:\s[^{{}}]*)?)\}}"
    rf"|(?P<plain>{'|'.join(_SCALES)})s?(?![A-Za-z分克米瓦卡焦帕伏百千万亿]))"
)
_REPEATING = re.compile(
    r"(?<![\d.])(?P<whole>\d*)\.(?P<fixed>\d{0,50}?)"
    r"(?:\\(?:overline|dot)\s*(?:\{(?P<barred>\d{1,50})\}|(?P<dotted>\d))|\((?P<bracketed>\d{1,50})\)"
    r"|(?P<written>\d{1,12}?)(?P=written){2,}(?:\.\.\.|\s*\\ldots))"
)
_MAX_WHOLE_DIGITS = 400
"""Python itself refuses to read integers of some thousand digits."""
_CHOSEN = re.compile(r"(?<![A-Za-z\\])(?P<kind>[CAP])_\{?(?P<all>\d{1,4})\}?\^\{?(?P<some>\d{1,4})\}?")


def _scale(match: re.Match[str]) -> str:
    """Write ``8 million`` as a product; a unit behind it stays a unit."""
    unit = (match["rest"] or "").strip()
    return f"*{_SCALES[match['wrapped'] or match['plain']]} " + (r"\text{" + unit + "}" if unit else "")


def _repeating_fraction(match: re.Match[str]) -> str:
    r"""Write ``0.1\overline{6}``, ``0.1(6)`` and ``0.1666...`` as a fraction."""
    whole, fixed = match["whole"] or "0", match["fixed"]
    cycle = match["barred"] or match["dotted"] or match["bracketed"] or match["written"]
    if len(whole) > _MAX_WHOLE_DIGITS:
        raise TooLargeError
    bottom = (10 ** len(cycle) - 1) * 10 ** len(fixed)
    return rf"\frac{{{int(whole + fixed + cycle) - int(whole + fixed)}}}{{{bottom}}}"


def _choice(match: re.Match[str]) -> str:
    """Write ``C_5^2`` and ``A_5^2`` or ``P_5^2``, as Chinese school books count, by a binomial and by factorials."""
    total, chosen = int(match["all"]), int(match["some"])
    if chosen > total:
        return match[0]
    return rf"\binom{{{total}}}{{{chosen}}}" + (rf"*{chosen}!" if match["kind"] != "C" else "")


def _plain_characters(text: str) -> str:
    if text.isascii():
        return text
    text = "".join(
        _SYMBOLS.get(c) or (unicodedata.normalize("NFKC", c) if "！" <= c <= "～" else c)
        for c in text
        if _SYMBOLS.get(c) != ""
    )
    text = _chinese_number(text)
    text = re.sub(r"(?<=\d) ?([ckm]?m)(?=[²³](?!\w))", r"\\text{\1}", text)
    text = re.sub(r"百分之\s*(-?\d+(?:\.\d+)?)", r"\1%", text)
    text = re.sub(r"(?<!\d)(\d++)\s*+分之\s*+(\d++)", r"\\frac{\2}{\1}", text)
    text = re.sub(r"(?<=\d)\s*比\s*(?=\d)", ":", text)
    text = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ]+", lambda m: "^{" + m[0].translate(_SUPERSCRIPTS) + "}", text)
    text = re.sub(r"[₀₁₂₃₄₅₆₇₈₉]+", lambda m: "_{" + m[0].translate(_SUBSCRIPTS) + "}", text)
    return fold_digits(text)[0]


_CHINESE_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_CHINESE_NUMBER = r"(?:[一二两三四五六七八九]?百零?)?(?:[一二三四五六七八九]?十)?[零〇一二两三四五六七八九]?"
_CHINESE = re.compile(
    rf"\s*(?P<minus>负)?\s*(?:(?P<digits>[\d(\\].*)|(?:(?P<bottom>{_CHINESE_NUMBER})分之)?(?P<number>{_CHINESE_NUMBER}))\s*",
    re.DOTALL,
)


def _chinese_number(text: str) -> str:
    """Write a whole text that is a number in Chinese, ``负六`` or ``四分之三``, in digits."""
    match = _CHINESE.fullmatch(text)
    if match is None or not (match["digits"] or match["number"]):
        return text
    value = match["digits"] or str(_chinese_value(match["number"]))
    if match["bottom"]:
        value = rf"\frac{{{value}}}{{{_chinese_value(match['bottom'])}}}"
    return ("-" if match["minus"] else "") + value


def _chinese_value(digits: str) -> int:
    total = last = 0
    for character in digits:
        if character in "十百":
            total += (last or 1) * (10 if character == "十" else 100)
            last = 0
        else:
            last = _CHINESE_DIGITS[character]
    return total + last


def _unwrap(match: re.Match[str]) -> str:
    """Open a wrapper around mathematics; keep one around words, for words may be units or text."""
    body = match[2].strip()
    if re.fullmatch(r"per ?cent|percentage", body, re.IGNORECASE):
        return "%"
    if body == r"\dollar":
        return body + " "
    is_unit = (body in UNIT_LETTERS and match[1].startswith(("text", "m"))) or re.fullmatch(
        r"[A-Za-z]+/[A-Za-z]+", body
    )
    if re.search(r"\d", body) and re.fullmatch(r"(?:[\d\s.,+-]|and|or|和|或)+", body):
        return f" {body} "
    if is_unit or re.search(r"[^\W\d_]{2}|[\u4e00-\u9fff]", body):
        return r"\text{" + body + "}"
    return body if len(body) == 1 else f" {body} "


UNIT_LETTERS = frozenset("mgshLlNJWVKAC")
"""Single letters that name a unit when they stand upright after a number."""


def _join_thousands(text: str) -> str:
    """Write ``1,234``, ``1 234`` and ``1.234.567`` without separators; inside brackets a comma separates."""
    text = re.sub(r"(?<![\d.,/^_])(?!0\.)\d{1,3}(?:\.\d{3}){2,}(?![\d.,/])", lambda m: m[0].replace(".", ""), text)
    if "," not in text and " " not in text:
        return text
    depths, depth = [], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        depths.append(depth)

    def joined(match: re.Match[str]) -> str:
        return re.sub("[, ]", "", match[0]) if depths[match.start()] <= 0 else match[0]

    return re.sub(r"(?<![\d.,/^_])(?!0,)\d{1,3}(?:(?:,\d{3})+|(?: \d{3})+)(?![\d,/]|\s*\\frac)", joined, text)


@lru_cache(maxsize=256)
def compact(text: str) -> str:
    """Take out blanks that mean nothing: all but those between two words and between two numbers."""
    return re.sub(r"\s+(?![A-Za-z\d])|(?<![A-Za-z\d])\s+|(?<=\d)\s+(?=[A-Za-z])|(?<=[A-Za-z])\s+(?=\d)", "", text)


def is_balanced(text: str) -> bool:
    """Tell whether the grouping braces match; brackets need not, as in ``[1,2)``."""
    depth = 0
    for mark in re.finditer(r"\\.|[{}]", text):
        depth += (mark[0] == "{") - (mark[0] == "}")
        if depth < 0:
            return False
    return depth == 0


JOIN = (
    r",|;|\\text\{\s*(?:and|or|和|或|及|与)\s*,?\s*\}|\\(?:vee|wedge)(?![A-Za-z])"
    r"|(?<![A-Za-z\\])(?:and|or)(?![a-z])|[和或及与]"
)
"""What stands between the values of a list."""


def split_top(text: str, separator: str) -> list[str]:
    r"""Cut a text where the regular expression matches outside all brackets and environments.

    >>> split_top("(1,2), 3", ",")
    ['(1,2)', '3']
    """
    parts, depth, start = [], 0, 0
    pattern = _splitter(separator)
    for mark in pattern.finditer(text):
        if mark["open"]:
            depth += 1
        elif mark["close"]:
            depth -= 1
        elif mark["separator"] and depth == 0:
            parts.append(text[start : mark.start()].strip())
            start = mark.end()
    return [*parts, text[start:].strip()]


_SPLITTERS: dict[str, re.Pattern[str]] = {}


def _splitter(separator: str) -> re.Pattern[str]:
    if separator not in _SPLITTERS:
        _SPLITTERS[separator] = re.compile(
            rf"(?P<open>\\begin\b|\\\{{|[(\[{{])|(?P<close>\\end\b|\\\}}|[)\]}}])|(?P<separator>{separator})|\\[A-Za-z]+|\\."
        )
    return _SPLITTERS[separator]


_BRACKET = re.compile(r"\\begin\b|\\end\b|\\[{}]|\\.|[()\[\]{}]")


def inside(text: str, opening: str, closing: str) -> str | None:
    """What stands inside one pair of brackets around the whole text; None when they are not a pair."""
    if not (text.startswith(opening) and text.endswith(closing)) or len(text) < len(opening) + len(closing):
        return None
    body = text[len(opening) : len(text) - len(closing)]
    depth = 0
    for mark in _BRACKET.finditer(body):
        depth += mark[0] in ("(", "[", "{", r"\{", r"\begin")
        depth -= mark[0] in (")", "]", "}", r"\}", r"\end")
        if depth < 0:
            return None
    return body.strip() if depth == 0 else None


_CLOSING = {"{": "}", "(": ")"}


def unwrapped(text: str) -> str:
    """Take off grouping braces and brackets around the whole text, all in one scan; a tuple keeps its brackets.

    >>> unwrapped("{((5))}"), unwrapped("((1,2))"), unwrapped("(1)(2)")
    ('5', '(1,2)', '(1)(2)')
    """
    partners = _bracket_pairs(text) if text[:1] in _CLOSING else {}
    before, start, end = None, 0, len(text)
    while start < end and partners.get(start) == end - 1 and _CLOSING.get(text[start]) == text[end - 1]:
        inner, last = start + 1, end - 1
        while inner < last and text[inner].isspace():
            inner += 1
        while inner < last and text[last - 1].isspace():
            last -= 1
        if inner == last:
            break
        before, start, end = (start, end), inner, last
    if before and text[before[0]] == "(" and len(split_top(text[start:end], ",|;")) > 1:
        start, end = before
    return text[start:end]


def _bracket_pairs(text: str) -> dict[int, int]:
    """Where each bracket that opens is closed, whatever its kind, as in ``[1,2)``."""
    pairs, opened = {}, []
    for mark in _BRACKET.finditer(text):
        if mark[0] in ("(", "[", "{", r"\{", r"\begin"):
            opened.append(mark.start())
        elif opened and mark[0] in (")", "]", "}", r"\}", r"\end"):
            pairs[opened.pop()] = mark.start()
    return pairs


@lru_cache(maxsize=256)
def fold_words(text: str) -> str:
    """Fold a text answer: wrappers, case, white space, outer brackets and the final period are decoration."""
    text = re.sub(r"\\text\s*\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text)).strip().strip(".").strip()
    text = re.sub(r"(?<=\d) (?=[^\W\d])|(?<=[^\W\d]) (?=\d)", "", text)
    text = text.removeprefix("(").removesuffix(")") if re.fullmatch(r"\([^()]*\)", text) else text
    return text.strip().casefold()


def is_text(text: str) -> bool:
    r"""Tell whether an answer is words rather than mathematics: ``Paris``, ``\text{even}``, ``北京``.

    Letters that are usual variables multiply when there are two of them (``xy``), not when there are more.
    """
    words = re.sub(r"\\text\s*\{([^{}]*)\}", r"\1", text).strip()
    if re.search(
        r"[\d\\^_=<>+*/|{}\[\]]|(?<![A-Za-z])[A-Za-z]!|(?:sqrt|sin|cos|tan|cot|sec|csc|exp|log|ln)\s*\(", words
    ):
        return False
    if "\\text" in text or re.search(r"[^\x00-\x7f]", words):
        return True
    if "-" in words and all(
        re.fullmatch(r"[A-Za-z]|[abcxyzkmnpqrt]{2}", run) for run in re.findall("[A-Za-z]+", words)
    ):
        return False  # (x-y)(x-y), a-b-c
    letters = re.sub(r"[\s().,'-]", "", words)
    return len(letters) > 2 or (
        len(letters) == 2 and not re.fullmatch(r"[abcxyzkmnpqrt]i?|i[abcxyz]|[abcxyzkmnpqrt]{2}", letters)
    )


def has_words(text: str) -> bool:
    """Tell whether words of three letters or more stand in a text that is no mathematics, as in ``June 5``."""
    return (
        re.search(r"(?<![\\A-Za-z])[A-Za-z]{3,}|[\u4e00-\u9fff]{2,}", re.sub(r"\\(?!text)[A-Za-z]+", "", text))
        is not None
    )

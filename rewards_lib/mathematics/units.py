r"""Units behind a value: found, and written in one way.

Invariant: names, abbreviations, English and Chinese of one unit are one; nothing is converted.
"""

from __future__ import annotations

import re
from functools import cache

_NAMES = """
mm millimeter millimetre 毫米; cm centimeter centimetre 厘米 公分; dm decimeter decimetre 分米; m meter metre 米
km kilometer kilometre 千米 公里; in inch inches 英寸; ft foot feet 英尺; yd yard 码; mi mile 英里
mg milligram 毫克; g gram 克; kg kilogram 千克 公斤; t ton tonne 吨
oz ounce 盎司; lb lbs pound 磅
ms millisecond 毫秒; s sec second 秒; min minute 分钟 分; h hr hrs hour 小时 时
day 天 日; week 周; month 月 个月; yr year 年
l liter litre 升; ml milliliter millilitre 毫升; mph; kmh kph
n newton 牛; j joule 焦耳; w watt 瓦; v volt 伏; a ampere 安
dollar usd 美元; cent 美分; yuan rmb cny 元 块 块钱 人民币; euro eur 欧元; sterling gbp 英镑
degree deg 度; rad radian 弧度; kelvin; hz hertz 赫兹
mol mole 摩尔; ohm 欧姆; pa pascal 帕; person people 人; unit 单位
个; 只; 本; 棵; 辆; 页; 次; 种; 名; 支; 枚; 张; 条; 件; 岁
"""
_SUFFIX = re.compile(
    r"(?P<core>.*?[\d)}\]!%a-zA-Z])\s*(?P<unit>(?:\\text\{[^{}]*\}(?:\s*\^\s*\{?-?\d\}?)?\s*[/*]?\s*)+"
    r"|(?:(?<=[\d)}\]])|(?<=\\pi))\s*[A-Za-z]{2,}(?: [A-Za-z]{2,}| ?/ ?[A-Za-z]+){0,3}(?:\s*\^\s*\{?\d\}?)?"
    r"|[\u4e00-\u9fff]+(?:\s*/\s*[\u4e00-\u9fff]+)?|\\degree ?(?:[CF]|\\text\{[CF]\})?)",
    re.DOTALL,
)
_NOT_UNITS = frozenset(
    re.findall(
        r"\w+",
        "and or not sin cos tan log ln pi mod if is no than over to times plus minus cot sec csc exp sqrt more less "
        "fewer below above under factorial half halves third thirds fourth fourths quarter quarters fifth fifths "
        "tenth tenths hundredth hundredths thousandth thousandths th st nd rd",
    )
)
"""Words that say something about the value itself."""
_NOT_MEASURES = re.compile(r"以|左右|多|余|分之|[成折]$|次方|^平方$|^立方$|阶乘|[的不非点]")
_FIRST_SQUARED = re.compile(r"(?:\\text\{)?\s*(?:squared|cubed)")
_CURRENCIES = {
    "美元": "dollar", "欧元": "euro", "日元": "yen", "港元": "hk dollar",
    r"US\dollar": "dollar", r"\dollar": "dollar", "USD": "dollar", "人民币": "yuan", "RMB": "yuan", "CNY": "yuan",
    "元": "yuan", r"\text{sterling}": "sterling", r"\text{euro}": "euro",
}  # fmt: skip
_RATE = re.compile(r"(?P<core>.+?)\s*(?:/\s*(?:\\text\{)?|\\text\{\s*(?:per |/)|per )\s*(?P<per>[A-Za-z]{2,})\}?")
"""An amount of money for each of something: ``5/\\text{hour}``, ``5\\text{ per hour}``."""
_SPEEDS = {"mph": "mi/h", "kmh": "km/h", "kph": "km/h"}
_CASED = frozenset({"MW", "MHz", "MJ", "MPa", "MV", "MB", "Mb", "Mg", "Mm", "ML"})
"""Abbreviations in which the case of M tells mega from milli."""
_ARC = re.compile(r"(?P<core>.*\d)\s*(?P<marks>'{1,2})", re.DOTALL)
_TRIGONOMETRY = re.compile(r"sin|cos|tan|cot|sec|csc")


@cache
def _canonical_names() -> dict[str, str]:
    return {name: group.split()[0] for group in re.split("[;\n]", _NAMES.strip()) for name in group.split()}


def split_unit(text: str) -> tuple[str, str | None]:
    r"""Cut a unit off a normalised value: (value, unit in one spelling), or (text, None).

    >>> split_unit(r"18 \text{square centimeters}"), split_unit("13元"), split_unit("3xy")
    (('18', 'cm^2'), ('13', 'yuan'), ('3xy', None))
    """
    for mark, name in _CURRENCIES.items():
        if text.startswith((mark, "-" + mark)):
            value = text.replace(mark, "", 1).strip()
            if rate := _RATE.fullmatch(value):
                return rate["core"], f"{name}/{_one_name(rate['per'])}"
            rest, unit = split_unit(value)
            return (rest, name) if unit == name else (value, name)
        if text.endswith(mark):
            return text.removesuffix(mark).strip(), name
    if match := _ARC.fullmatch(text):
        return match["core"], match["marks"]
    match = _SUFFIX.fullmatch(text)
    if match is None:
        return text, None
    unit = match["unit"].strip()
    words = re.findall(r"[A-Za-z\u4e00-\u9fff]+", unit.replace("\\text", "").replace("\\degree", "degree"))
    if not words or len(words) > 4 or any(word.lower() in _NOT_UNITS for word in words):
        return text, None
    if any(_NOT_MEASURES.search(word) for word in words) or _FIRST_SQUARED.match(unit):
        return text, None
    if unit.startswith(r"\degree") and _TRIGONOMETRY.search(match["core"]):
        return text, None  # the degrees of an angle inside a function
    if unit[0].isascii() and unit[0].isalpha() and not _is_known(unit):
        return text, None
    return match["core"].strip(), canonical_unit(unit)


def is_known_unit(word: str) -> bool:
    """Tell whether a word is one of the units of the table."""
    return _one_name(word) in _canonical_names()


def _is_known(unit: str) -> bool:
    """Words without a wrapper are units when the table has them, or after a blank when they are plainly words."""
    words = re.findall(r"[A-Za-z]+", unit)
    return all(word in ("per", "old") or len(word) > 3 or word in _CASED or is_known_unit(word) for word in words)


def without_unit(text: str, unit: str) -> str:
    r"""Cut a unit off that is spelled in bare letters, where the other side has just this one: ``10 m/s``, ``3 h``."""
    match = _BARE.fullmatch(text)
    return match["core"] if match and canonical_unit(match["unit"]) == unit else text


_BARE = re.compile(
    r"(?P<core>.*?[\d)}\]])\s*(?P<unit>[A-Za-zΩ]{1,4}(?:\s*/\s*[A-Za-z]{1,4})?(?:\s*\^\s*\{?\d\}?)?|[\u4e00-\u9fff]+)",
    re.DOTALL,
)


def canonical_unit(unit: str) -> str:
    r"""Write a unit in one way: ``\text{square meters}``, ``m^2`` and 平方米 are ``m^2``."""
    unit = re.sub(r"[{}.\s]+", " ", unit.replace(r"\degree", "degree ").replace(r"\text", "")).strip()
    unit = unit.replace("degree C", "celsius").replace("degree F", "fahrenheit")
    unit = unit.removesuffix(" old")  # 12 years old
    unit = re.sub(r"\s*\^\s*(-?\d)", r"^\1", unit)
    unit = re.sub(r"\s*(?:/| per |每)\s*", "/", unit)
    spelled = "/".join(_powered(part) for part in unit.split("/"))
    return _SPEEDS.get(spelled, spelled)


_POWERS = (
    (re.compile(r"(?:square|sq|平方)\s*(?=\S)", re.I), "^2"),
    (re.compile(r"(?:cubic|cu|立方)\s*(?=\S)", re.I), "^3"),
)


def _powered(unit: str) -> str:
    for prefix, power in _POWERS:
        if match := prefix.match(unit):
            return _one_name(unit[match.end() :]) + power
    for suffix, power in ((" squared", "^2"), (" cubed", "^3")):
        if unit.endswith(suffix):
            return _one_name(unit.removesuffix(suffix)) + power
    name, caret, power = unit.partition("^")
    return _one_name(name) + caret + power


def _one_name(name: str) -> str:
    name = name.strip()
    if name in _CASED:
        return name
    name = name.casefold()
    table = _canonical_names()
    for spelled in (name, name.removesuffix("s"), name.removesuffix("es")):
        if spelled in table:
            return table[spelled]
    return name.removesuffix("s")

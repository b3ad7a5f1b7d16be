"""Dates, days of the week and times of day, in one spelling.

Invariant: a date without a year stays without one, and no time zone or half of the day is guessed.
"""

from __future__ import annotations

import re

from rewards_lib.mathematics.text import fold_words

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:\\text)?\{?(?:st|nd|rd|th)?\}?"
_DATES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_MONTH} ?{_DAY}(?:,? ?(?P<year>\d{{4}}))?",
        rf"{_DAY} ?(?:of )?{_MONTH}(?:,? ?(?P<year>\d{{4}}))?",
        r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})",
        r"(?:(?P<year>\d{4}) ?年 ?)?(?P<month>\d{1,2}) ?月 ?(?P<day>\d{1,2}) ?[日号]",
    )
)
_WEEKDAY = re.compile(r"(?:星期|周|礼拜)([一二三四五六日天])")
_TIME = re.compile(r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?(?P<half>[ap]m)?")


def read_date(text: str) -> str | None:
    """Read a date as ``2020-06-05`` or ``06-05``, a Chinese day of the week as ``周三``; None for anything else.

    >>> read_date("June 5th, 2020"), read_date("6月5日"), read_date("星期天"), read_date("5")
    ('2020-06-05', '06-05', '周日', None)
    """
    words = fold_words(text)
    if weekday := _WEEKDAY.fullmatch(words):
        return "周" + weekday[1].replace("天", "日")
    for pattern in _DATES:
        if match := pattern.fullmatch(words):
            named = match["month"][:3]
            month = _MONTHS.index(named) + 1 if named in _MONTHS else int(match["month"])
            day = int(match["day"])
            if not (1 <= month <= 12 and 1 <= day <= 31):
                return None
            year = match["year"]
            return f"{year}-{month:02}-{day:02}" if year else f"{month:02}-{day:02}"
    return None


def read_time(text: str) -> str | None:
    """Read a time of day: AM or PM, or minutes with a leading zero; None for anything else, a ratio included."""
    match = _TIME.fullmatch(re.sub(r"[\s.]+", "", fold_words(text)))
    if match is None or not (match["half"] or (match["minute"] or "").startswith("0")):
        return None
    return f"{int(match['hour'])}:{match['minute'] or '00'}{match['half'] or ''}"

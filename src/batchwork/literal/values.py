"""Recognise values as they stand in a text: numbers, dates and yes or no, with their places.

Reads "$1,250.50", "1.250,50 EUR", "(1,250)", "8%", "1.5 million" and dates in the common forms.
"""

import re
from collections import deque
from datetime import date
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from batchwork.literal.meaning import WORDS

_CURRENCY = r"(?:US\$|CA\$|A\$|[$\u20ac\u00a3\u00a5\u20b9]|USD|EUR|GBP|CHF|JPY|CAD|AUD|INR|SEK|NOK|DKK|PLN)"
_DIGITS = (  # no more of them than a number that means something has
    r"\d{1,3}(?:[,.'\u00a0\u2009\u202f]\d{3}){1,12}(?:[.,]\d{1,40})?|\d{1,40}(?:[.,]\d{1,40})?|\.\d{1,40}"
)
_NUMBER = re.compile(
    rf"(?<![\w.])(?P<open>\()?(?P<sign>[-+\u2212\u2013]\s?)?(?:(?P<money>{_CURRENCY})\s?)?(?P<sign2>[-\u2212])?"
    rf"(?P<digits>{_DIGITS})(?P<exp>[eE][-+]?\d{{1,4}})?(?:\s?(?P<percent>%)|\s?(?P<scale>thousand|million|billion|trillion)\b"
    rf"|(?P<short>[KkMB])\b)?(?:\s?(?P<money2>{_CURRENCY})(?!\w))?(?P<close>\))?(?![\w]|[.,]\d)"
)
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12, "k": 3, "m": 6, "b": 9}  # powers of ten
_MONTH_NAMES = (
    "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|october oct|"
    "november nov|december dec"
)
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES.split("|"), start=1) for name in names.split()}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_CODE_BEFORE = re.compile(r"[A-Za-z][\w/-]*[-/]$")  # INV-2026-001 is no number
_DATES = (
    re.compile(r"(?<!\d)(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)"),
    re.compile(
        rf"(?<!\w)(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[\s.-]+(?:of\s+)?(?P<mon>{_MONTH})\b\.?,?[\s-]+(?P<y>\d{{4}})",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?P<mon>{_MONTH})\b\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})(?!\d)", re.IGNORECASE),
    re.compile(r"(?<!\d)(?P<a>\d{1,2})(?P<sep>[/.-])(?P<b>\d{1,2})(?P=sep)(?P<y>\d{4})(?!\d)"),
)
_SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SMALL_WORD = re.compile(rf"\b({'|'.join(_SMALL)})\b", re.IGNORECASE)
_YES, _NO = WORDS.yes.split(), WORDS.no.split()


class Value(NamedTuple):
    """A value and where it stands."""

    value: int | float | str
    start: int
    end: int
    percent: bool = False
    money: str = ""


@lru_cache(maxsize=64)
def _comma_is_decimal(text: str) -> bool:
    """Whether this document writes 1.250,50: decided once, by its own unmistakable numbers."""
    if re.search(r"\d\.\d{3},\d", text):
        return True
    if re.search(r"\d,\d{3}\.\d", text):
        return False
    return bool(re.search(r"\d,\d{2}(?![\d,])", text)) and not re.search(r"\d\.\d{1,2}(?!\d)", text)


def _parsed(digits: str, *, comma: bool) -> int | float | None:
    """The number that these digits are; None when their signs contradict each other, as in 1.234,567.89."""
    plain = re.sub(r"['\u00a0\u2009\u202f]", "", digits)
    signs = re.findall(r"[.,]", plain)
    if not signs:
        return int(plain)
    grouped = len(signs) > 1 or (re.fullmatch(r"\d{1,3}[.,]\d{3}", plain) and (signs[-1] == ",") != comma)
    if len(set(signs)) == 1 and grouped:
        return int(re.sub(r"[.,]", "", plain))
    plain = plain.replace("." if signs[-1] == "," else ",", "").replace(",", ".")
    return None if plain.count(".") > 1 else float(plain)


def numbers(text: str, start: int = 0, end: int | None = None) -> list[Value]:
    """All numbers in a stretch of text; parts of dates and codes are not numbers."""
    stop = len(text) if end is None else end
    taken = deque((found.start, found.end) for found in dates(text, start, stop))
    comma = _comma_is_decimal(text)
    found: list[Value] = []
    for match in _NUMBER.finditer(text, start, stop):
        while taken and taken[0][1] <= match.start():
            taken.popleft()
        inside_date = taken and taken[0][0] < match.end()
        if not inside_date and not _CODE_BEFORE.search(text[max(0, match.start() - 24) : match.start()]):
            value = _number(text, match, comma=comma)
            found += [value] if value else []
    return found


def _number(text: str, match: re.Match[str], *, comma: bool) -> Value | None:
    number = _parsed(match["digits"], comma=comma)
    if number is None:
        return None
    if match["exp"]:
        number = float(f"{number}{match['exp']}")
    if scale := match["scale"] or match["short"]:
        number = round(number * 10 ** _SCALES[scale.lower()], 6)
    first, last, bracketed = match.start(), match.end(), match["open"] and match["close"]
    money = match["money"] or match["money2"] or ""
    sign = (match["sign"] or match["sign2"] or "+").strip()
    negative = sign != "+"
    if sign == "\u2013" and re.search(r"\d\s?$", text[max(0, first - 3) : first]):
        negative, first = False, first + len(match["sign"])  # a range, 5 to 7, not a negative
    # Accountants' brackets are a sign; behind a word, "tax (8.5)", they are an aside.
    exact = money or re.search(r"[.,]", match["digits"])
    aside = match["percent"] or negative or not exact or re.search(r"\w ?$", text[max(0, first - 2) : first])
    if not bracketed or aside:
        first, last = first + bool(match["open"]), last - bool(match["close"])
    negative = negative or bool(bracketed and not aside)
    return Value(-number if negative else number, first, last, bool(match["percent"]), money)


def small_numbers(text: str, start: int, end: int) -> list[Value]:
    """Numbers written as words, up to twelve."""
    return [Value(_SMALL.index(m[1].lower()), m.start(), m.end()) for m in _SMALL_WORD.finditer(text, start, end)]


@lru_cache(maxsize=64)
def _month_first(text: str) -> bool:
    """Whether 03/04/2026 means March: decided by the document's own unmistakable dates, else by the separator."""
    sure = (match for match in _DATES[3].finditer(text) if max(int(match["a"]), int(match["b"])) > 12)
    return all(int(match["a"]) <= 12 for match in islice(sure, 1))


def dates(text: str, start: int = 0, end: int | None = None) -> list[Value]:
    """All dates in a stretch of text, as ISO strings."""
    stop = len(text) if end is None else end
    matches = (match for pattern in _DATES for match in pattern.finditer(text, start, stop))
    kept: list[Value] = []
    for match in sorted(matches, key=lambda match: (match.start(), -match.end())):
        iso = _iso(match.groupdict(), text) if not kept or match.start() >= kept[-1].end else None
        if iso is not None:
            kept.append(Value(iso, *match.span()))
    return kept


def _iso(parts: dict[str, Any], text: str) -> str | None:
    if parts.get("mon"):
        month, day = _MONTHS[parts["mon"].lower()], int(parts["d"])
    elif parts.get("a"):
        month, day = int(parts["a"]), int(parts["b"])
        if month > 12 or (day <= 12 and not (parts["sep"] == "/" and _month_first(text))):
            month, day = day, month
    else:
        month, day = int(parts["m"]), int(parts["d"])
    try:
        return date(int(parts["y"]), month, day).isoformat()
    except ValueError:
        return None


def truth(text: str) -> bool | None:
    """Yes or no, when a text says it."""
    words = re.findall(r"[a-z]+", text.lower())
    return next((word in _YES for word in words if word in _YES or word in _NO), None)

"""Recognise values as they stand in a text: numbers, dates and yes or no, with their places.

Reads "$1,250.50", "1.250,50 EUR", "(1,250)", "8%", "1.5 million" and dates in the common forms.
"""

import re
from collections import deque
from datetime import date
from functools import lru_cache
from typing import NamedTuple


def _words(text: str) -> list[str]:
    return text.split()


_CURRENCY = r"(?:US\$|CA\$|A\$|[$\u20ac\u00a3\u00a5\u20b9]|USD|EUR|GBP|CHF|JPY|CAD|AUD|INR|SEK|NOK|DKK|PLN)"
_DIGITS = (  # no more of them than a number that means something has
    r"\d{1,3}(?:[,.'\u00a0\u2009\u202f]\d{3}){1,12}(?:[.,]\d{1,40})?|\d{1,40}(?:[.,]\d{1,40})?|\.\d{1,40}"
)
_NUMBER = re.compile(
    rf"(?<![\w.])(?P<open>\()?(?P<sign>[-+\u2212\u2013]\s?)?(?:(?P<money>{_CURRENCY})\s?)?(?P<sign2>[-\u2212])?"
    rf"(?P<digits>{_DIGITS})(?P<exp>[eE][-+]?\d{{1,4}})?(?:\s?(?P<percent>%)|\s?(?P<scale>thousand|million|billion|trillion)\b"
    rf"|(?P<short>[KkMB])\b)?(?:\s?(?P<money2>{_CURRENCY})(?!\w))?(?P<close>\))?(?![\w]|[.,]\d)"
)
_SCALES = {
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "k": 10**3,
    "m": 10**6,
    "b": 10**9,
}
_MONTH_NAMES = (
    "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|october oct|"
    "november nov|december dec"
)
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES.split("|"), start=1) for name in names.split()}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATES = (
    re.compile(r"(?<!\d)(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)"),
    re.compile(
        rf"(?<!\w)(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[\s.-]+(?:of\s+)?(?P<mon>{_MONTH})\b\.?,?[\s-]+(?P<y>\d{{4}})",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?P<mon>{_MONTH})\b\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})(?!\d)", re.IGNORECASE),
    re.compile(r"(?<!\d)(?P<a>\d{1,2})(?P<sep>[/.-])(?P<b>\d{1,2})(?P=sep)(?P<y>\d{4})(?!\d)"),
)
_SMALL = {
    word: number
    for number, word in enumerate(_words("zero one two three four five six seven eight nine ten eleven twelve"))
}
_SMALL_WORD = re.compile(rf"\b({'|'.join(_SMALL)})\b", re.IGNORECASE)
YES = frozenset(_words("yes true y present detected enabled on active paid"))
NO = frozenset(_words("no false n none absent not without never neither disabled off inactive unpaid"))


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
    if "," in plain and "." in plain:
        comma = plain.rindex(",") > plain.rindex(".")
        plain = plain.replace(".", "").replace(",", ".") if comma else plain.replace(",", "")
    elif "," in plain:
        grouped = bool(re.fullmatch(r"\d{1,3}(,\d{3})+", plain))
        plain = plain.replace(",", "") if grouped and not comma else plain.replace(",", ".") if plain.count(",") == 1 else plain.replace(",", "")  # fmt: skip # noqa: E501
    elif "." in plain and (plain.count(".") > 1 or (comma and re.fullmatch(r"\d{1,3}\.\d{3}", plain))):
        plain = plain.replace(".", "")
    if plain.count(".") > 1:
        return None
    return float(plain) if "." in plain else int(plain)


def numbers(text: str, start: int = 0, end: int | None = None) -> list[Value]:
    """All numbers in a stretch of text; parts of dates are not numbers."""
    stop = len(text) if end is None else end
    taken = deque((found.start, found.end) for found in dates(text, start, stop))
    comma = _comma_is_decimal(text)
    found: list[Value] = []
    for match in _NUMBER.finditer(text, start, stop):
        first, last = match.start(), match.end()
        while taken and taken[0][1] <= first:
            taken.popleft()
        if (taken and taken[0][0] < last) or _in_code(text, first):
            continue
        bracketed = bool(match["open"] and match["close"])
        if match["open"] and not bracketed:
            first += 1
        if match["close"] and not bracketed:
            last -= 1
        number = _parsed(match["digits"], comma=comma)
        if number is None:
            continue
        if match["exp"]:
            number = float(f"{number}{match['exp']}")
        scale = (match["scale"] or match["short"] or "").lower()
        if scale:
            number = round(number * _SCALES[scale], 6)
        sign = match["sign"] or match["sign2"]
        negative = bool(sign and sign.strip() in "-\u2212\u2013")
        if sign and sign.strip() == "\u2013" and re.search(r"\d\s?$", text[max(0, first - 3) : first]):
            negative, first = False, first + len(sign)  # a range, 5 to 7, not a negative
        if bracketed and not (match["percent"] or negative) and (match["money"] or match["money2"] or "," in match["digits"] or "." in match["digits"]) and _stands_alone(text, first):  # fmt: skip # noqa: E501
            negative = True  # accountants' brackets
        elif bracketed:
            first, last = first + 1, last - 1
        money = match["money"] or match["money2"] or ""
        found.append(Value(-number if negative else number, first, last, bool(match["percent"]), money))
    return found


def _in_code(text: str, at: int) -> bool:
    """Whether a number is a piece of a code such as INV-2026-001."""
    joined = re.search(r"[A-Za-z][\w/-]*[-/]$", text[max(0, at - 24) : at])
    return joined is not None


def _stands_alone(text: str, at: int) -> bool:
    """A bracket behind a word is an aside, "tax (8.5)"; behind nothing, a colon or a gap it is a sign."""
    return not re.search(r"\w ?$", text[max(0, at - 2) : at])


def small_numbers(text: str, start: int, end: int) -> list[Value]:
    """Numbers written as words, up to twelve."""
    return [Value(_SMALL[m[1].lower()], m.start(), m.end()) for m in _SMALL_WORD.finditer(text, start, end)]


@lru_cache(maxsize=64)
def _month_first(text: str) -> bool:
    """Whether 03/04/2026 means March: decided by the document's own unmistakable dates, else by the separator."""
    for match in _DATES[3].finditer(text):
        if int(match["a"]) > 12:
            return False
        if int(match["b"]) > 12:
            return True
    return True


def dates(text: str, start: int = 0, end: int | None = None) -> list[Value]:
    """All dates in a stretch of text, as ISO strings."""
    stop = len(text) if end is None else end
    found: list[Value] = []
    for pattern in _DATES:
        for match in pattern.finditer(text, start, stop):
            iso = _iso(match.groupdict(), text)
            if iso is not None:
                found.append(Value(iso, match.start(), match.end()))
    found.sort(key=lambda value: (value.start, -value.end))
    kept: list[Value] = []
    for value in found:
        if not kept or value.start >= kept[-1].end:
            kept.append(value)
    return kept


def _iso(parts: dict[str, str | None], text: str) -> str | None:
    year = int(parts["y"] or 0)
    if parts.get("mon"):
        month, day = _MONTHS[str(parts["mon"]).lower()], int(parts["d"] or 0)
    elif parts.get("a"):
        first, second = int(parts["a"] or 0), int(parts["b"] or 0)
        month, day = (first, second) if parts["sep"] == "/" and _month_first(text) and first <= 12 else (second, first)
        if month > 12:
            month, day = day, month
    else:
        month, day = int(parts["m"] or 0), int(parts["d"] or 0)
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def truth(text: str) -> bool | None:
    """Yes or no, when a text says it."""
    for word in re.findall(r"[a-z]+", text.lower()):
        if word in NO:
            return False
        if word in YES:
            return True
    return None

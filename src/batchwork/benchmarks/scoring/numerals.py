"""Find the numbers written in a text, with what their writing says about their precision."""

import re
from math import isfinite
from typing import NamedTuple

# Possessive, so that a number is taken whole or not at all: "95th", "1,5" and "v2" hold none.
_NUMBER = re.compile(
    r"(?<![\w.,])(?P<sign>(?<![\d)])[-+\u2212])?(?:\$\s?)?"
    r"(?P<whole>\d{1,3}+(?:,\d{3})++|\d++|(?=\.\d))(?P<part>\.\d++)?+(?P<power>[eE][-+]?\d++)?+"
    r"(?!\d|[.,]\d|(?:st|nd|rd|th)\b)"
    r"(?:\s?(?P<percent>%|percent\b)|\s?(?P<scale>thousand|million|billion)\b|(?P<short>[kKMB])\b)?"
)
_LIST = re.compile(r"\[[^\]\[]*\]")
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "k": 3, "K": 3, "M": 6, "B": 9}
_LONGEST = 400  # characters a number may have; beyond that it is none
_ONES = "one|two|three|four|five|six|seven|eight|nine"
_SMALL = f"zero|{_ONES}|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_SPELLED = re.compile(
    rf"\b(?:(?P<tens>{_TENS})(?:[- ](?P<ones>{_ONES}))?|(?P<small>{_SMALL})"
    r"|(?P<single>single)|none|no(?= value)|(?:no|not any)(?= (?:anomal|outlier)))\b",
    re.IGNORECASE,
)


class Numeral(NamedTuple):
    """A number as it stands in a text."""

    value: float
    unit: float  # what one in its last written digit is worth
    percent: bool
    span: tuple[int, int]

    @property
    def is_whole(self) -> bool:
        """Written without a fraction."""
        return self.value.is_integer() and self.unit >= 1


def numerals(text: str) -> list[Numeral]:
    """Every number of a text, in order. Zeros at the end of a whole number are taken for rounding, up to two digits."""
    found = []
    listed = _LIST.sub(lambda inside: inside.group().replace(",", ";"), text)  # [78,360] is two numbers
    for match in _NUMBER.finditer(listed):
        if match.end() - match.start() > _LONGEST:
            continue
        whole, part = match["whole"].replace(",", ""), match["part"] or ""
        power = int((match["power"] or "e0")[1:]) + _SCALES.get(match["scale"] or match["short"] or "", 0)
        if abs(power) > 300 or not isfinite(size := float(f"{whole or 0}{part}e{power}")):
            continue
        value = -size if match["sign"] in ("-", "\u2212") else size
        last = power - len(part) + 1 if part else power + _rounded_off(whole)
        found.append(Numeral(value, 10.0**last, match["percent"] is not None, match.span()))
    return found


def spelled(text: str) -> list[Numeral]:
    """Every whole number below a hundred that a text writes in words; "none" and "no anomalies" are zero."""
    return [
        Numeral(float(_spelled_out(match)), 1.0, percent=False, span=match.span()) for match in _SPELLED.finditer(text)
    ]


def _spelled_out(match: re.Match[str]) -> int:
    small = match["small"] or match["ones"]
    tens = 10 * _TENS.split("|").index(match["tens"].lower()) + 20 if match["tens"] else 0
    return tens + (_SMALL.split("|").index(small.lower()) if small else match["single"] is not None)


def _rounded_off(whole: str) -> int:
    zeros = len(whole) - len(whole.rstrip("0"))
    return max(min(zeros, len(whole) - 2), 0)

"""One numeral, in digits or in words -> the numbers it can be read as.

Decides about thousands and decimal separators; the caller says which habit the surroundings show.
"""

import re
from datetime import date
from decimal import Decimal

from msgspec import Struct

from batchwork.evidence.words import PATTERNS

_PATTERNS: dict[str, str] = PATTERNS["numerals"]

_GROUPED = re.compile(r"\d{1,3}(?:([.,'’\u00a0\u202f ])\d{3})(?:\1\d{3})*")
_BLANKS = re.compile(r"['’\u00a0\u202f ]")
_INDIAN = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}")
_LONGEST = 60  # digits; longer runs are no numbers anybody compares

COMMA, POINT = "comma", "point"


def decimal_habit(numeral: str) -> str | None:
    """Which decimal separator this numeral shows beyond doubt, if any."""
    marks = [char for char in numeral if char in ".,"]
    if not marks or "e" in numeral.lower():
        return None
    last = marks[-1]
    tail = len(numeral) - numeral.rindex(last) - 1
    habit = COMMA if last == "," else POINT
    if len(set(marks)) == 2:
        return habit if marks.count(last) == 1 else None
    if len(marks) > 1:
        if not _is_grouped(numeral, last):
            return None  # a version or an address
        return POINT if last == "," else COMMA  # 1,234,567 groups by commas
    if tail != 3 and not numeral.startswith("0"):
        return habit if tail <= 2 else None
    return None


def readings_of(numeral: str, habit: str | None) -> list[tuple[Decimal, float]]:
    """The values of a numeral, likeliest first, with a weight; empty when it is none (a version, an address)."""
    if len(numeral) > _LONGEST:
        return []
    if "e" in numeral or "E" in numeral:
        return [(Decimal(numeral.replace(",", ".")), 1.0)]
    plain = _BLANKS.sub("", numeral)
    if len(plain) != len(numeral) and not _GROUPED.match(numeral):
        return []
    marks = [char for char in plain if char in ".,"]
    if not marks:
        return [(Decimal(plain), 1.0)]
    last = marks[-1]
    if len(set(marks)) == 2:
        whole, _, rest = plain.rpartition(last)
        other = "." if last == "," else ","
        if last in whole or not _is_grouped(whole, other):
            return []
        return [(_number(whole, rest), 1.0)]
    if len(marks) > 1:
        return [(Decimal(plain.replace(last, "")), 1.0)] if _is_grouped(plain, last) else []
    whole, _, rest = plain.partition(last)
    if len(plain) != len(numeral) or len(rest) != 3 or len(whole) > 3 or whole.startswith("0"):
        return [(_number(whole, rest), 1.0)]
    fraction, grouped = _number(whole, rest), Decimal(whole + rest)
    if habit is not None:
        return [(fraction if (habit == COMMA) == (last == ",") else grouped, 1.0)]
    # Nobody else in the text shows a habit: a comma before three digits groups, a point could do either.
    return [(grouped, 1.0), (fraction, 0.4)] if last == "," else [(fraction, 0.8), (grouped, 0.45)]


def _is_grouped(whole: str, mark: str) -> bool:
    if mark not in whole:
        return whole.isdigit()
    found = _GROUPED.fullmatch(whole)
    return (found is not None and found.group(1) == mark) or (mark == "," and _INDIAN.fullmatch(whole) is not None)


def _number(whole: str, rest: str) -> Decimal:
    return Decimal(f"{whole.replace('.', '').replace(',', '')}.{rest}")


class Reading(Struct, frozen=True, gc=False):
    """One way to read a mention. `weight` below 0.5 means the text does not settle that this is the way."""

    value: Decimal | date
    weight: float = 1.0
    kind: str = "plain"  # plain, fraction (of a percentage), percent, part (of a date or of a longer number)


class Mention(Struct, frozen=True, gc=False):
    """A value as it stands, with its sign, currency, percent sign or magnitude."""

    start: int
    end: int
    readings: tuple[Reading, ...]
    core: int = 0  # where its first digit stands
    money: bool = False


_NAMES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_ONES = {name: number for number, name in enumerate(_NAMES.split())}
_TENS_NAMES = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {name: 10 * number for number, name in enumerate(_TENS_NAMES.split(), start=2)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_SPELLED = re.compile(_PATTERNS["spelled"])
_SPLIT = re.compile(r"[\s-]+")


def spelled_numbers(text: str) -> list[Mention]:
    """Every number in words; "one" alone is left out, it is nearly always a pronoun."""
    mentions = []
    for found in _SPELLED.finditer(text):
        words = [word.lower() for word in _SPLIT.split(found.group()) if word.lower() != "and"]
        value = _value(words)
        if value is not None and words != ["one"]:
            reading = Reading(Decimal(value), 0.9)
            mentions.append(Mention(found.start(), found.end(), (reading,), found.start()))
    return mentions


def _value(words: list[str]) -> int | None:
    total = part = 0
    room = 100  # what may still be added: after "twenty" one of the ones, after those nothing
    for word in words:
        if word in _SCALES:
            scale = _SCALES[word]
            if not part:
                return None
            if scale == 100:
                part, room = part * 100, 100
            else:
                total, part, room = total + part * scale, 0, 1_000
        else:
            number = _TENS.get(word, _ONES.get(word, 0))
            if number >= room:
                return None
            part += number
            room = 10 if word in _TENS else 0
    return total + part

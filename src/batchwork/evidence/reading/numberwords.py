"""Numbers written as words, in English: "thirty days", "twenty-five", "two hundred"."""

import re
from decimal import Decimal

from batchwork.evidence.reading.mention import Mention, Reading

_ONES = dict(
    zip(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ],
        range(20),
        strict=True,
    )
)
_TENS = dict(
    zip(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], range(20, 100, 10), strict=True)
)
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_ANY = "|".join([*_TENS, *sorted(_ONES, key=len, reverse=True)])
_SPELLED = re.compile(
    rf"(?<![\w-])(?=[efnostzEFNOSTZ])(?:{_ANY})(?:[\s-]+(?:and[\s-]+)?(?:{_ANY}|{'|'.join(_SCALES)}))*(?![\w-])",
    re.IGNORECASE,
)
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

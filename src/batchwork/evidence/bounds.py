# ruff: noqa: RUF001 - the dashes and signs of documents are what this is about
"""What a sign beside a number says of it: the end of a range, a bound on one side, one of a pair of measures."""

import re
from collections.abc import Iterator

from batchwork.evidence.fields import Field
from batchwork.evidence.labels import Label
from batchwork.evidence.lexicon import words

_UNIT = r"(?:\s?(?:°\s?[CF]|%|[^\W\d_]{1,4}))?"
_TO = r"(?:to|through|till|until|bis|à|au|al|\.\.\.?|…|[-–—−~])"
_LOW = re.compile(rf"{_UNIT}\s*{_TO}\s*[-−]?[$€£]?\d")
_HIGH = re.compile(rf"\d{_UNIT}\s*{_TO}\s*$", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|zwischen|entre)\s+[$€£]?[-−]?$", re.IGNORECASE)
_AND = re.compile(r"\b(?:between|zwischen|entre)\s+\S*\d[^.;]{0,20}?\s(?:and|und|et|y)\s+[$€£]?$", re.IGNORECASE)
_BOUND = re.compile(r"(?:(?P<upper>[<≤⩽]=?)|(?P<lower>[>≥⩾]=?))\s*$")
_PAIRED = re.compile(r"/\d{2,3}(?![\d/])")
_UPPER_ENDS, _LOWER_ENDS = words("high maximum upper end"), words("low minimum lower start")
_UPPER = Label("bound", dict.fromkeys(("maximum", "high", "upper", "limit"), 0.85), "")
_LOWER = Label("bound", dict.fromkeys(("minimum", "low", "lower", "limit"), 0.85), "")
_FIRST, _SECOND = Label("bound", {"systolic": 0.85}, ""), Label("bound", {"diastolic": 0.85}, "")
_REACH = 40


def bounds_of(text: str, start: int, end: int) -> Iterator[Label]:
    """What "<" before a number, or a slash on one side of it, makes it: an upper limit, the first of two measures."""
    bound = _BOUND.search(text, max(0, start - 3), start)
    if bound:
        yield _UPPER if bound["upper"] else _LOWER
    elif _PAIRED.match(text, end) and text[end - 1].isdigit():
        yield _FIRST
    elif start > 1 and text[start - 1] == "/" and text[start - 2].isdigit() and text[start].isdigit():
        yield _SECOND


def is_other_end(field: Field, text: str, start: int, end: int) -> bool:
    """Whether a number is the lower end of a range where the field asks for the upper one, or the other way round."""
    upper, lower = bool(_UPPER_ENDS.intersection(field.own)), bool(_LOWER_ENDS.intersection(field.own))
    if upper == lower:
        return False
    before = text[max(0, start - _REACH) : start]
    bound = _BOUND.search(before)
    if upper:
        below = _LOW.match(text, end) or _BETWEEN.search(before) or (bound and bound["lower"])
        return bool(below) and not _HIGH.search(before)
    above = _HIGH.search(before) or _AND.search(before) or (bound and bound["upper"])
    return bool(above)

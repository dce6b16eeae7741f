"""Which end of a range or of a change a place is: start or end, low or high, what it was or what it is now."""

import re
from collections.abc import Iterator

from batchwork.evidence.words import PATTERNS

_PATTERNS: dict[str, str] = PATTERNS["ranges"]

_TILL = r"(?:\s(?:to|through|till|until|bis|à|au|al)\s|[ ]?(?:\.\.\.?|…|[-–—−~])[ ]?)"
_UNIT = r"(?:[ ]?(?:°[ ]?[CF]|%|[^\W\d_]{1,4}))?"
_FROM = re.compile(_PATTERNS["from"])
_TO = re.compile(rf"\d[\w%]*{_UNIT}{_TILL}(?:the\s+)?[$€£]?$", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|zwischen|entre)\s+[$€£]?[-−]?$", re.IGNORECASE)
_AND = re.compile(_PATTERNS["and"])
_WAS = re.compile(_PATTERNS["was"])
_NOW = re.compile(_PATTERNS["now"])
_WAS_BEHIND = re.compile(_PATTERNS["was_behind"])
_BOUND = re.compile(r"(?<![\w\"/>])(?:(?P<upper>[<≤⩽]=?)|(?P<lower>[>≥⩾]=?))\s*$")
_BOUNDS = tuple("<≤⩽>≥⩾=")
_TIMES = re.compile(r" ?[A-Za-z]{0,6} ?[x×@*] ?(?:[A-Z]{3} |[$€£] ?)?\d")
_FACTOR = re.compile(r"\d ?[A-Za-z]{0,6} ?[x×@*] ?$")  # 6.5 h x $48.00
_PART = re.compile(r"\d (?:out )?of (?:the |all )?$")  # 38 of 120: the latter is the whole
_TILL_WORDS = (
    "to", "through", "till", "until", "bis", "à", "au", "al", "and", "und", "et", "y", "the", "..", "…", *"-–—−~",
)  # fmt: skip
_HINTS = (
    "from", "of", "formerly", "previously", "hitherto", "statt", "bisher", "with", "to", "versus", "vs", "vs.",
    "against", "by", "read", "be",
)  # fmt: skip
_LOWER = {"start": 0.85, "minimum": 0.85, "low": 0.85}
_UPPER = {"end": 0.85, "maximum": 0.85, "high": 0.85, "current": 0.85}
_REACH, _NEAR = 90, 40  # characters before a place that say which end it is


def ends_of(text: str, start: int, end: int) -> Iterator[dict[str, float]]:
    """The end of a range, of a change or of a pair that the place from `start` to `end` is, as words of a label."""
    before = text[max(0, start - _REACH) : start]
    near = before[-_NEAR:]
    last = before.rstrip(" \n\"“„«'($€£")[-12:].lower()
    signed = text[start : start + 1].isdigit() and near.rstrip()[-1:] in _BOUNDS
    bound = _BOUND.search(near) if signed else None
    if bound:
        yield dict.fromkeys(("maximum", "high", "limit") if bound["upper"] else ("minimum", "low", "limit"), 0.85)
    if near.endswith(("of ", "the ", "all ")) and _PART.search(near):
        yield {"total": 0.85, "whole": 0.85}
    elif _TIMES.match(text, end):
        yield {"quantity": 0.85, "count": 0.85}
    elif near.rstrip(" ")[-1:] in tuple("x×@*") and _FACTOR.search(near):
        yield {"rate": 0.85, "price": 0.85}
    hinted = last.endswith(_HINTS)
    if (hinted and _WAS.search(before)) or _WAS_BEHIND.match(text, end):
        yield {**_LOWER, "previous": 0.85}
    elif hinted and _NOW.search(before):
        yield {**_UPPER, "new": 0.85}
    elif _FROM.match(text, end) or _BETWEEN.search(near):
        yield _LOWER
    elif last.endswith(_TILL_WORDS) and (_TO.search(near) or _AND.search(near)):
        yield _UPPER
    elif text[start : start + 1].isdigit() and re.match(r"/\d{2,3}(?![\d/])", text[end : end + 5]):
        yield {"systolic": 0.85}
    elif start > 1 and text[start - 1] == "/" and text[start - 2].isdigit() and text[start].isdigit():
        yield {"diastolic": 0.85}

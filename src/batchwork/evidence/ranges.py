"""Which end of a range a place is, or which end of a change: start or end, low or high, what was or what is now."""

import re
from collections.abc import Iterator

from batchwork.evidence.words import PATTERNS

_PATTERNS: dict[str, str] = PATTERNS["ranges"]
_FROM = re.compile(_PATTERNS["from"])
_TO = re.compile(_PATTERNS["to"])
_BETWEEN = re.compile(_PATTERNS["between"])
_AND = re.compile(_PATTERNS["and"])
_WAS = re.compile(_PATTERNS["was"])
_BOUND = re.compile(r"(?<![\w\"/>])(?:(?P<upper>[<≤⩽]=?)|(?P<lower>[>≥⩾]=?))\s*$")
_LOWER = {"start": 0.85, "minimum": 0.85, "low": 0.85}
_UPPER = {"end": 0.85, "maximum": 0.85, "high": 0.85, "current": 0.85}
_REACH, _NEAR = 90, 40  # characters before a place that say which end it is


def ends_of(text: str, start: int, end: int) -> Iterator[dict[str, float]]:
    """The end of a range or of a change that the place from `start` to `end` is, as words of a label."""
    near = text[max(0, start - _NEAR) : start]
    bound = _BOUND.search(near) if text[start : start + 1].isdigit() else None
    if bound:
        yield dict.fromkeys(("maximum", "high", "limit") if bound["upper"] else ("minimum", "low", "limit"), 0.85)
    if near.endswith((" ", "\n")) and _WAS.search(text, max(0, start - _REACH), start):
        yield {**_LOWER, "previous": 0.85}
    elif _FROM.match(text, end) or _BETWEEN.search(near):
        yield _LOWER
    elif _TO.search(near) or _AND.search(near):
        yield _UPPER

"""Which end of a range or of a change a place is: start or end, low or high, what it was or what it is now."""

import re
from collections.abc import Iterator

_VERB = (
    r"\b(?:up|down|(?:in|de)creas(?:ed?|es|ing)|rais(?:ed?|es)|reduc(?:ed?|es)|lower(?:ed|s)?|r[io]ses?|risen|f[ae]lls?"
    r"|fallen|gr[eo]ws?|grown|improve[ds]?|drop(?:ped|s)?|decline[ds]?|went|move[ds]?|change[ds]?|amended|revised"
    r"|extended|adjusted|corrected|converted)"
)
_TILL = r"(?:\s(?:to|through|till|until|bis|à|au|al)\s|[ ]?(?:\.\.\.?|…|[-–—−~])[ ]?)"
_UNIT = r"(?:[ ]?(?:°[ ]?[CF]|%|[^\W\d_]{1,4}))?"
_FROM = re.compile(
    rf"{_UNIT}{_TILL}(?:the\s+)?[-−+]?[$€£]?\s?(?:[A-Z][a-zé]{{2,9}}\.? )?\d|\s*(?:to|until|till|[-–—])\s*(?:present|today|date|now)\b"
)
_TO = re.compile(rf"\d[\w%]*{_UNIT}{_TILL}(?:the\s+)?[$€£]?$", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|zwischen|entre)\s+[$€£]?[-−]?$", re.IGNORECASE)
_AND = re.compile(
    r"\b(?:between|zwischen|entre)\s+\S*\d(?:[^.;]|[.]\d){0,25}?\s(?:and|und|et|y)\s+[$€£]?$", re.IGNORECASE
)
_WAS = re.compile(
    rf"(?:{_VERB}\s+from|\bto\s+\S*\d(?:[^.;]|[.]\d){{0,25}}?\sfrom|\b(?:instead|in\s+place|in\s+lieu)\s+of"
    r"|\b(?:formerly|previously|hitherto|statt|bisher)|\d(?:[^.;]|[.]\d){0,30}?(?:compared\s+(?:with|to)|versus|vs\.?|against))\s+[\"“„«'(]*$",
    re.IGNORECASE,
)
_NOW = re.compile(
    rf"(?:{_VERB}\s+from\s(?:[^.;]|[.]\d){{1,60}}?\sto|\breplaced\s+(?:by|with)|\bamended\s+to(?:\s+read)?|\bshall\s+now\s+be)\s+[\"“„«'(]*$",
    re.IGNORECASE,
)
_WAS_BEHIND = re.compile(
    r"[\"”»'’)]*,?\s+(?:(?:is|are|was|were|shall\s+be)\s+(?:hereby\s+)?(?:deleted|replaced|superseded)|previously|so\s+far)\b"
)
_BY = re.compile(
    r"\b(?:by|before|until|(?:no|not) later than|spätestens(?: am)?|bis(?: zum)?|avant(?: le)?|entro(?: il)?)\s+$",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{1,2}[./ -](?:\d|[A-Za-z])|[A-Z][a-z]{2,8}\.? \d|\d{4}-\d")
_BOUND = re.compile(r"(?:(?P<upper>[<≤⩽]=?)|(?P<lower>[>≥⩾]=?))\s*$")
_BY_WORDS = ("by", "before", "until", "than", "spätestens", "bis", "am", "zum", "avant", "le", "entro", "il")
_TILL_WORDS = (
    "to",
    "through",
    "till",
    "until",
    "bis",
    "à",
    "au",
    "al",
    "and",
    "und",
    "et",
    "y",
    "the",
    "..",
    "…",
    *"-–—−~",
)
_HINTS = (
    "from",
    "of",
    "formerly",
    "previously",
    "hitherto",
    "statt",
    "bisher",
    "with",
    "to",
    "versus",
    "vs",
    "vs.",
    "against",
    "by",
    "read",
    "be",
)
_LOWER = {"start": 0.85, "minimum": 0.85, "low": 0.85}
_UPPER = {"end": 0.85, "maximum": 0.85, "high": 0.85, "current": 0.85}
_REACH, _NEAR = 90, 40  # characters before a place that say which end it is


def ends_of(text: str, start: int, end: int) -> Iterator[dict[str, float]]:
    """The end of a range, of a change or of a pair that the place from `start` to `end` is, as words of a label."""
    before = text[max(0, start - _REACH) : start]
    near = before[-_NEAR:]
    last = before.rstrip(" \n\"“„«'($€£")[-12:].lower()
    if last.endswith(_BY_WORDS) and _DATE.match(text, start) and _BY.search(near):
        yield {"deadline": 0.8, "due": 0.5, "end": 0.5}
    bound = _BOUND.search(near) if text[start : start + 1].isdigit() else None
    if bound:
        yield dict.fromkeys(("maximum", "high", "limit") if bound["upper"] else ("minimum", "low", "limit"), 0.85)
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

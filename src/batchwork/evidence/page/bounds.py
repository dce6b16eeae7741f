"""Which end of a range or of a change a place is: start or end, low or high, what it was or what it is now.

Said by words ("rose from X to Y", "between X and Y"), by a dash, or by a sign beside the number ("< 5", "120/80").
"""

import re
from collections.abc import Iterator

from batchwork.evidence.fields import Field
from batchwork.evidence.page.labels import Label
from batchwork.evidence.vocabulary.lexicon import words

_RANGE_BEHIND = re.compile(
    r"(?:\s?°?[A-Za-z%]{1,4})?\s*(?:to|until|through|till|bis|au|al|a|–|—|-"
    r"|/)\s+(?:the\s+)?[+−-]?(?:[$€£]\s?)?(?:[A-Z][a-zé]{2,9}\.? )?\d"
)
_UNTIL_NOW = re.compile(
    r"\s*(?:to|until|till|bis|à|al|[-–—])\s*(?:the\s+)?(?:present|today|date|now|current|heute|jetzt"
    r"|aujourd['’]hui|ce jour|oggi|hoy|(?:la )?actualidad|heden)\b",
    re.IGNORECASE,
)
_RANGE_BEFORE = re.compile(
    r"\d[\w%]*(?:\s?°?[A-Za-z%]{1,4})?\s*(?:to|until|through|till|bis|au|al|–|—|-)\s+(?:the\s+)?$"
)
_BETWEEN = re.compile(r"\b(?:between|zwischen|entre)\s+[$€£]?[-−]?$", re.IGNORECASE)
_BETWEEN_AND = re.compile(
    r"\b(?:between|zwischen|entre)\s+\S*\d(?:[^.;]|[.]\d){0,25}?\s(?:and|und|et|y)\s+[$€£]?$", re.IGNORECASE
)
_BETWEEN_WORDS, _AND_WORDS = ("between", "zwischen", "entre"), ("and", "und", "et", "y")
_SAME = r"(?:[^.;]|[.]\d)"  # any character of the same sentence
_QUOTE = r"[\"“”„«'‘(*]*"
_VERB = (
    r"\b(?:up|down|(?:in|de)creas(?:ed?|es|ing)|rais(?:ed?|es)|reduc(?:ed?|es)|lower(?:ed|s)?|r[io]ses?|risen|f[ae]lls?"
    r"|fallen|gr[eo]ws?|grown|improve[ds]?|drop(?:ped|s)?|decline[ds]?|went|goes|move[ds]?|change[ds]?|amended|revised"
    r"|extended|adjusted|corrected|altered|converted)"
)
# What was: "rose from X", "to 5 million from X", "instead of X", "compared with X a year ago".
_WAS_BEFORE = re.compile(
    rf"(?:{_VERB}\s+from"
    rf"|\bto\s+\S*\d{_SAME}{{0,25}}?\sfrom"
    r"|\b(?:instead|in\s+place|in\s+lieu)\s+of|\b(?:formerly|previously|hitherto|anstelle\s+von|statt|bisher"
    r"|au\s+lieu\s+de|en\s+lugar\s+de|invece\s+di|in\s+plaats\s+van)"
    rf"|\d{_SAME}{{0,30}}?(?:compared\s+(?:with|to)|versus|vs\.?|against))\s+{_QUOTE}$",
    re.IGNORECASE,
)
_WAS_BEHIND = re.compile(
    r"[\"“”»'’)*]*,?\s+(?:(?:is|are|was|were|shall\s+be)\s+(?:hereby\s+)?(?:deleted|replaced|superseded|struck)"
    r"|as\s+hitherto|hitherto|as\s+before|previously|until\s+now|so\s+far)\b",
    re.IGNORECASE,
)
# What is now: "changed from X to Y", "replaced by Y", "instead of X, Y shall apply".
_NOW_BEFORE = re.compile(
    rf"(?:{_VERB}\s+from\s{_SAME}{{1,60}}?\sto|\breplaced\s+(?:by|with)|\bamended\s+to(?:\s+read)?|\bshall\s+now\s+be"
    r"|\b(?:from\s+now\s+on|henceforth|neu|nunmehr|désormais|ora|voortaan):?"
    rf"|\b(?:instead|in\s+place|in\s+lieu)\s+of\s{_SAME}{{1,60}},)\s+{_QUOTE}$",
    re.IGNORECASE,
)
_LOWER = {"start": 0.85, "minimum": 0.85, "low": 0.85}
_UPPER = {"end": 0.85, "maximum": 0.85, "high": 0.85, "current": 0.85}
_WAS = Label("from", {**_LOWER, "previous": 0.85}, "")
_NOW = Label("to", {**_UPPER, "new": 0.85}, "")
_FROM, _TO = Label("range", _LOWER, ""), Label("range", _UPPER, "")
# Until when: "by 3 May 2024", "no later than 3 May".
_BY = re.compile(
    r"\b(?:by|before|until|(?:no|not) later than|at the latest on|spätestens(?: am)?|bis(?: zum)?|avant(?: le)?"
    r"|antes del?"
    r"|entro(?: il)?|vóór|uiterlijk(?: op)?)\s+$",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{1,2}[./ -](?:\d|[A-Za-z])|[A-Z][a-z]{2,8}\.? \d|\d{4}-\d")
_UNTIL = Label("by", {"deadline": 0.8, "due": 0.5, "end": 0.5}, "")
_REACH = 90  # characters before a place that say which end it is
_HINTS = re.compile(
    r"(?:from|to|of|by|with|against|vs\.?|versus|statt|bisher|von|de|di|van|now|on|read|be|previously|formerly"
    r"|hitherto|,"
    rf"|henceforth|neu|nunmehr|désormais|ora|voortaan):?\s+{_QUOTE}$",
    re.IGNORECASE,
)
# Ends without any space between them, and signs.
_UNIT = r"(?:\s?(?:°\s?[CF]|%|[^\W\d_]{1,4}))?"
_TILL = r"(?:to|through|till|until|bis|à|au|al|\.\.\.?|…|[-–—−~])"
_LOW = re.compile(rf"{_UNIT}\s*{_TILL}\s*[-−]?[$€£]?\d")
_HIGH = re.compile(rf"\d{_UNIT}\s*{_TILL}\s*$", re.IGNORECASE)
_BOUND = re.compile(r"(?:(?P<upper>[<≤⩽]=?)|(?P<lower>[>≥⩾]=?))\s*$")
_PAIRED = re.compile(r"/\d{2,3}(?![\d/])")
_UPPER_ENDS, _LOWER_ENDS = words("high maximum upper end"), words("low minimum lower start")
_AT_MOST = Label("bound", dict.fromkeys(("maximum", "high", "upper", "limit"), 0.85), "")
_AT_LEAST = Label("bound", dict.fromkeys(("minimum", "low", "lower", "limit"), 0.85), "")
_FIRST, _SECOND = Label("bound", {"systolic": 0.85}, ""), Label("bound", {"diastolic": 0.85}, "")
_NEAR = 40


def bounds_of(text: str, start: int, end: int) -> Iterator[Label]:
    """The end of a range, of a change or of a pair that the place from `start` to `end` is, as labels."""
    yield from _said(text, start, end)
    bound = _BOUND.search(text, max(0, start - 3), start)
    if bound:
        yield _AT_MOST if bound["upper"] else _AT_LEAST
    elif _PAIRED.match(text, end) and text[end - 1].isdigit():
        yield _FIRST
    elif start > 1 and text[start - 1] == "/" and text[start - 2].isdigit() and text[start].isdigit():
        yield _SECOND


def _said(text: str, start: int, end: int) -> Iterator[Label]:
    before = text[max(0, start - _REACH) : start]
    near = before[-_NEAR:]
    last = near[-12:].rstrip().lower()
    if _DATE.match(text, start) and _BY.search(near):
        yield _UNTIL
    if _HINTS.search(before[-20:]):
        was = _WAS_BEFORE.search(before)
        if was and (was[0][:1] not in "tT" or any(map(str.isdigit, text[start:end]))):  # "up to 5 million from a bank"
            yield _WAS
            return
        if _NOW_BEFORE.search(before):
            yield _NOW
            return
    if _WAS_BEHIND.match(text, end):
        yield _WAS
    elif (
        _UNTIL_NOW.match(text, end)
        or _RANGE_BEHIND.match(text, end)
        or (last.endswith(_BETWEEN_WORDS) and _BETWEEN.search(near))
    ):
        yield _FROM
    elif _RANGE_BEFORE.search(near[-12:]) or (last.endswith(_AND_WORDS) and _BETWEEN_AND.search(near)):
        yield _TO


def is_other_end(field: Field, text: str, start: int, end: int) -> bool:
    """Whether a number is the lower end of a range where the field asks for the upper one, or the other way round."""
    upper, lower = bool(_UPPER_ENDS.intersection(field.own)), bool(_LOWER_ENDS.intersection(field.own))
    if upper == lower:
        return False
    before = text[max(0, start - _NEAR) : start]
    bound = _BOUND.search(before)
    if upper:
        below = _LOW.match(text, end) or _BETWEEN.search(before) or (bound and bound["lower"])
        return bool(below) and not _HIGH.search(before)
    above = _HIGH.search(before) or _BETWEEN_AND.search(before) or (bound and bound["upper"])
    return bool(above)

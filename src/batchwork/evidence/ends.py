# ruff: noqa: RUF001 - the dashes and quotes of documents are what this is about
"""Which end of a range or of a change a place is: start or end, low or high, what it was or what it is now."""

import re
from collections.abc import Iterator

from batchwork.evidence.labels import Label

_RANGE_BEHIND = re.compile(
    r"(?:\s?°?[A-Za-z%]{1,4})?\s*(?:to|until|through|till|bis|au|al|a|–|—|-"
    r"|/)\s+(?:the\s+)?[+−-]?(?:[$€£]\s?)?(?:[A-Z][a-zé]{2,9}\.? )?\d"
)
_OPEN = re.compile(
    r"\s*(?:to|until|through|till|bis|–|—|-|à|a|al)\s*"
    r"(?:present|today|now|date|current|ongoing|heute|jetzt|aujourd'hui|présent|hoy|actualidad|oggi|presente|heden)\b",
    re.IGNORECASE,
)
_RANGE_BEFORE = re.compile(
    r"\d[\w%]*(?:\s?°?[A-Za-z%]{1,4})?\s*(?:to|until|through|till|bis|au|al|–|—|-)\s+(?:the\s+)?$"
)
_BETWEEN = re.compile(r"\b(?:between|zwischen|entre)\s+$", re.IGNORECASE)
_BETWEEN_AND = re.compile(r"\b(?:between|zwischen|entre)\s+\S*\d[^.;]*?\s(?:and|und|et|y)\s+$", re.IGNORECASE)
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
_REACH = 90
_HINTS = re.compile(
    r"(?:from|to|of|by|with|against|vs\.?|versus|statt|bisher|von|de|di|van|now|on|read|be|previously|formerly"
    r"|hitherto|,"
    rf"|henceforth|neu|nunmehr|désormais|ora|voortaan):?\s+{_QUOTE}$",
    re.IGNORECASE,
)


def end_of(text: str, start: int, end: int) -> Iterator[Label]:
    """The end of a range or a change that the place from `start` to `end` is, as a label."""
    before = text[max(0, start - _REACH) : start]
    near = before[-40:]
    last = near[-12:].rstrip().lower()
    if _DATE.match(text, start) and _BY.search(near):
        yield _UNTIL
    if _HINTS.search(before[-20:]):
        if _WAS_BEFORE.search(before):
            yield _WAS
            return
        if _NOW_BEFORE.search(before):
            yield _NOW
            return
    if _WAS_BEHIND.match(text, end):
        yield _WAS
    elif (
        _RANGE_BEHIND.match(text, end)
        or _OPEN.match(text, end)
        or (last.endswith(_BETWEEN_WORDS) and _BETWEEN.search(near))
    ):
        yield _FROM
    elif _RANGE_BEFORE.search(near[-12:]) or (last.endswith(_AND_WORDS) and _BETWEEN_AND.search(near)):
        yield _TO

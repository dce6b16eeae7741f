"""Decide which stated value answers to a label, and read it as the asked type."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from batchwork.literal.fact import Fact
from batchwork.literal.facts import facts
from batchwork.literal.meaning import GENERIC, alternatives, canonical, tokens, vocabulary
from batchwork.literal.page_shape import lines
from batchwork.literal.values import dates, numbers, small_numbers, truth

ENOUGH = 0.5
_PENALTY = {
    "pair": 0.0,
    "list": 0.1,
    "cell": 0.0,
    "gap": 0.02,
    "phrase": 0.05,
    "below": 0.1,
    "after": 0.15,
    "is": 0.12,
}
_PERCENT = frozenset({"percent", "rate", "share", "ratio", "change", "growth"})
_LOOSE = 0.08
_ABSENT = frozenset(
    {"n/a", "na", "none", "-", "--", "\u2013", "\u2014", "null", "nil", "not available", "unknown", "tbd", "?"}
)


class Found(NamedTuple):
    """A value that was read, and where it stands."""

    value: Any
    start: int
    end: int
    score: float


def _strong(words: tuple[str, ...]) -> list[str]:
    return [word for word in words if word not in GENERIC] or list(words)


def score(words: tuple[str, ...], fact: Fact) -> float:
    """How surely a fact is about these words; 0 when it is not."""
    strong = _strong(words)
    label = set(fact.label)
    own = label | set(fact.row)
    hits = [word for word in strong if word in own]
    if not hits or not any(word in own for word in strong):
        return 0.0
    missing = [word for word in strong if word not in own]
    if any(word not in fact.context for word in missing):
        return 0.0
    asked = set(words)
    extra = [word for word in fact.label if word not in asked and word not in GENERIC]
    result = 1.0 - 0.18 * len(missing) - 0.15 * min(4, len(set(extra))) - _PENALTY[fact.kind]
    if fact.row and fact.rows > 1:
        unasked = [word for word in set(fact.row) if word not in asked and word not in GENERIC]
        covered = len(set(fact.row)) - len(unasked)
        if not covered:
            result -= 0.45  # which row is meant?
        elif label and not label & asked and not label <= GENERIC | {"amount", "total", "quantity"}:
            result -= 0.3  # which column is meant?
    if fact.label and fact.label[-1] not in asked and fact.kind in ("phrase", "pair"):
        result -= 0.05  # "mean error 3" is about the error
    return max(result, 0.0)


def ranked(words: tuple[str, ...], text: str, *, loose: bool = True) -> list[tuple[float, Fact]]:
    """All facts about these words, the surest first; of equals the earlier one."""
    readings: list[tuple[tuple[str, ...], float]] = [(words, 0.0)]
    if loose:
        readings += [(other, _LOOSE + 0.015 * place) for place, other in enumerate(alternatives(words))]
    known = vocabulary(text)
    readings = [(reading, cost) for reading, cost in readings if known.issuperset(_strong(reading))]
    if not readings:
        return []  # no fact can be about words that do not stand there
    best: dict[tuple[int, int, str], tuple[float, Fact]] = {}
    for fact in facts(text):
        for reading, cost in readings:
            sure = score(reading, fact) - cost
            place = (fact.start, fact.end, fact.kind)
            if sure > best.get(place, (0.0, fact))[0]:
                best[place] = (sure, fact)
    return sorted(best.values(), key=lambda pair: (-round(pair[0], 6), pair[1].start))


def typed(text: str, start: int, end: int, kind: str) -> Found | None:
    """A stretch of text as a type, or None when there is none of that type in it.

    Besides the types of JSON: `date`, `name` (words, not a value) and `code` (has a digit).
    """
    if text[start:end].strip().lower() in _ABSENT:
        return None
    if kind in ("number", "integer"):
        return _number(text, start, end, whole=kind == "integer")
    if kind == "date":
        for value in dates(text, start, end):
            return Found(value.value, value.start, value.end, 0.0)
        return None
    if kind == "boolean":
        said = truth(text[start:end])
        return None if said is None else Found(said, start, end, 0.0)
    found = _string(text, start, end)
    if found is None or kind == "string":
        return found
    return _name(text, found) if kind == "name" else _code(found)


def _number(text: str, start: int, end: int, *, whole: bool) -> Found | None:
    for value in numbers(text, start, end) or small_numbers(text, start, end):
        number = value.value
        if whole and isinstance(number, float):
            if not number.is_integer():
                continue
            number = int(number)
        return Found(number, value.start, value.end, 0.0)
    return None


def _string(text: str, start: int, end: int) -> Found | None:
    while end > start and text[end - 1] in " .,;:*\"'`|":
        end -= 1
    while start < end and text[start] in " *\"'`|#:":
        start += 1
    return Found(text[start:end], start, end, 0.0) if start < end else None


def _name(text: str, found: Found) -> Found | None:
    """Words that name somebody: neither a date nor an amount nor a code."""
    said = str(found.value)
    if not re.search(r"[A-Za-z]{2}", said) or dates(text, found.start, found.end):
        return None
    if re.fullmatch(r"\S*\d\S*", said) or any(value.money for value in numbers(text, found.start, found.end)):
        return None
    return found


def _code(found: Found) -> Found | None:
    """A number or id as it is written: of several words the one that has digits."""
    said = str(found.value)
    if not re.search(r"\d", said):
        return None
    words = said.split()
    if len(words) <= 2 or all(re.search(r"\d", word) for word in words):
        if len(words) == 2 and not re.search(r"\d", words[1]):
            return Found(words[0], found.start, found.start + len(words[0]), 0.0)
        return found
    match = re.search(r"\S*\d[^\s,;]*", said)
    assert match is not None
    code = match.group().rstrip(".")
    return Found(code, found.start + match.start(), found.start + match.start() + len(code), 0.0)


def find(labels: Sequence[tuple[str, ...]], text: str, kind: str) -> Found | None:
    """The value of a type at the first label that has one surely enough."""
    for words in labels:
        found = _at_label(words, text, kind) if words else None
        if found is None and kind == "date" and len(words) > 1:
            found = _at_label(tuple(word for word in words if word != "date"), text, kind)
        if found is None and words and kind in ("string", "name", "code"):
            found = _behind_label(words, text, kind)
        if found is not None:
            return found
    return None


def _at_label(words: tuple[str, ...], text: str, kind: str) -> Found | None:
    wants_percent = bool(_PERCENT & set(words))
    aside: Found | None = None
    for sure, fact in ranked(words, text):
        if sure < ENOUGH:
            break
        if fact.kind == "after" and kind in ("string", "name", "code"):
            continue
        found = typed(text, fact.start, fact.end, kind)
        if found is None:
            continue
        if kind == "number" and text[found.start : found.end].endswith("%") != wants_percent:
            aside = aside or found._replace(score=sure)  # "tax (8%): $4": the tax is the money, its rate the 8%
            continue
        return found._replace(score=sure)
    return aside


def _behind_label(words: tuple[str, ...], text: str, kind: str) -> Found | None:
    """A line that begins with the label and goes on with the value, "Customer Acme Ltd"."""
    for reading in (words, *alternatives(words)):
        wanted = [word for word in reading if word not in GENERIC] or list(reading)
        for line in lines(text):
            spoken = canonical(tokens(text, line.start, line.end))[: len(wanted)]
            if [token.word for token in spoken] != wanted or spoken[0].start > line.start + 3:
                continue
            rest = text[spoken[-1].end : line.end]
            if rest[:1] != " " or not re.match(r" +[A-Z\d#]", rest):
                continue
            found = typed(text, spoken[-1].end, line.end, kind)
            if found is not None:
                return found._replace(score=ENOUGH)
    return None

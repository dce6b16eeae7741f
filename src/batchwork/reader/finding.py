"""Decide which stated value answers to a label, and read it as the asked type."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from batchwork.reader.facts import Fact, facts
from batchwork.reader.values import dates, numbers, small_numbers, truth
from batchwork.reader.words import GENERIC, alternatives

ENOUGH = 0.5
_PENALTY = {
    "pair": 0.0,
    "cell": 0.0,
    "gap": 0.02,
    "phrase": 0.05,
    "below": 0.1,
    "after": 0.15,
    "is": 0.12,
    "sentence": 0.3,
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


@lru_cache(maxsize=8192)
def score(words: tuple[str, ...], fact: Fact) -> float:
    """How surely a fact is about these words; 0 when it is not."""
    strong = [word for word in words if word not in GENERIC] or list(words)
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
    result = 1.0 - 0.12 * len(missing) - 0.16 * min(4, len(set(extra))) - _PENALTY[fact.kind]
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
    best: dict[tuple[int, int, str], tuple[float, Fact]] = {}
    for fact in facts(text):
        for reading, cost in readings:
            sure = score(reading, fact) - cost
            place = (fact.start, fact.end, fact.kind)
            if sure > best.get(place, (0.0, fact))[0]:
                best[place] = (sure, fact)
    return sorted(best.values(), key=lambda pair: (-round(pair[0], 6), pair[1].start))


def typed(text: str, fact: Fact, kind: str) -> Found | None:
    """The fact's value as a type, or None when there is none of that type in it."""
    start, end = fact.start, fact.end
    if text[start:end].strip().lower() in _ABSENT:
        return None
    if kind in ("number", "integer"):
        listed = numbers(text, start, end) or small_numbers(text, start, end)
        for value in listed:
            number = value.value
            if kind == "integer" and isinstance(number, float):
                if not number.is_integer():
                    continue
                number = int(number)
            return Found(number, value.start, value.end, 0.0)
        return None
    if kind == "date":
        for value in dates(text, start, end):
            return Found(value.value, value.start, value.end, 0.0)
        return None
    if kind == "boolean":
        said = truth(text[start:end])
        return None if said is None else Found(said, start, end, 0.0)
    return _string(text, start, end)


def _string(text: str, start: int, end: int) -> Found | None:
    while end > start and text[end - 1] in " .,;:*\"'`|":
        end -= 1
    while start < end and text[start] in " *\"'`|#:":
        start += 1
    return Found(text[start:end], start, end, 0.0) if start < end else None


def find(
    labels: Sequence[tuple[str, ...]], text: str, kind: str, taken: Iterable[tuple[int, int]] = ()
) -> Found | None:
    """The value of a type at the first label that has one surely enough."""
    used = set(taken)
    for words in labels:
        if not words:
            continue
        aside: Found | None = None
        for sure, fact in ranked(words, text):
            if sure < ENOUGH:
                break
            if kind == "string" and fact.kind == "after":
                continue
            found = typed(text, fact, kind)
            if found is None or (found.start, found.end) in used:
                continue
            if text[found.start : found.end].endswith("%") and not _PERCENT & set(words):
                aside = aside or found._replace(score=sure)  # "tax (8%): $4": the tax is the money
                continue
            return found._replace(score=sure)
        if aside is not None:
            return aside
    return None

"""Decide which stated value answers to a label, and read it as the wanted type.

Papers leave some things without a label: the letterhead is the first line that is no title, the addressee the first
line of the next block, a date alone on its line is the paper's own, the currency that of its amounts.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from batchwork.literal.facts import facts
from batchwork.literal.meaning import GENERIC, alternatives, vocabulary
from batchwork.literal.page_shape import Stretch, gap_cells, lines
from batchwork.literal.prose import Fact
from batchwork.literal.values import dates, numbers, small_numbers

ENOUGH = 0.5
_PENALTY = {"list": 0.1, "gap": 0.02, "phrase": 0.05, "below": 0.1, "after": 0.15, "is": 0.12}
PERCENT = frozenset({"percent", "rate", "share", "ratio", "change", "growth"})
_LOOSE = 0.08
_ABSENT = ("n/a", "na", "none", "-", "--", "\u2013", "\u2014", "null", "nil", "not available", "unknown", "tbd", "?")
_SENDER = frozenset({"vendor", "seller", "supplier", "company", "issuer", "merchant", "biller", "issuedby"})
_RECEIVER = frozenset({"customer", "client", "buyer", "recipient", "purchaser", "billto"})
_OWN_DATE = frozenset({"invoice", "date", "issue", "issued", "document", "letter", "bill", "receipt"})
_CODES = {"$": "USD", "US$": "USD", "\u20ac": "EUR", "\u00a3": "GBP", "\u00a5": "JPY", "\u20b9": "INR", "CA$": "CAD", "A$": "AUD"}  # fmt: skip # noqa: E501
_TITLE = re.compile(r"(?i)\W*(?:tax |pro ?forma )?(?:invoice|bill|receipt|statement|credit note|order|page \d+.*)\W*")
_TOP = 12  # lines that may hold a letterhead


class Found(NamedTuple):
    """A value that was read, and where it stands."""

    value: Any
    start: int
    end: int
    score: float


def strong_words(words: tuple[str, ...]) -> list[str]:
    """The words that a label must have; all of them, when every one is generic."""
    return [word for word in words if word not in GENERIC] or list(words)


def score(words: tuple[str, ...], fact: Fact) -> float:
    """How surely a fact is about these words; 0 when it is not."""
    strong, own, wanted = strong_words(words), {*fact.label, *fact.row}, set(words)
    missing = [word for word in strong if word not in own]
    if len(missing) == len(strong) or any(word not in fact.context for word in missing):
        return 0.0
    extra = {word for word in fact.label if word not in wanted and word not in GENERIC}
    result = 1.0 - 0.18 * len(missing) - 0.15 * min(4, len(extra)) - _PENALTY.get(fact.kind, 0.0)
    if fact.row and fact.rows > 1 and not wanted & set(fact.row) and not set(fact.row) <= GENERIC:
        result -= 0.45  # which row is meant?
    if fact.label and fact.label[-1] not in wanted and fact.kind in ("phrase", "pair"):
        result -= 0.05  # "mean error 3" is about the error
    return max(result, 0.0)


def ranked(words: tuple[str, ...], text: str, *, loose: bool = True) -> list[tuple[float, Fact]]:
    """All facts about these words, the surest first; of equals the earlier one."""
    readings: list[tuple[tuple[str, ...], float]] = [(words, 0.0)]
    if loose:
        readings += [(other, _LOOSE + 0.015 * place) for place, other in enumerate(alternatives(words))]
    known = vocabulary(text)
    readings = [(reading, cost) for reading, cost in readings if known.issuperset(strong_words(reading))]
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
    """A stretch of text as a number, integer, date or string; None when there is none in it."""
    if text[start:end].strip().lower() in _ABSENT:
        return None
    if kind in ("number", "integer"):
        for value in numbers(text, start, end) or small_numbers(text, start, end):
            whole = isinstance(value.value, int) or float(value.value).is_integer()
            if kind == "number" or whole:
                return Found(int(value.value) if kind == "integer" else value.value, value.start, value.end, 0.0)
        return None
    if kind == "date":
        return next((Found(one.value, one.start, one.end, 0.0) for one in dates(text, start, end)), None)
    while end > start and text[end - 1] in " .,;:*\"'`|":
        end -= 1
    while start < end and text[start] in " *\"'`|#:":
        start += 1
    return Found(text[start:end], start, end, 0.0) if start < end else None


def find(labels: Sequence[tuple[str, ...]], text: str, kind: str) -> Found | None:
    """The value of a type at the first label that has one surely enough."""
    return next((found for words in labels if words and (found := _at_label(words, text, kind))), None)


def _at_label(words: tuple[str, ...], text: str, kind: str) -> Found | None:
    wants_percent = bool(PERCENT & set(words))
    aside: Found | None = None
    for sure, fact in ranked(words, text):
        if sure < ENOUGH:
            break
        found = None if fact.kind == "after" and kind == "string" else typed(text, fact.start, fact.end, kind)
        if found is None:
            continue
        if kind == "number" and text[found.start : found.end].endswith("%") != wants_percent:
            aside = aside or found._replace(score=sure)  # "tax (8%): $4": the tax is the money, its rate the 8%
            continue
        return found._replace(score=sure)
    return aside


def unlabelled(words: tuple[str, ...], text: str, kind: str) -> Found | None:
    """The value of a field that papers often leave without a label, or None."""
    wanted = set(words) - GENERIC or set(words)
    if kind == "date" and wanted and wanted <= _OWN_DATE:
        return _lone_date(text)
    if kind != "string" or not wanted:
        return None
    if "currency" in wanted:
        return currency(text)
    top = _top_cells(text)
    if wanted <= _SENDER and top:
        return _named(top[0][1])
    return _addressee(text, top) if wanted <= _RECEIVER and top else None


def currency(text: str) -> Found | None:
    """The currency the amounts are written in, as a code of three letters."""
    for value in numbers(text):
        if value.money:
            at = text.index(value.money, value.start)
            return Found(_CODES.get(value.money, value.money), at, at + len(value.money), 0.6)
    return None


def _top_cells(text: str) -> list[tuple[int, Stretch]]:
    """The first pieces of a paper that are neither titles nor labels with values, each with its line's number."""
    found = []
    for number, line in enumerate(lines(text)[:_TOP]):
        for cell in gap_cells(line)[:2]:
            if _TITLE.fullmatch(cell.text) or re.search(r"[:<>]|(?i:\binvoice\b)", cell.text):
                continue
            if re.search(r"[A-Za-z]{2}", cell.text) and not dates(text, cell.start, cell.end):
                found.append((number, cell))
                break
    return found


def _named(cell: Stretch) -> Found:
    name = cell.text.lstrip("#*_ ")
    start = cell.start + len(cell.text) - len(name)
    name = _without_address(name.rstrip("*_ "))
    return Found(name, start, start + len(name), 0.5)


def _without_address(line: str) -> str:
    """ "Acme, 12 Main Street, Springfield" is Acme."""
    name, _, rest = line.partition(",")
    return name if re.search(r"\d", rest) else line


def _addressee(text: str, top: list[tuple[int, Stretch]]) -> Found | None:
    rows = lines(text)
    one_line = _without_address(top[0][1].text) != top[0][1].text
    for number, cell in top[1:]:
        if (one_line or not rows[number - 1].text.strip()) and not re.match(r"\d", cell.text):
            return _named(cell)
    return None


def _lone_date(text: str) -> Found | None:
    for line in lines(text):
        bare = line.text.strip()
        there = dates(text, line.start, line.end)
        if len(there) == 1 and re.fullmatch(r"(?:[A-Z]\w+, )?", bare[: -(there[0].end - there[0].start)]):
            return Found(there[0].value, there[0].start, there[0].end, 0.5)
    return None

"""Decide which column of a heading a field means, and where the columns of an unruled heading begin."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from batchwork.literal.meaning import GENERIC, Token, alternatives, canonical, label_words, tokens
from batchwork.literal.page_shape import Cell, Line


def _words(text: str) -> list[str]:
    return text.split()


_NUMERIC_WORDS = frozenset(_words("number pos line tax vat discount gst percent weight hour day"))
_EXACT, _SOME, _NAMED = 1.0, 0.6, 0.52


class Field(NamedTuple):
    """A field of a row: its name, what it means, and its type."""

    name: str
    words: tuple[str, ...]
    kind: str


class Column(NamedTuple):
    """One column of a heading: the field it holds, or none; and whether its values are numbers."""

    field: Field | None
    kind: str
    at: int


def fit(field: Field, words: tuple[str, ...]) -> float:
    """How well a heading names a field."""
    if not words:
        return 0.0
    asked, told = set(field.words) - GENERIC or set(field.words), set(words) - GENERIC or set(words)
    if asked == told:
        return _EXACT
    for place, other in enumerate(alternatives(field.words)):
        if set(other) == told:
            return 0.9 - 0.02 * place
    if asked <= told or told <= asked:
        return _SOME - 0.05 * len(asked ^ told)
    for place, other in enumerate(alternatives(field.words)):
        if set(other) <= told:
            return _SOME - 0.1 - 0.02 * place - 0.05 * len(told - set(other))
    return 0.0


def assign(fields: Sequence[Field], header: Sequence[Cell]) -> dict[int, Field]:
    """Column number to field, the best fits first, none used twice."""
    fits = sorted(
        (
            (-fit(field, label_words(cell.text)), number, index)
            for number, cell in enumerate(header)
            for index, field in enumerate(fields)
        ),
    )
    chosen: dict[int, Field] = {}
    for sure, number, index in fits:
        if -sure < 0.3:
            break
        if number not in chosen and fields[index] not in chosen.values():
            chosen[number] = fields[index]
    return chosen


def heading(fields: Sequence[Field], line: Line) -> list[Column]:
    """The columns of a heading without visible borders, or nothing when the line is none.

    Words are taken greedily, the longest phrase that names a field first; what is left over are columns
    nobody asked for.
    """
    if re.search(r"\d{2}|[.!?]$", line.text) or len(line.text) > 160:
        return []
    spoken = canonical(tokens(line.text))
    columns: list[Column] = []
    used: set[str] = set()
    at = 0
    while at < len(spoken):
        field, length = _best(fields, used, spoken, at, line)
        if field is None and at and _same_column(line.text[spoken[at - 1].end : spoken[at].start]):
            pass  # "Description of goods or service" is one heading
        elif field is not None:
            used.add(field.name)
            columns.append(Column(field, field.kind, spoken[at].start))
        else:
            length = 1
            kind = "number" if spoken[at].word in _NUMERIC_WORDS else "string"
            columns.append(Column(None, kind, spoken[at].start))
        at += length
    named = [column for column in columns if column.field is not None]
    if len(named) < 2 or len(columns) - len(named) > 2:
        return []
    return columns


def _same_column(between: str) -> bool:
    return bool(re.fullmatch(r" (?:of|or|and|per|for|in) (?:the )?", between))


def _best(
    fields: Sequence[Field], used: set[str], spoken: list[Token], at: int, line: Line
) -> tuple[Field | None, int]:
    """The field that the next one to three words name best, and how many of them."""
    best: tuple[float, int, Field | None] = (0.0, 1, None)
    for length in range(1, min(3, len(spoken) - at) + 1):
        run = spoken[at : at + length]
        if re.search(r"\t| {2,}|\|", line.text[run[0].start : run[-1].end]):
            break  # a wide gap parts two columns
        words = tuple(token.word for token in run)
        if len(set(words)) < length:
            continue  # "Units Unit price" are two headings
        for field in fields:
            sure = 0.0 if field.name in used else fit(field, words)
            if sure > best[0] or (sure == best[0] > 0 and length > best[1]):
                best = (sure, length, field)
    return (best[2], best[1]) if best[0] > _NAMED else (None, 1)

"""Collect everything a text states: from its tables, its labels and its sentences.

A label and its value are parted by a colon, an equals sign, a wide gap or a line end. No question is needed for this;
a text is read once and kept for the next question.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from batchwork.literal.meaning import label_words
from batchwork.literal.page_shape import Stretch, gap_cells, is_rule, lines, tables
from batchwork.literal.prose import Fact, flows, label_of, phrases, without_asides

_SEPARATOR = re.compile(r"(?<![\d:]):(?!//|\d\d\b)|:(?=\s)|(?<![<>=!])=(?!=)|\s[\u2013\u2014]\s|\.{3,}")
_DELIMITER = re.compile(r"[,;|](?=\s|$)|\t| {2,}|[{}]|\.\s")
_PLAIN_WORDS = re.compile(r"(?: (?:[A-Z][A-Za-z.#]*|[a-z]{1,3}|#))+$")
_LONGEST_ALONE = 4  # words that a label alone on its line may have


@lru_cache(maxsize=32)
def facts(text: str) -> tuple[Fact, ...]:
    """Everything a text states, in the order in which it stands, tables first."""
    found: list[Fact] = list(_cells(text))
    inside = [(table.start, table.end, len(table.header)) for table in tables(text)]  # one after the other
    opens = [start for start, _, _ in inside]
    rows = lines(text)
    prose = []
    for number, line in enumerate(rows):
        if not line.text.strip() or is_rule(line.text):
            continue
        before = bisect_right(opens, line.start)
        _, end, columns = inside[before - 1] if before else (0, 0, 0)
        width = columns if line.start < end else 0
        found += _pairs(rows, number, in_table=width > 2)
        if not width:
            prose.append(line)
    for start, end in flows(prose):
        found += phrases(text, start, end)
    return tuple(found)


def _cells(text: str) -> Iterator[Fact]:
    for table in tables(text):
        kinds, kind = frozenset(label_words(table.header[0].text)), "list" if table.loose else "cell"
        for row in table.rows:
            name = label_words(row[0].text)
            for index, (column, cell) in enumerate(zip(table.header, row, strict=False)):
                if cell.text:
                    own = name if index else ()
                    yield Fact(kind, label_words(column.text), cell.start, cell.end, own, kinds, len(table.rows))


def _pairs(rows: tuple[Stretch, ...], number: int, *, in_table: bool) -> Iterator[Fact]:
    """All labelled values of one line."""
    line = rows[number]
    marks = _marks(line.text)
    lead = frozenset(label_words(line.text[: marks[0].start()])) if len(marks) > 1 else frozenset()
    starts = [_label_start(line.text, before, mark) for before, mark in zip([None, *marks], marks, strict=False)]
    for index, mark in enumerate(marks):
        label = label_of(line.text[starts[index] : mark.start()])
        stop = starts[index + 1] if index + 1 < len(marks) else len(line.text)
        start, stop = _trimmed(line.text, mark.end(), stop)
        if start < stop:
            gap = re.search(r"\t| {3,}", line.text[start:stop])
            end = start + gap.start() if gap else stop
            context = lead if index else frozenset()
            yield Fact("pair", label, line.start + start, line.start + end, (), context)
        elif index + 1 == len(marks):
            yield from _below(rows, number, label)
    if not marks and not in_table:
        yield from _gaps(rows, number)


def _marks(line: str) -> list[re.Match[str]]:
    """The separators that part a label from a value: before them stands a word."""
    found: list[re.Match[str]] = []
    for mark in _SEPARATOR.finditer(line):
        start = _label_start(line, found[-1] if found else None, mark)
        if re.search(r"[A-Za-z#]", line[start : mark.start()]):
            found.append(mark)
    return found


def _gaps(rows: tuple[Stretch, ...], number: int) -> Iterator[Fact]:
    """Label and value parted by a wide gap; or a label alone on its line."""
    line = rows[number]
    cells = gap_cells(line)
    for name, value in pairwise(cells):
        if not re.search(r"\d", without_asides(name.text)):
            yield Fact("gap", label_of(name.text), value.start, value.end)
    alone = without_asides(line.text).strip()
    if len(cells) == 1 and len(alone.split()) <= _LONGEST_ALONE and not re.search(r"\d|[!?,]$|\w{4,}\.$", alone):
        yield from _below(rows, number, label_words(line.text))


def _label_start(line: str, before: re.Match[str] | None, mark: re.Match[str]) -> int:
    """Where the label before a separator begins: behind the last delimiter, or where the value before it ends."""
    floor = 0 if before is None else before.end()
    stop = mark.start()
    start = max((match.end() for match in _DELIMITER.finditer(line, floor, stop)), default=floor)
    if before is None or start != floor:
        return start
    near = max(floor, stop - 24)
    label = _PLAIN_WORDS.search(line[near:stop])  # "No: INV-1 Date: 2026-01-02" has no delimiter
    return stop if label is None else near + label.start()


def _trimmed(line: str, start: int, stop: int) -> tuple[int, int]:
    while start < stop and line[start] in " \t*\"'`":
        start += 1
    while stop > start and line[stop - 1] in " \t,;.|*\"'`{":
        stop -= 1
    return start, stop


def _below(rows: tuple[Stretch, ...], number: int, label: tuple[str, ...]) -> Iterator[Fact]:
    """A label alone on its line names what stands on the next."""
    below = [line for line in rows[number + 1 : number + 3] if line.text.strip() and not is_rule(line.text)]
    for cell in gap_cells(below[0])[:1] if below else ():
        yield Fact("below", label, cell.start, cell.end)

"""Find labels with their values by the signs between them: a colon, an equals sign, a wide gap, the next line."""

import re
from collections.abc import Iterator
from itertools import pairwise

from batchwork.literal.fact import Fact
from batchwork.literal.meaning import label_words
from batchwork.literal.page_shape import Line, gap_cells, is_rule

_SEPARATOR = re.compile(r"(?<![\d:]):(?!//|\d\d\b)|:(?=\s)|(?<![<>=!])=(?!=)|\s[\u2013\u2014]\s|\.{3,}")
_DELIMITER = re.compile(r"[,;|](?=\s|$)|\t| {2,}|[{}]|\.\s")
_ASIDE = re.compile(r"\(.*?\)|\d+(?:[.,]\d+)?\s?%")
_LONGEST_ALONE = 4
"""Words that a label alone on its line may have."""


def pairs(rows: tuple[Line, ...], number: int, above: frozenset[str], *, in_table: bool) -> Iterator[Fact]:
    """All labelled values of one line."""
    line = rows[number]
    marks = _marks(line.text)
    lead = label_words(line.text[: marks[0].start()]) if len(marks) > 1 else ()
    starts = [_label_start(line.text, before, mark) for before, mark in zip([None, *marks], marks, strict=False)]
    for index, mark in enumerate(marks):
        label = label_of(line.text[starts[index] : mark.start()])
        stop = starts[index + 1] if index + 1 < len(marks) else len(line.text)
        start, stop = _trimmed(line.text, mark.end(), stop)
        if not label:
            continue
        context = above | frozenset(lead if index else ())
        if start < stop:
            gap = re.search(r"\t| {3,}", line.text[start:stop])
            end = start + gap.start() if gap else stop
            yield Fact("pair", label, line.start + start, line.start + end, (), context)
        elif index + 1 == len(marks):
            yield from _below(rows, number, label, context)
    if not marks and not in_table:
        yield from _gaps(rows, number, above)


def _marks(line: str) -> list[re.Match[str]]:
    """The separators that part a label from a value: before them stands a word."""
    found: list[re.Match[str]] = []
    for mark in _SEPARATOR.finditer(line):
        start = _label_start(line, found[-1] if found else None, mark)
        if re.search(r"[A-Za-z#]", line[start : mark.start()]):
            found.append(mark)
    return found


def _gaps(rows: tuple[Line, ...], number: int, above: frozenset[str]) -> Iterator[Fact]:
    """Label and value parted by a wide gap; or a label alone on its line."""
    line = rows[number]
    cells = gap_cells(line)
    for name, value in pairwise(cells):
        if not re.search(r"\d", _ASIDE.sub("", name.text)):
            yield Fact("gap", label_of(name.text), value.start, value.end, (), above)
    alone = _ASIDE.sub("", line.text)
    if (
        len(cells) == 1
        and len(alone.split()) <= _LONGEST_ALONE
        and not re.search(r"\d|[!?,]$|\w{4,}\.$", alone.strip())
    ):
        yield from _below(rows, number, label_words(line.text), above)


def label_of(text: str) -> tuple[str, ...]:
    """The words of a label without its aside: "Tax (8%)" is the tax."""
    return label_words(_ASIDE.sub(" ", text)) or label_words(text)


def _label_start(line: str, before: re.Match[str] | None, mark: re.Match[str]) -> int:
    """Where the label before a separator begins: behind the last delimiter, or where the value before it ends."""
    floor = 0 if before is None else before.end()
    stop = mark.start()
    start = floor
    for match in _DELIMITER.finditer(line, floor, stop):
        start = match.end()
    if before is None or start != floor:
        return start
    kept = stop  # "No: INV-1 Date: 2026-01-02" has no delimiter, so the label is the last plain words
    for word in reversed(list(re.finditer(r"\S+", line[floor:stop]))[1:]):
        plain = re.fullmatch(r"[A-Z][A-Za-z.#]*|[a-z]{1,3}|#", word.group())
        if plain is None or stop - floor - word.start() > 24:
            break
        kept = floor + word.start()
    return kept


def _trimmed(line: str, start: int, stop: int) -> tuple[int, int]:
    while start < stop and line[start] in " \t*\"'`":
        start += 1
    while stop > start and line[stop - 1] in " \t,;.|*\"'`{":
        stop -= 1
    return start, stop


def _below(rows: tuple[Line, ...], number: int, label: tuple[str, ...], above: frozenset[str]) -> Iterator[Fact]:
    """A label alone on its line names what stands on the next."""
    for line in rows[number + 1 : number + 3]:
        if line.text.strip() and not is_rule(line.text):
            cells = gap_cells(line)
            if label and cells:
                yield Fact("below", label, cells[0].start, cells[0].end, (), above)
            return

"""Collect what a text states: each value with the label, row and context it stands in.

No question is needed for this; a text is read once and kept for the next question.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from batchwork.reader.layout import Line, gap_cells, headings, is_rule, lines, tables
from batchwork.reader.values import Value, dates, numbers, small_numbers
from batchwork.reader.words import STOP, Token, canonical, label_words, tokens

Kind = Literal["pair", "cell", "gap", "below", "phrase", "after", "is", "sentence"]


class Fact(NamedTuple):
    """A value at `start:end` and the words that say what it is."""

    kind: Kind
    label: tuple[str, ...]
    start: int
    end: int
    row: tuple[str, ...] = ()
    context: frozenset[str] = frozenset()
    rows: int = 1


_SEPARATOR = re.compile(r"(?<![\d:]):(?!//|\d\d\b)|:(?=\s)|(?<![<>=!])=(?!=)|\s[\u2013\u2014]\s|\.{3,}")
_DELIMITER = re.compile(r"[,;|](?=\s|$)|\t| {2,}|[{}]|\.\s")
_ID = re.compile(r"(?<![\w-])#?(?=[\w/-]*\d)[A-Za-z]{1,6}[-/]?\d[\w/-]*|(?<!\w)#\d[\w-]*")
_CLAUSE = re.compile(r"[,;:.!?()\u2014](?=\s|$)|[;()|]|\s-\s")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[A-Z\d\"'(-])")
_RANGE = re.compile(r"\b(?:from|between|range[sd]?|ranging)\b", re.IGNORECASE)
_IS = re.compile(
    r"\b(?:is|are|was|were|remains?|shows?|shown|seems?|appears?|stays?|has|have|exhibits?|follows?|contains?)\b\s+",
    re.IGNORECASE,
)
_PROSE = 24


@lru_cache(maxsize=32)
def facts(text: str) -> tuple[Fact, ...]:
    """Everything a text states, in the order in which it stands."""
    found: list[Fact] = list(_cells(text))
    inside = [(table.start, table.end) for table in tables(text)]
    titles = headings(text)
    rows = lines(text)
    for number, line in enumerate(rows):
        if not line.text.strip() or is_rule(line.text):
            continue
        above = frozenset(word for title in titles[number] for word in label_words(title))
        found += _pairs(rows, number, above)
        if not any(start <= line.start < end for start, end in inside):
            found += _phrases(text, line, above)
    return tuple(found)


def _cells(text: str) -> Iterator[Fact]:
    titles, rows = headings(text), lines(text)
    starts = {line.start: number for number, line in enumerate(rows)}
    for table in tables(text):
        above = frozenset(word for title in titles[starts[table.start]] for word in label_words(title))
        kinds = frozenset(label_words(table.header[0].text)) if table.header else frozenset()
        for row in table.rows:
            name = label_words(row[0].text) if row else ()
            for index, cell in enumerate(row):
                if index >= len(table.header) or not cell.text:
                    continue
                column = label_words(table.header[index].text)
                own = name if index else ()
                yield Fact("cell", column, cell.start, cell.end, own, above | kinds, len(table.rows))


def _pairs(rows: tuple[Line, ...], number: int, above: frozenset[str]) -> Iterator[Fact]:
    line = rows[number]
    marks = list(_SEPARATOR.finditer(line.text))
    lead = label_words(line.text[: marks[0].start()]) if len(marks) > 1 else ()
    ends = [_label_start(line.text, marks, index) for index in range(len(marks))]
    for index, mark in enumerate(marks):
        label = _label(line.text[ends[index] : mark.start()])
        stop = ends[index + 1] if index + 1 < len(marks) else len(line.text)
        start, stop = _trimmed(line.text, mark.end(), stop)
        if not label:
            continue
        context = above | frozenset(lead if index else ())
        if start < stop:
            gap = re.search(r"\t| {3,}", line.text[start:stop])
            yield Fact(
                "pair", label, line.start + start, line.start + (start + gap.start() if gap else stop), (), context
            )
        elif index + 1 == len(marks):
            yield from _below(rows, number, label, context)
    cells = gap_cells(line)
    if len(cells) == 2 and not marks and not re.search(r"\d", cells[0].text):
        yield Fact("gap", label_words(cells[0].text), cells[1].start, cells[1].end, (), above)
    if not marks and len(cells) == 1 and len(line.text.split()) <= 4 and not re.search(r"\d|[.!?]$", line.text):
        yield from _below(rows, number, label_words(line.text), above)


def _label(text: str) -> tuple[str, ...]:
    """The words of a label without its aside: "Tax (8%)" is the tax."""
    return label_words(re.sub(r"\(.*?\)|\d+(?:[.,]\d+)?\s?%", " ", text)) or label_words(text)


def _label_start(line: str, marks: list[re.Match[str]], index: int) -> int:
    """Where the label before a separator begins: behind the last delimiter, or where the value before it ends."""
    floor = marks[index - 1].end() if index else 0
    stop = marks[index].start()
    start = floor
    for match in _DELIMITER.finditer(line, floor, stop):
        start = match.end()
    if index and start == floor:  # "No: INV-1 Date: 2026-01-02": no delimiter, so the label is the last plain words
        words = list(re.finditer(r"\S+", line[floor:stop]))
        kept = stop
        for word in reversed(words[1:]):
            if (
                not re.fullmatch(r"[A-Z][A-Za-z.#]*|[a-z]{1,3}|#", word.group())
                or len(line[floor + word.start() : stop]) > 24
            ):
                break
            kept = floor + word.start()
        start = kept
    return start


def _trimmed(line: str, start: int, stop: int) -> tuple[int, int]:
    while start < stop and line[start] in " \t*\"'`":
        start += 1
    while stop > start and line[stop - 1] in " \t,;|*\"'`{":
        stop -= 1
    return start, stop


def _below(rows: tuple[Line, ...], number: int, label: tuple[str, ...], above: frozenset[str]) -> Iterator[Fact]:
    """A label alone on its line names what stands on the next."""
    for line in rows[number + 1 : number + 3]:
        bare = line.text.strip()
        if bare and not is_rule(line.text):
            cells = gap_cells(line)
            if label and cells:
                yield Fact("below", label, cells[0].start, cells[0].end, (), above)
            return


def _phrases(text: str, line: Line, above: frozenset[str]) -> Iterator[Fact]:
    bounds = [0, *(match.end() for match in _SENTENCE.finditer(line.text)), len(line.text)]
    for first, last in pairwise(bounds):
        yield from _sentence(text, line.start + first, line.start + last, above)


def _sentence(text: str, start: int, end: int, above: frozenset[str]) -> Iterator[Fact]:
    spoken = canonical(tokens(text, start, end))
    everything = frozenset(token.word for token in spoken)
    values = _values(text, start, end)
    edges = [start, *(start + match.end() for match in _CLAUSE.finditer(text[start:end]))]
    for index, value in enumerate(values):
        before = values[index - 1].end if index else start
        bound = max([before, *(edge for edge in edges if edge <= value.start and text[edge - 1 : edge] != ":")])
        label = tuple(token.word for token in spoken if bound <= token.start and token.end <= value.start)
        if not label and bound > start and before <= bound:  # "The mean, over all points, 12.3"
            label = tuple(token.word for token in spoken if before <= token.start and token.end <= value.start)
        context = (everything - frozenset(label)) | above
        if label:
            yield Fact("phrase", label[-6:], value.start, value.end, (), context)
        following = values[index + 1].start if index + 1 < len(values) else end
        stop = min([following, *(edge for edge in edges if edge > value.end)])
        behind = _behind(text, value.end, stop)
        if behind:
            yield Fact("after", behind, value.start, value.end, (), context)
    yield from _ranges(text, values, everything | above)
    yield from _is(text, start, end, above)


def _behind(text: str, start: int, stop: int) -> tuple[str, ...]:
    """The noun right behind a number: "3 anomalies at ..." counts anomalies."""
    run: list[Token] = []
    for token in tokens(text, start, stop):
        if token.word in STOP or len(run) == 3:
            break
        run.append(token)
    return tuple(token.word for token in canonical(run))


def _values(text: str, start: int, end: int) -> list[Value]:
    """Numbers, dates, small number words and ids, none inside another."""
    found: list[Value] = []
    for value in [
        *dates(text, start, end),
        *_ids(text, start, end),
        *numbers(text, start, end),
        *small_numbers(text, start, end),
    ]:
        if not any(value.start < other.end and other.start < value.end for other in found):
            found.append(value)
    return sorted(found, key=lambda value: value.start)


def _ids(text: str, start: int, end: int) -> Iterator[Value]:
    for match in _ID.finditer(text, start, end):
        if not re.fullmatch(r"[pPqQ]\d{1,2}|\d+(?:st|nd|rd|th)", match.group()):  # p90 and q1 are labels
            yield Value(match.group(), match.start(), match.end())


def _ranges(text: str, values: list[Value], context: frozenset[str]) -> Iterator[Fact]:
    """ "ranges from 1.2 to 9.8": the lowest and the highest stand there."""
    for low, high in pairwise(values):
        between = text[low.end : high.start].strip().lower()
        if between in ("to", "and", "-", "\u2013", "..", "...") and _RANGE.search(
            text[max(0, low.start - _PROSE) : low.start]
        ):
            yield Fact("phrase", ("min",), low.start, low.end, (), context)
            yield Fact("phrase", ("max",), high.start, high.end, (), context)


def _is(text: str, start: int, end: int, above: frozenset[str]) -> Iterator[Fact]:
    for match in _IS.finditer(text, start, end):
        label = tuple(token.word for token in canonical(tokens(text, start, match.start())))
        stop = end
        clause = re.search(r"[.;!?](?=\s|$)|,\s(?:and|but|while|with)\b", text[match.end() : end])
        if clause:
            stop = match.end() + clause.start()
        first, last = match.end(), len(text[:stop].rstrip())
        if label and first < last:
            yield Fact("is", label[-6:], first, last, (), above)

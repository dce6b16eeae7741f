"""See the shape of a text: its lines, its tables, its sentences.

Tables show by bars, by commas, tabs or semicolons that come out even, or by wide gaps that line up. A line without
end is cut into pieces, so that what compares the parts of a line with each other has a bounded number of them.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

_GAP = re.compile(r"\t+| {2,}")
_RULE = re.compile(r"^[\s|:+=_-]+$")
_LONGEST_LINE = 2_000
_LONGEST_SENTENCE = 1_000  # to either side of a place
_SIGNS = ("|", "\t", ";", ",", "")  # that part the columns of a table; none: wide gaps
_MOST_RULES = 3  # that follow each other in a table


class Stretch(NamedTuple):
    """A line without its end, or a cell of a table."""

    text: str
    start: int
    end: int


class Table(NamedTuple):
    """A heading row and the rows below it."""

    header: tuple[Stretch, ...]
    rows: tuple[tuple[Stretch, ...], ...]
    start: int
    end: int
    loose: bool  # two columns parted by gaps alone: as likely a list of labels and values


@lru_cache(maxsize=32)
def lines(text: str) -> tuple[Stretch, ...]:
    """All lines with their places."""
    found: list[Stretch] = []
    at = 0
    for line in text.split("\n"):
        for first, last in _cuts(line):
            piece = line[first:last].rstrip("\r")
            found.append(Stretch(piece, at + first, at + first + len(piece)))
        at += len(line) + 1
    return tuple(found)


def _cuts(line: str) -> Iterator[tuple[int, int]]:
    """The whole line; pieces of it, parted at blanks where there are any, when it is too long."""
    first = 0
    while len(line) - first > _LONGEST_LINE:
        blank = line.rfind(" ", first + 1, first + _LONGEST_LINE)
        last = first + _LONGEST_LINE if blank < 0 else blank
        yield first, last
        first = last
    yield first, len(line)


def _cells(line: Stretch, cuts: Iterable[tuple[int, int]]) -> tuple[Stretch, ...]:
    """A line cut at these places, each piece with its own, blanks trimmed."""
    cells: list[Stretch] = []
    at = 0
    for stop, following in [*cuts, (len(line.text), len(line.text))]:
        piece = line.text[at:stop]
        lead = len(piece) - len(piece.lstrip(' "'))
        body = piece.strip(' "')
        cells.append(Stretch(body, line.start + at + lead, line.start + at + lead + len(body)))
        at = following
    return tuple(cells)


def gap_cells(line: Stretch) -> tuple[Stretch, ...]:
    """A line cut at its wide gaps."""
    return tuple(cell for cell in _cells(line, (match.span() for match in _GAP.finditer(line.text))) if cell.text)


def _split(line: Stretch, sign: str) -> tuple[Stretch, ...]:
    """A line cut at every such sign that is not inside quotes; at its wide gaps, when there is no sign."""
    if not sign:
        return gap_cells(line)
    quotes, cuts = line.text.count('"'), []
    for at, char in enumerate(line.text):
        if char == '"':
            quotes -= 1
        elif char == sign and quotes % 2 == 0:
            cuts.append((at, at + 1))
    cells, bare = _cells(line, cuts), line.text.strip()
    outer = sign == "|"
    return cells[outer and bare.startswith("|") : len(cells) - (outer and bare.endswith("|"))]


def is_rule(line: str) -> bool:
    """A line that only draws."""
    return bool(_RULE.match(line)) and len(line.strip()) > 1


@lru_cache(maxsize=32)
def tables(text: str) -> tuple[Table, ...]:
    """All tables that show themselves by their shape."""
    rows = lines(text)
    found: list[Table] = []
    at = 0
    while at < len(rows):
        table, used = next((grown for sign in _SIGNS if (grown := _table_at(rows, at, sign))[0]), (None, 1))
        if table is not None:
            found.append(table)
        at += used
    return tuple(found)


def _table_at(rows: tuple[Stretch, ...], at: int, sign: str) -> tuple[Table | None, int]:
    """The table that a line heads, when this sign parts its columns, and how many lines it has."""
    if sign not in rows[at].text:
        return None, 1
    header = _split(rows[at], sign)
    if len(header) < 2 or not _heads(rows[at].text, header, sign):
        return None, 1
    body: list[tuple[Stretch, ...]] = []
    last, rules = at, 0
    for number in range(at + 1, len(rows)):
        row = rows[number]
        rules = rules + 1 if is_rule(row.text) else 0
        if not 0 < rules <= _MOST_RULES:
            cells = _split(row, sign)
            if rules or len(cells) < 2 or (sign != "|" and len(cells) != len(header)):
                break
            body.append(cells)
        last = number
    listed = any(not re.search(r"\d", row[0].text) and re.search(r"\d", row[1].text) for row in body)
    loose = not sign and len(header) == 2 and listed
    return Table(header, tuple(body), rows[at].start, rows[last].end, loose) if body else None, last - at + 1


def _heads(line: str, header: tuple[Stretch, ...], sign: str) -> bool:
    """Whether a line may be a heading: words, and no sentence."""
    if sign == "|":
        return True
    if any(not cell.text or re.search(r"\d{2}|[!?:]$|\w{4,}\.$|\w \w+ \w+ \w+\.$", cell.text) for cell in header):
        return False
    prose = sign == "," and len(header) == 2 and ", " in line  # "Springfield, Ohio" is no heading
    long = any(len(cell.text) > 30 for cell in header) or re.search(r"\d,\d{3}\b|\. |: ", line)
    return not sign or not (prose or long)


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence (or line) that holds a place, blanks trimmed."""
    low, high = max(0, start - _LONGEST_SENTENCE), min(len(text), end + _LONGEST_SENTENCE)
    ends = [low, *(low + match.end() for match in re.finditer(r"\n|[.!?]\s", text[low:start]))]
    close = re.compile(r"(?=\n)|[.!?](?=\s|$)").search(text, end, high)
    first, last = min(ends[-1], start), close.end() if close else high
    while first < start and text[first].isspace():
        first += 1
    while last > end and text[last - 1].isspace():
        last -= 1
    return first, last

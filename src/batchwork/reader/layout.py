"""See the shape of a text: its lines, what stands above them, and its tables.

Tables are told by bars, by commas, tabs or semicolons that come out even, or by wide gaps that line up.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

_GAP = re.compile(r"\t+| {2,}")
_RULE = re.compile(r"^[\s|:+=_-]+$")
_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")


class Cell(NamedTuple):
    """A stretch of text in a table."""

    text: str
    start: int
    end: int


class Line(NamedTuple):
    """One line without its end."""

    text: str
    start: int
    end: int


Splitter = Callable[[Line], tuple[Cell, ...]]


class Table(NamedTuple):
    """A heading row and the rows below it."""

    header: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    start: int
    end: int
    loose: bool = False
    """Two columns told by gaps alone: as likely a list of labels and values."""


@lru_cache(maxsize=32)
def lines(text: str) -> tuple[Line, ...]:
    """All lines with their places."""
    found: list[Line] = []
    at = 0
    for line in text.split("\n"):
        found.append(Line(line.rstrip("\r"), at, at + len(line.rstrip("\r"))))
        at += len(line) + 1
    return tuple(found)


@lru_cache(maxsize=32)
def headings(text: str) -> tuple[tuple[str, ...], ...]:
    """For every line, the titles it stands under, outermost first."""
    stack: dict[int, str] = {}
    above: list[tuple[str, ...]] = []
    rows = lines(text)
    for number, line in enumerate(rows):
        bare = line.text.strip()
        marked = _HEADING.match(bare)
        if marked:
            level = len(marked[1])
            stack = {depth: title for depth, title in stack.items() if depth < level} | {level: marked[2]}
        elif _is_title(bare, rows[number + 1].text if number + 1 < len(rows) else ""):
            stack = {depth: title for depth, title in stack.items() if depth < 7} | {7: bare.rstrip(":")}
        elif (
            not bare
            and (number + 2 < len(rows))
            and 7 in stack
            and not rows[number + 1].text.startswith((" ", "-", "*", "|"))
        ):
            stack = {depth: title for depth, title in stack.items() if depth < 7}
        above.append(tuple(stack[depth] for depth in sorted(stack)))
    return tuple(above)


def _is_title(bare: str, following: str) -> bool:
    if not bare or len(bare) > 60 or not following.strip():
        return False
    if bare.endswith(":"):
        return ": " not in bare and len(bare.split()) <= 6
    return bool(re.fullmatch(r"(?:[A-Z][\w-]*)(?: (?:[A-Z\d][\w-]*|of|and))?(?: [A-Z\d][\w-]*){0,2}", bare)) and (
        ":" in following or "=" in following
    )


def cells_by(line: Line, pattern: re.Pattern[str]) -> tuple[Cell, ...]:
    """A line cut at every match, each piece with its place, blanks trimmed."""
    cells: list[Cell] = []
    at = 0
    for match in [*pattern.finditer(line.text), None]:
        stop = len(line.text) if match is None else match.start()
        piece = line.text[at:stop]
        lead = len(piece) - len(piece.lstrip(' "'))
        body = piece.strip(' "')
        cells.append(Cell(body, line.start + at + lead, line.start + at + lead + len(body)))
        at = stop if match is None else match.end()
    return tuple(cells)


def gap_cells(line: Line) -> tuple[Cell, ...]:
    """A line cut at its wide gaps."""
    return tuple(cell for cell in cells_by(line, _GAP) if cell.text)


_BAR, _CSV = (
    re.compile(r"\|"),
    {sign: re.compile(re.escape(sign) + r"(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)") for sign in ",;\t"},
)


def _bar_cells(line: Line) -> tuple[Cell, ...]:
    cells = cells_by(line, _BAR)
    inner = line.text.strip()
    if inner.startswith("|"):
        cells = cells[1:]
    return cells[:-1] if inner.endswith("|") else cells


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
        table, used = _table_at(rows, at)
        if table is not None:
            found.append(table)
            at += used
        else:
            at += 1
    return tuple(found)


def _table_at(rows: tuple[Line, ...], at: int) -> tuple[Table | None, int]:
    line = rows[at]
    if line.text.count("|") >= 1 and len(_bar_cells(line)) >= 2:
        return _grown(rows, at, _bar_cells, even=False)
    for sign in "\t;,":
        if sign in line.text and not re.search(r"\d,\d{3}\b|\. |: ", line.text):
            width = len(cells_by(line, _CSV[sign]))
            table, used = _grown(rows, at, lambda row, s=sign: cells_by(row, _CSV[s]), even=True)  # type: ignore[misc]
            prose = sign == "," and width == 2 and ", " in line.text  # "Springfield, Ohio" is no heading
            if table is not None and width >= 2 and _titled(table) and not prose:
                return table, used
    if len(gap_cells(line)) >= 2 and _wordy(gap_cells(line)):
        table, used = _grown(rows, at, gap_cells, even=True)
        if table is not None:
            return table._replace(loose=len(table.header) == 2 and _is_list(table)), used
    return None, 1


def _is_list(table: Table) -> bool:
    """Whether the rows are words and then a value, as in a list of labels."""
    return any(not re.search(r"\d", row[0].text) and re.search(r"\d", row[1].text) for row in table.rows)


def _titled(table: Table) -> bool:
    return _wordy(table.header) and all(len(cell.text) <= 30 for cell in table.header)


def _wordy(cells: tuple[Cell, ...]) -> bool:
    return all(cell.text and not re.search(r"\d{2}|[!?:]$|\w{4,}\.$|\w \w+ \w+ \w+\.$", cell.text) for cell in cells)


def _grown(rows: tuple[Line, ...], at: int, split: "Splitter", *, even: bool) -> tuple[Table | None, int]:
    header = split(rows[at])
    body: list[tuple[Cell, ...]] = []
    last = at
    for number in range(at + 1, len(rows)):
        row = rows[number]
        if is_rule(row.text):
            last = number
            continue
        if not row.text.strip():
            break
        cells = split(row)
        if len(cells) < 2 or (even and len(cells) != len(header)):
            break
        body.append(cells)
        last = number
    if not body:
        return None, 1
    return Table(header, tuple(body), rows[at].start, rows[last].end), last - at + 1


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence (or line) that holds a place, blanks trimmed."""
    first = start
    while first > 0 and text[first - 1] != "\n" and not re.match(r"[.!?]\s", text[first - 1 : first + 1]):
        first -= 1
    last = end
    while last < len(text) and text[last] != "\n" and not re.match(r"[.!?](?:\s|$)", text[last : last + 2]):
        last += 1
    if last < len(text) and text[last] in ".!?":
        last += 1
    while first < start and text[first].isspace():
        first += 1
    while last > end and text[last - 1].isspace():
        last -= 1
    return first, last

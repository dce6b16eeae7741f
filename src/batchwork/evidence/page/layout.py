"""Text -> lines, cells, tables and headings: what stands beside, above and below what.

Works on characters alone, so it is the same for a PDF (whose columns our extraction keeps), a plain text with aligned
columns, a Markdown or HTML table and prose.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache

from batchwork.evidence.page.separated import Separated, pieces, separated
from batchwork.evidence.reading.months import MONTHS
from batchwork.evidence.vocabulary.words import fold, looks_like_name

_SEPARATOR = re.compile(r"\t+| {2,}(?:\.{3,} *)?| ?\.{3,} ?| ?…+ ?| ?_{3,} ?")
_PIPE = re.compile(r"[ \t]*[|│┃║][ \t]*")
_RULE = re.compile(r"[\s\-=_+|:.*~─━═│┃┼╪╬┌┐└┘├┤┬┴]*")
_HEADING_MARK = re.compile(
    r"\s*(?:#{1,6}\s+\S|(?:\d{1,2}(?:\.\d{1,2})*\.?|[IVX]{1,5}\.|[A-H]\.|§\s?\d+|Section \d+\b.?)\s+[A-ZÀ-Þ])"
)
_LETTER = re.compile(r"[^\W\d_]")
_NUMBERISH = re.compile(
    r"^(?!.*%\s?[^\W\d_]{2})[\s(\[]*(?:[-−–+]?\s?(?:(?:USD|EUR|GBP|CHF|CAD|AUD|JPY|SEK|NOK|DKK|PLN|INR)\s?|(?:US|CA|A|C|R)?[$€£¥₹]\s?))?"
    r"[-−–+]?[(]?\d[\d\s.,'’/:%-]*(?:[%)\]€£$]|[A-Za-z]{1,4}\.?)?\s*$"
)
_SHARE_OF = re.compile(r"\d\s?%\s?[^\W\d_]{2}")  # "19 % VAT" is what the figure beside it is
_NUMBERED = re.compile(r"([A-Z][^\W\d_]{1,20}) (?:#|[Nn]o\.? ?)?\d{1,5}")
_OPENING = re.compile(r"(?:- )?[\"']?[\w.-]+[\"']?\s?(?:[:=]\s?[{\[]|:|[{])|<[\w:.-]+(?: [^<>]*)?>")
_SECTION = re.compile(r"\[{1,2}[\w][\w.:\" -]+\]{1,2}")
_ENTRY = re.compile(r"\d{1,3}[.)] \S|(?:\[ ?)?\{$|- ?[\w\"']|-$|<[\w:.-]+(?: [^<>]*[^/])?>$")
_LONGEST_KEY = 200  # characters
_INDEXED = re.compile(r"\s*([A-Za-z][\w.]*?(?:\[\d+\]|\.\d+))\.[\w.\[\]-]+\s*[:=]")
_CAPTION = 40
_INDENT = 6
_YEAR = re.compile(r"(?:FY ?)?(?:19|20)\d\d")
_NAME = 9  # the level of a name: it heads what follows but ends no section


@lru_cache(maxsize=50_000)
def _can_label(text: str) -> bool:
    return _LETTER.search(text) is not None and (_NUMBERISH.match(text) is None or _SHARE_OF.search(text) is not None)


@dataclass(slots=True)
class Cell:
    """One piece of a line between wide gaps; `column` and `until` are places in the line, `index` its rank."""

    start: int
    end: int
    column: int
    until: int
    index: int
    text: str

    @property
    def is_label(self) -> bool:
        """Whether it can be a label: words, and not a figure with a unit."""
        return _can_label(self.text)


@dataclass(slots=True)
class Line:
    """One line of the text; `cells` is empty for a blank line or a drawn rule."""

    start: int
    end: int
    cells: list[Cell]
    kind: str  # "blank", "rule", "text"
    tabbed: bool  # cells are told by their rank, not by their place


class Layout:
    """The lines of a text, and the questions one asks about them."""

    def __init__(self, text: str) -> None:
        self.text = text
        raw_lines = text.split("\n")
        self._separated = separated(raw_lines)
        self.lines = _lines(raw_lines, self._separated)
        self._starts = [line.start for line in self.lines]
        self.units: dict[str, dict[int, tuple[int, ...]]] = {}  # by kind, the unit of each line, found once

    @cached_property
    def plain(self) -> str:
        """The text with a tab for every separator of separated values, so that 12,60 are not one number."""
        if not self._separated.marks:
            return self.text
        chars = list(self.text)
        for number, mark in self._separated.marks.items():
            start = self.lines[number].start
            raw = self.text[start : self.lines[number].end]
            for _, high in pieces(raw, mark)[:-1]:
                chars[start + raw.index(mark, high)] = "\t"
        return "".join(chars)

    def line_of(self, offset: int) -> int:
        """The number of the line on which this offset lies."""
        return max(0, bisect_right(self._starts, offset) - 1)

    def cell_of(self, offset: int, line: int | None = None) -> Cell | None:
        """The cell that holds this offset."""
        number = self.line_of(offset) if line is None else line
        for cell in self.lines[number].cells:
            if offset < cell.end:
                return cell
        return None

    @cached_property
    def tables(self) -> list[int]:
        """For every line the number of its table's first line, or -1: lines with several cells, one below the other."""
        owner = [-1] * len(self.lines)
        first = -1
        for number, line in enumerate(self.lines):
            if number in self._separated.pairs:
                first = -1  # labels and values around the rows, not in their columns
            elif line.kind == "text" and len(line.cells) > 1:
                if first < 0 or self._heads_another(number):
                    first = number
                owner[number] = first
            elif (
                line.kind == "rule"
                or (first >= 0 and line.kind == "text" and self._continues(number))
                or (line.kind == "blank" and first >= 0 and self._goes_on_below(number))
            ):
                owner[number] = first
            else:
                first = -1
        return owner

    def _heads_another(self, number: int) -> bool:
        """Whether a row of words right below a narrower table is the head of one with more columns."""
        if number + 1 >= len(self.lines):
            return False
        above, line, below = self.lines[number - 1 : number + 2]
        if len(below.cells) != len(line.cells) or not 1 < len(above.cells) < len(line.cells):
            return False
        figures = [any(map(str.isdigit, self.text[row.start : row.end])) for row in (above, line, below)]
        return figures == [True, False, True] and all(cell.is_label for cell in line.cells)

    def _continues(self, number: int) -> bool:
        """Whether a line with one cell is the rest of a row above: indented as one of its cells, not a new start."""
        line, above = self.lines[number], self.lines[number - 1]
        if above.kind == "blank":
            return True  # the table was seen to go on below it
        if above.kind != "text" or not above.cells:
            return False
        cell = line.cells[0]
        below = self.lines[number + 1] if number + 1 < len(self.lines) else None
        if below is not None and len(below.cells) > 1 and cell.until - cell.column < 40:
            return not cell.text.endswith(":")
        return len(above.cells) > 1 and any(abs(cell.column - other.column) <= 1 for other in above.cells[1:])

    def _goes_on_below(self, number: int) -> bool:
        """Whether one blank line lies between rows of the same shape."""
        if number + 1 >= len(self.lines) or number == 0:
            return False
        above, below = self.lines[number - 1], self.lines[number + 1]
        captioned = _is_caption(below) and number + 2 < len(self.lines)
        if (captioned or _is_head(above)) and len(above.cells) > 1:
            return _stands_under(self.lines[number + 2] if captioned else below, above)
        if len(above.cells) < 3 or len(below.cells) < 2:
            return False
        if len(below.cells) == 2 and len(above.cells) > 3 and overlap(below.cells[0], above.cells[0]):
            return False  # a list of labels and values under a wider table
        aligned = sum(1 for cell in below.cells if any(overlap(cell, other) for other in above.cells))
        return aligned == len(below.cells) and any(not cell.is_label for cell in below.cells)

    @cached_property
    def headings(self) -> list[tuple[int, ...]]:
        """For every line the headings it stands under (line numbers, nearest first, at most two)."""
        under: list[tuple[int, ...]] = []
        stack: list[tuple[int, int]] = []  # level, line
        keys: list[tuple[int, int]] = []  # indentation, line
        for number, line in enumerate(self.lines):
            if line.cells:
                while keys and line.cells[0].column <= keys[-1][0]:
                    keys.pop()
                if self._opens_block(number):
                    under.append(tuple(key for _, key in reversed(keys))[:2])
                    keys.append((line.cells[0].column, number))
                    continue
            if keys:
                under.append(tuple(key for _, key in reversed(keys))[:2])
                continue
            level = self._heading_level(number)
            if line.kind == "blank" and stack and stack[-1][0] == _NAME:
                self._leave_address(stack)
            if level:
                while stack and stack[-1][0] >= level:
                    stack.pop()
            under.append(tuple(line for _, line in reversed(stack))[:2])
            if level:
                stack.append((level, number))
        return under

    @cached_property
    def part_starts(self) -> set[int]:
        """The lines that number the parts of a text, the same word each time: Lot 1, Lot 2."""
        numbered: dict[str, list[int]] = {}
        for number, line in enumerate(self.lines):
            found = _NUMBERED.fullmatch(line.cells[0].text) if len(line.cells) == 1 else None
            if found:
                numbered.setdefault(found[1], []).append(number)
        return {number for lines in numbered.values() if len(lines) > 1 for number in lines}

    @cached_property
    def entries(self) -> dict[int, int]:
        """The lines that start an element of a list (`{`, `- key:`, `<item>`, `1. Name`), and their indentation."""
        starts: dict[int, int] = {}
        for number, line in enumerate(self.lines[:-1]):
            if not line.cells or _ENTRY.match(line.cells[0].text) is None:
                continue
            below = self.lines[number + 1].cells
            if below and below[0].column > line.cells[0].column:
                starts[number] = line.cells[0].column
        return starts

    @cached_property
    def numbered_keys(self) -> dict[int, str]:
        """The lines whose key has an index in it, up to that: `items[0]` of `items[0].name = Bolt`."""
        ends = [min(line.end, line.start + _LONGEST_KEY) for line in self.lines]
        heads = (
            (number, _INDEXED.match(self.text, line.start, ends[number])) for number, line in enumerate(self.lines)
        )
        return {number: found[1] for number, found in heads if found}

    @cached_property
    def section_starts(self) -> set[int]:
        """The lines that head a section, names apart."""
        return {number for number in range(len(self.lines)) if 0 < self._heading_level(number) < _NAME}

    def _opens_block(self, number: int) -> bool:
        """Whether a line is a key, as programs write them, whose values are indented below it."""
        line = self.lines[number]
        if len(line.cells) != 1 or number + 1 >= len(self.lines) or _OPENING.fullmatch(line.cells[0].text) is None:
            return False
        below = self.lines[number + 1].cells
        return bool(below) and below[0].column > line.cells[0].column

    def _heads_rows(self, number: int) -> bool:
        """Whether a line of a table is the heading of the rows below it: a few words above labels with figures."""
        if self.tables[number] < 0 or self.tables[number] != self.tables[number - 1] or number + 1 >= len(self.lines):
            return False
        cell, row = self.lines[number].cells[0], self.lines[number + 1]
        if len(row.cells) < 2 or not _is_caption(self.lines[number]) or any(map(str.isdigit, cell.text)):
            return False
        first, *rest = row.cells
        titled = cell.text[:1].isupper() and first.text[:1].isupper() and first.is_label
        return titled and 0 <= first.column - cell.column <= _INDENT and not any(other.is_label for other in rest)

    def _leave_address(self, stack: list[tuple[int, int]]) -> None:
        """After the lines under a name: a heading that stood right above the name was about these alone."""
        _, name = stack.pop()
        if stack and all(line.kind == "blank" for line in self.lines[stack[-1][1] + 1 : name]):
            stack.pop()

    def _heading_level(self, number: int) -> int:
        line = self.lines[number]
        if line.kind != "text" or len(line.cells) != 1:
            return 0
        cell = line.cells[0]
        text = cell.text
        if len(text) > 70:
            return 0
        if text.startswith("#"):
            return len(text) - len(text.lstrip("#"))
        below = self.lines[number + 1] if number + 1 < len(self.lines) else None
        above_blank = number == 0 or self.lines[number - 1].kind != "text"
        if text.endswith((".", ",", ";")) or _LETTER.search(text) is None:
            return 0
        if text.endswith(":") and below is not None:
            return 8
        if text[0] == "[" and _SECTION.fullmatch(text):
            return 5
        if _HEADING_MARK.match(text) and above_blank and ":" not in text and not _is_sentence(text):
            return 5
        if below is not None and below.kind == "rule":
            return 4
        if self._heads_rows(number):
            return 7
        if above_blank and number in self.part_starts:
            return 6
        if text.isupper() and above_blank and len(text) > 3 and not any(map(str.isdigit, text)):
            return 6
        wordy = text[0].isupper() and len(text.split()) <= 6 and ":" not in text and not any(map(str.isdigit, text))
        if not (above_blank and wordy and below is not None):
            return 0
        return _NAME if looks_like_name(text) else 7


def _is_caption(line: Line) -> bool:
    """Whether a line is a few words that may head the next rows of a table."""
    return len(line.cells) == 1 and line.cells[0].is_label and len(line.cells[0].text) < _CAPTION


def _is_head(line: Line) -> bool:
    """Whether every cell of a line can head a column: words or a year."""
    return all(cell.is_label or _YEAR.fullmatch(cell.text) for cell in line.cells)


def _stands_under(row: Line, above: Line) -> bool:
    """Whether a row's figures, all of them and more than one, stand in the columns of a line above."""
    figures = [cell for cell in row.cells if not cell.is_label]
    return len(figures) > 1 and all(any(overlap(cell, other) for other in above.cells) for cell in figures)


def _is_sentence(text: str) -> bool:
    """Whether what starts with a number like a heading goes on as a sentence, or is a date."""
    words = text.split()
    return ". " in text.lstrip("0123456789. ") or (len(words) > 1 and fold(words[1].rstrip(".,")) in MONTHS)


def overlap(one: Cell, other: Cell) -> bool:
    """Whether two cells of different lines stand in the same column."""
    return one.column < other.until and other.column < one.until


def _lines(raw_lines: list[str], separation: Separated) -> list[Line]:
    lines: list[Line] = []
    start = 0
    for number, raw in enumerate(raw_lines):
        end = start + len(raw)
        if not raw.strip():
            lines.append(Line(start, end, [], "blank", False))
        elif _RULE.fullmatch(raw):
            lines.append(Line(start, end, [], "rule", False))
        else:
            mark = separation.marks.get(number)
            piped = mark is None and _has_pipes(raw)
            cells = _cells(raw, start, piped, mark)
            lines.append(Line(start, end, cells, "text", piped or mark is not None or "\t" in raw))
        start = end + 1
    return lines


def _has_pipes(raw: str) -> bool:
    pipes = sum(raw.count(pipe) for pipe in "|│┃║")
    return pipes >= 2 or (pipes == 1 and bool(re.search(r"\S [|│] \S", raw)))


def _cells(raw: str, start: int, piped: bool, mark: str | None) -> list[Cell]:
    places = pieces(raw, mark) if mark is not None else _between_gaps(raw, piped)
    cells: list[Cell] = []
    by_rank = piped or mark is not None or "\t" in raw
    for index, (first, last) in enumerate(places):
        text = raw[first:last].strip()
        if text:
            low = raw.index(text, first)
            high = low + len(text)
            column, until = (index * 20, index * 20 + 10) if by_rank else (low, high)
            cells.append(Cell(start + low, start + high, column, until, index, text))
    return cells


def _between_gaps(raw: str, piped: bool) -> list[tuple[int, int]]:
    """Where the cells of a line stand that wide gaps, tabs or drawn lines divide."""
    places: list[tuple[int, int]] = []
    position = 0
    for gap in (_PIPE if piped else _SEPARATOR).finditer(raw):
        places.append((position, gap.start()))
        if not piped and gap.group().count("\t") > 1:
            places.extend([(gap.end(), gap.end())] * (gap.group().count("\t") - 1))
        position = gap.end()
    places.append((position, len(raw)))
    return places[1:] if piped and places[0][0] == places[0][1] else places

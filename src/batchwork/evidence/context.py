"""What labels a place in the text has: beside, above and below it, in headings, and in the sentence around it.

A label is worth more the nearer it stands. `primary` are the labels that name the role of exactly this place; a word
in them that belongs to another role speaks against a field.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from batchwork.evidence.layout import Cell, Layout, overlap
from batchwork.evidence.words import concepts

_CLAUSE_END = re.compile(r"(?<!\bNo|\bno|\bNr|\bAm|\bDr)[.!?]\s+(?=[^a-z\s\d])|;\s|[•▪‣]\s?|(?<=\s)(?:whereas|while)\s")
_LABEL_END = re.compile(r"[:=#?]\s*[\"'“(\[]*$|\s[-–—]\s*$")
_PIECE = re.compile(r"[,;](?!\d)|[()\[\]]|\s[-–—]\s|(?<=[a-z\d)])\.\s|:\s")
_PIECES = re.compile(f"({_PIECE.pattern})")
_BULLET = re.compile(r"^[\s>*•▪‣+\-–\[\](){}\"'“”xX✓✔☑☐☒\d.]*$")
_DEFINED = re.compile(
    r",?\s*\((?:the |each an? |an? |hereinafter |hereafter |collectively |referred to as |as |\s)*"
    r"[\"'“”‘’„«]?([A-Z][\w ]{2,30}?)[\"'“”‘’»]?\)"
)
_RANGE_BEHIND = re.compile(
    r"\s*(?:to|until|through|till|bis|au|al|a|–|—|-|/)\s+(?:the\s+)?(?:[$€£]\s?)?(?:[A-Z][a-zé]{2,9}\.? )?\d"
)
_RANGE_BEFORE = re.compile(r"\d[\w%]*\s*(?:to|until|through|till|bis|au|al|–|—|-)\s+(?:the\s+)?$")
_BETWEEN = re.compile(r"\b(?:between|zwischen|entre)\s+$", re.IGNORECASE)
_BETWEEN_AND = re.compile(r"\b(?:between|zwischen|entre)\s+\S*\d[^.;]*?\s(?:and|und|et|y)\s+$", re.IGNORECASE)
_AFTER_END = re.compile(r"[.;,:]\s|\n\n|[;(]|\s(?:and|but|while|or|und|aber|et|mais|y)\s")
_ASIDE = re.compile(r"\([^()]*\)")
_SAYS = re.compile(r":\s*\S|\d{2}|[.!;,]$")  # a cell that says something is no mere label
_WORDS_FULL = 4
_FADE = 0.86
_FAINTEST = 0.25
_FAR = 52  # a gap wider than this is more likely white space between two things than between label and value
_FLOWING = 38  # a line at least this long goes on in the next one


@dataclass(frozen=True, slots=True)
class Label:
    """Some words near a place; `weights` says what each concept is worth there."""

    kind: str  # inline, after, left, row, above, below, section
    weights: dict[str, float]
    text: str

    @property
    def key(self) -> tuple[str, ...]:
        """Its concepts, for comparing labels."""
        return tuple(self.weights)


@dataclass(frozen=True, slots=True)
class Context:
    """All labels of one place."""

    line: int
    labels: tuple[Label, ...]
    primary: tuple[Label, ...]
    free: bool  # nothing names its role: no label beside it, no heading above it
    weights: dict[str, float]  # for each concept the most that any label makes of it


def _context(line: int, labels: list[Label], primary: list[Label]) -> Context:
    best: dict[str, float] = {}
    for label in labels:
        for word, weight in label.weights.items():
            if weight > best.get(word, 0.0):
                best[word] = weight
    free = not any(label.weights for label in primary)
    return Context(line, tuple(labels), tuple(primary), free, best)


class Contexts:
    """Finds the labels of places in one layout, each once."""

    def __init__(self, layout: Layout, values: set[int]) -> None:
        self._layout = layout
        self._values = values  # lines on which a number or a date stands, to tell headings from rows
        self._known: dict[tuple[int, int], Context] = {}
        self._heads: dict[int, tuple[int, list[Cell]]] = {}  # by the first line of their table

    def of(self, start: int, end: int) -> Context:
        """The labels of the place from `start` to `end`."""
        known = self._known.get((start, end))
        if known is None:
            known = self._known[start, end] = self._find(start, end)
        return known

    def _find(self, start: int, end: int) -> Context:
        layout = self._layout
        number = layout.line_of(start)
        cell = layout.cell_of(start, number)
        if cell is None:
            return _context(number, [], [])
        labels: list[Label] = []
        primary: list[Label] = []
        inline = self._inline(number, cell, start)
        if inline is not None:
            labels.append(inline)
        named = inline is not None and bool(_LABEL_END.search(inline.text) or len(layout.lines[number].cells) > 1)
        if named and inline is not None:
            primary.append(_last_piece(inline))
        named_behind = self._named_behind(end)
        if named_behind is not None:
            labels.append(named_behind)
            primary[:] = [named_behind]
            named = True
        labels.extend(self._range_end(start, end))
        behind = self._after(cell, end)
        if behind is not None:
            labels.append(behind)
        starts_cell = _BULLET.match(layout.text[cell.start : start]) is not None
        for label in self._beside(number, cell, starts_cell):
            labels.append(label)
            if label.kind == "left" and inline is None and label.key and max(label.weights.values()) > 0.7:
                primary.append(label)
        head = self._above(number, cell, inline is not None)
        if head is not None:
            labels.append(head)
            if inline is None or not named:
                if cell.is_label and self._is_beside_its_like(number, cell):
                    primary = [label for label in primary if label.kind != "left"]
                primary.append(head)
        signed = self._over_rule(number)
        if inline is None and (signed or not primary):
            below = self._below(number, cell)
            if below is not None:
                labels.append(below)
                primary = [below] if signed else [*primary, below]
        for rank, heading in enumerate(layout.headings[number]):
            text = layout.lines[heading].cells[0].text
            near = number - heading <= 2 and inline is None
            weight = (0.9 if near and text.endswith(":") else 0.8 if near else 0.6) - 0.2 * rank
            section = _label("section", text, weight)
            labels.append(section)
            if near and not primary and rank == 0:
                primary.append(section)
        if not primary and inline is not None:
            primary.append(_last_piece(inline))
        return _context(number, labels, primary)

    def _inline(self, number: int, cell: Cell, start: int) -> Label | None:
        """The words before the place in its cell, in prose also those of the lines before."""
        text = self._layout.text
        begin = cell.start
        lines = self._layout.lines
        above = number - 1
        while (
            above >= 0
            and number - above <= 3
            and len(lines[above].cells) == 1
            and lines[above].end - lines[above].start >= _FLOWING
            and len(lines[number].cells) == 1
            and not lines[above].cells[0].text.endswith((":", "."))
        ):
            begin = lines[above].cells[0].start
            above -= 1
        before = text[begin:start]
        for found in list(_CLAUSE_END.finditer(before)):
            before = text[begin + found.end() : start]
        if _BULLET.match(before):
            return None
        return _faded("inline", before[-200:])

    def _after(self, cell: Cell, end: int) -> Label | None:
        text = self._layout.text[end : min(cell.end, end + 60)]
        if not text and end >= cell.end and self._is_prose(cell):
            text = self._layout.text[end : end + 40]
        text = _AFTER_END.split(text, maxsplit=1)[0]
        words = tuple(takewhile(lambda word: not word.isdigit() or _is_year(word), concepts(text)))[:5]
        if not words:
            return None
        weights: dict[str, float] = {}
        for rank, word in enumerate(words):
            weights.setdefault(word, (0.9, 0.8, 0.7, 0.5, 0.35)[rank])
        return Label("after", weights, text)

    def _range_end(self, start: int, end: int) -> Iterator[Label]:
        """Which end of a range from-to the place is, for what is called a start, an end, a minimum or a maximum."""
        text = self._layout.text
        if _RANGE_BEHIND.match(text, end):
            yield Label("range", {"start": 0.85, "minimum": 0.85, "low": 0.85}, "")
        elif _BETWEEN.search(text[max(0, start - 12) : start]):
            yield Label("range", {"start": 0.85, "minimum": 0.85, "low": 0.85}, "")
        elif _RANGE_BEFORE.search(text[max(0, start - 12) : start]) or _BETWEEN_AND.search(
            text[max(0, start - 40) : start]
        ):
            yield Label("range", {"end": 0.85, "maximum": 0.85, "high": 0.85}, "")

    def _named_behind(self, end: int) -> Label | None:
        """The name that a contract gives to what it just said: `(the "Tenant")`, `(hereinafter Buyer)`."""
        found = _DEFINED.match(self._layout.text, end)
        return _label("defined", found[1], 1.0) if found else None

    def _is_prose(self, cell: Cell) -> bool:
        return cell.end - cell.start >= _FLOWING

    def _beside(self, number: int, cell: Cell, starts_cell: bool) -> Iterator[Label]:
        cells = self._layout.lines[number].cells
        lefts = [other for other in cells if other.start < cell.start and other.is_label]
        if lefts and starts_cell:
            nearest = lefts[-1]
            between = [other for other in cells if nearest.start < other.start < cell.start]
            if between and nearest.text.endswith(":"):
                return  # that label has its value already
            far = cell.column - nearest.until > _FAR
            yield _label("left", nearest.text, 0.6 if far else 1.0 if not between else 0.85)
        if len(lefts) > 1 or (lefts and not starts_cell):
            yield _label("row", lefts[0].text, 0.85)

    def head_row(self, number: int) -> list[Cell]:
        """The heading cells of the table in which a line stands; empty when it has none."""
        first = self._layout.tables[number]
        if first < 0:
            return []
        known = self._heads.get(first)
        if known is None:
            known = self._heads[first] = self._find_head(first)
        line, cells = known
        return cells if line < number else []

    def _find_head(self, first: int) -> tuple[int, list[Cell]]:
        """The heading row of the table that starts at a line: the fullest row of labels before rules and values."""
        rows: list[int] = []
        for number in range(first, len(self._layout.lines)):
            line = self._layout.lines[number]
            if self._layout.tables[number] != first or (line.kind == "rule" and rows):
                break
            if len(line.cells) < 2:
                continue
            if not all(_can_head(cell) for cell in line.cells):
                break
            rows.append(number)
            if len(rows) > 3:
                rows = rows[:1]  # a table of words: the first row heads the others
                break
        if not rows:
            return -1, []
        head = max(rows, key=lambda number: (len(self._layout.lines[number].cells), -number))
        return head, list(self._layout.lines[head].cells)

    def is_heading(self, cell: Cell) -> bool:
        """Whether a cell with words stands right above a value in its column, as labels in forms do."""
        number = self._layout.line_of(cell.start)
        lines = self._layout.lines
        if number + 1 >= len(lines) or len(lines[number].cells) < 2 or not self._is_label_line(number):
            return False
        return any(overlap(cell, other) and not other.is_label for other in lines[number + 1].cells) or (
            number + 1 in self._values and len(lines[number + 1].cells) >= len(lines[number].cells)
        )

    def _is_summary(self, number: int, head: list[Cell]) -> bool:
        """Whether a line below a table is a label with one value, such as a total, and no row of the table."""
        cells = self._layout.lines[number].cells
        return len(head) > 2 and len(cells) == 2 and cells[0].is_label and cells[0].column > head[0].until

    def _is_beside_its_like(self, number: int, cell: Cell) -> bool:
        """Whether what stands left of some words is no label but the same thing of another column."""
        lefts = [other for other in self._layout.lines[number].cells if other.until <= cell.column]
        if not lefts or lefts[-1].text.endswith(":"):
            return False
        return self._above(number, lefts[-1], has_inline=False) is not None

    def _over_rule(self, number: int) -> bool:
        """Whether the place stands on a line to be filled in, with its label underneath."""
        lines = self._layout.lines
        return (
            number + 1 < len(lines)
            and lines[number + 1].kind == "rule"
            and "_" in self._layout.text[lines[number + 1].start : lines[number + 1].end]
        )

    def _above(self, number: int, cell: Cell, has_inline: bool) -> Label | None:
        """The heading of the column, or the label that stands right above."""
        head = self.head_row(number)
        owner = column_of(head, cell) if head else None
        if owner is not None:
            return None if self._is_summary(number, head) else self._head_label(head, owner)
        if number == 0 or has_inline:
            return None
        above = number - 1
        lines = self._layout.lines
        if lines[above].kind == "rule" and above > 0:
            above -= 1
        for other in lines[above].cells:
            same = overlap(other, cell) or other.column == cell.column
            named = other.text.endswith(":") or self._is_label_line(above)
            if same and other.is_label and len(other.text) <= 45 and named:
                return _label("above", other.text, 0.9)
        return None

    def _is_label_line(self, number: int) -> bool:
        """Whether a line holds labels for the next one rather than values or a sentence of its own."""
        cells = self._layout.lines[number].cells
        return all(cell.is_label and len(cell.text.split()) <= 6 and not _SAYS.search(cell.text) for cell in cells)

    def _head_label(self, head: list[Cell], owner: int) -> Label:
        text = head[owner].text
        line = self._layout.line_of(head[owner].start)
        if line > 0 and self._layout.tables[line - 1] == self._layout.tables[line]:
            upper = [
                cell for cell in self._layout.lines[line - 1].cells if cell.is_label and overlap(cell, head[owner])
            ]
            text = " ".join([*(cell.text for cell in upper), text])  # a heading in two lines
        label = _label("above", text, 0.95)
        years = sorted((int(cell.text) for cell in head if _is_year(cell.text)), reverse=True)
        if len(years) > 1 and _is_year(head[owner].text):
            rank = years.index(int(head[owner].text))
            if rank < 2:
                label.weights[("current", "previous")[rank]] = 0.8
                label.weights["year"] = 0.8
        return label

    def _below(self, number: int, cell: Cell) -> Label | None:
        lines = self._layout.lines
        below = number + 1
        if below < len(lines) and lines[below].kind == "rule":
            below += 1
        if below >= len(lines) or not self._is_label_line(below):
            return None
        for other in lines[below].cells:
            if (overlap(other, cell) or other.column == cell.column) and len(other.text) <= 45:
                return _label("below", other.text, 0.75)
        return None


def column_of(head: list[Cell], cell: Cell) -> int | None:
    """Which heading cell a cell belongs to: the one it overlaps most, else the nearest one."""
    best, most = None, -6
    for index, other in enumerate(head):
        shared = min(other.until, cell.until) - max(other.column, cell.column)
        if shared > most:
            best, most = index, shared
    return best


def _can_head(cell: Cell) -> bool:
    """Whether a cell can be the heading of a column: words or a year, no value of its own and no colon."""
    if _is_year(cell.text):
        return True
    said = _ASIDE.sub("", cell.text)
    figures = [digits for digits in re.findall(r"\d{2,}", said) if not _is_year(digits)]
    return cell.is_label and not figures and not cell.text.endswith(":") and ": " not in cell.text


def _is_year(text: str) -> bool:
    return len(text) == 4 and text.isdigit() and text[:2] in ("19", "20")


def _label(kind: str, text: str, weight: float) -> Label:
    head = text.partition(": ")[0] if kind != "section" else text
    words = [word for word in concepts(head[:120]) if not word.isdigit() or _is_year(word)]
    return Label(kind, dict.fromkeys(words, weight), text)


def _faded(kind: str, text: str) -> Label | None:
    """Words before a place: the last few in full, those further away ever less, less again beyond a comma."""
    weights: dict[str, float] = {}
    weight = 1.0
    asides = _ASIDE.findall(text)
    outside = _ASIDE.sub(" ", text)
    if asides and concepts(outside):
        weights = dict.fromkeys((word for aside in asides[-1:] for word in concepts(aside)), 0.5)
    else:
        outside = text
    pieces = _PIECES.split(outside)  # and what separates them
    count = 0
    for rank, piece in enumerate(reversed(pieces)):
        if rank % 2:
            continue
        taken: list[str] = []
        digits = False
        for word in reversed(concepts(piece)):
            if word.isdigit() and not digits:
                # Another number stands here: the words right behind it are its own, those before it rather its label.
                for own in taken[-2:]:
                    weights[own] = min(weights[own], 0.5)
                weight, taken = weight * 0.75, []
            digits = word.isdigit()
            if digits and not _is_year(word):
                continue
            taken.append(word)
            worth = weight if count < _WORDS_FULL else weight * _FADE ** (count - _WORDS_FULL + 1)
            worth = max(worth, _FAINTEST)
            if worth > weights.get(word, 0.0):
                weights[word] = worth
            count += 1
        if piece.strip() and rank < len(pieces) - 1 and (rank > 0 or concepts(piece)):
            weight *= 0.9 if ":" in pieces[-rank - 2] else 0.6
    return Label(kind, weights, text) if weights else None


def _last_piece(label: Label) -> Label:
    """The part of an inline label that names the role: what follows the last comma or bracket."""
    text = label.text
    trimmed = _LABEL_END.sub("", text)
    outside = _ASIDE.sub(" ", trimmed)
    if concepts(outside):
        trimmed, text = outside, _ASIDE.sub(" ", text)
    pieces = [piece for piece in _PIECE.split(trimmed) if concepts(piece)]
    named = _LABEL_END.search(label.text) is not None
    words: list[str] = []
    for word in concepts(pieces[-1]) if pieces else ():
        if word.isdigit() and not _is_year(word):
            words = words if named else []  # in a sentence the words before another number are that one's
        else:
            words.append(word)
    return Label(label.kind if named else "prose", dict.fromkeys(words[-6:] if named else words[-3:], 1.0), text)

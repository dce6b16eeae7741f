"""What labels a place in the text has: beside, above and below it, in headings, and in the sentence around it.

A label is worth more the nearer it stands. `primary` are the labels that name the role of exactly this place; a word
in them that belongs to another role speaks against a field.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from batchwork.evidence.page.bounds import bounds_of
from batchwork.evidence.page.calculations import factor_label, without_operands
from batchwork.evidence.page.columns import Columns
from batchwork.evidence.page.keys import element_of, path_of
from batchwork.evidence.page.labels import (
    Label,
    after,
    currency,
    faded,
    is_named,
    is_whole,
    label_of,
    last_piece,
    named_behind,
)
from batchwork.evidence.page.layout import Cell, Layout
from batchwork.evidence.page.letters import letter_label
from batchwork.evidence.reading.months import MONTHS
from batchwork.evidence.vocabulary.lexicon import words
from batchwork.evidence.vocabulary.words import is_capitalised, looks_like_name, words_of

_CLAUSE_END = re.compile(r"(?<!\bNo|\bno|\bNr|\bAm|\bDr)[.!?]\s+(?=[^a-z\s\d])|;\s|[•▪‣]\s?|(?<=\s)(?:whereas|while)\s")
_KEYED = re.compile(r"[^\W\d_][\w ./&-]{0,30}:\s")  # a line that starts with a label of its own
_SAID = re.compile(r"\s\S+\s\S+\s\S+[.,;]$|^[^:]{2,30}:\s+\w")  # a sentence, or a label with its value
_DATELINE = re.compile(
    r"^[A-ZÀ-Þ][\w.]+(?:[ -][A-ZÀ-Þ][\w.]+){0,2},\s*(?:(?:le|den|am|el|il|the|on|lì)\s+)?$"
)  # Paris, le
_DATE_LENGTH = 28  # of the date that a line "Paris, le" ends with
_TO = words("to until till through bis au al a tot")
_BULLET = re.compile(r"^(?:#{1,6}\s)?[\s>*•▪‣+\-–\[\](){}\"'“”xX✓✔☑☐☒\d.]*$")
_CLAUSE_TITLE = re.compile(
    r"(?:\(?\d{1,2}(?:\.\d{1,2})*[.)]?|\(?[a-z]\)|[IVX]{1,5}[.)]|(?:Section|Article|Clause|Artikel|Art\.|§)\s?\d{1,3}\.?)\s+"
    r"\*{0,2}([A-ZÀ-Þ][^.:;\n]{2,40}?)[.:]\*{0,2}\s+(?=\S)"
)
_SENTENCE_END = re.compile(r"[.!?]\s+(?=[A-ZÀ-Þ])")
_PARAGRAPH = 10  # lines
_FAR = 52  # a gap wider than this is more likely white space between two things than between label and value
_OTHER_COLUMN = 40  # a heading that begins so much further right is not of this column
_REACH = 300  # characters; no label is further away, and lines can be endless
_OF_THE_RESULT = 0.6  # what a line's label is worth for a factor in its calculation
_SOON = 30  # characters to the end of its line
_FLOWING = 38  # a line at least this long goes on in the next one


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


def _is_other_end(before: str) -> bool:
    """Whether all that stands before a place is the other end of a range of dates, which has the same label."""
    said = words_of(before) if len(before) <= _DATE_LENGTH else []
    return len(said) > 1 and said[-1] in _TO and all(word.isdigit() or word in MONTHS for word in said[:-1])


class Contexts:
    """Finds the labels of places in one layout, each once."""

    def __init__(self, layout: Layout, values: set[int]) -> None:
        self._layout = layout
        self.columns = Columns(layout, values)
        self._known: dict[tuple[int, int], Context] = {}

    def of(self, start: int, end: int) -> Context:
        """The labels of the place from `start` to `end`."""
        known = self._known.get((start, end))
        if known is None:
            known = self._known[start, end] = self._find(start, end)
        return known

    def _find(self, start: int, end: int) -> Context:
        layout, columns = self._layout, self.columns
        number = layout.line_of(start)
        cell = layout.cell_of(start, number)
        if cell is None:
            return _context(number, [], [])
        element = element_of(layout.text, start, end)
        if element:
            return _context(number, element, element[:1])
        inline = self._inline(number, cell, start)
        labels: list[Label] = [inline] if inline is not None else []
        primary: list[Label] = []
        named = inline is not None and bool(is_named(inline.text) or len(layout.lines[number].cells) > 1)
        if named and inline is not None:
            primary.append(last_piece(inline))
        defined = named_behind(layout.text, end)
        if defined is not None:
            labels.append(defined)
            primary, named = [defined], True
        ends = list(bounds_of(layout.text, start, end))
        labels.extend(ends)
        labels.extend(currency(layout.text[start:end]))
        factor = list(factor_label(layout.text, cell.start, start))
        labels.extend(factor)
        behind = self._after(cell, start, end)
        if behind is not None and not any(label.kind == "range" and "low" in label.weights for label in ends):
            labels.append(behind)  # behind the lower end of a range stand the words of the upper one
        letter = letter_label(layout, number, start)
        labels.extend(letter)
        primary.extend(letter if named else ())
        told = without_operands(layout.text[cell.start : start])
        for label in self._beside(number, cell, starts_cell=_BULLET.match(told) is not None or _is_other_end(told)):
            labels.append(label_of(label.kind, label.text, _OF_THE_RESULT) if factor else label)
            if label.kind == "left" and inline is None and label.key and max(label.weights.values()) > 0.7:
                primary.append(label)
        head = columns.above(number, cell, inline is not None)
        if head is not None:
            labels.append(head)
            if inline is None or not named:
                if cell.is_label and columns.is_beside_its_like(number, cell):
                    primary = [label for label in primary if label.kind != "left"]
                primary.append(head)
        signed = columns.over_rule(number) or columns.captions_below(number)
        below = columns.below(number, cell) if inline is None and (signed or not primary) else None
        if below is not None:
            labels.append(below)
            primary = [below] if signed else [*primary, below]
        self._add_headings(number, cell, start, inline is None, labels, primary)
        if not primary and inline is not None and not any(label.kind == "to" for label in ends):
            primary.append(last_piece(inline))
        return _context(number, labels, primary)

    def _add_headings(
        self, number: int, cell: Cell, start: int, starts_cell: bool, labels: list[Label], primary: list[Label]
    ) -> None:
        group = self.columns.group_of(number)
        if group is not None:
            labels.append(label_of("section", group.text, 0.8))
        labels.extend(self._clause_title(number, start))
        path = list(path_of(self._layout, number))
        if path:
            labels.extend(path)
            return
        headings = [h for h in self._layout.headings[number] if group is None or h < self.columns.head_line(number)]
        for rank, heading in enumerate(headings):
            head = self._layout.lines[heading].cells[0]
            text = head.text
            letterhead = is_capitalised(text) and not any(line.cells for line in self._layout.lines[:heading])
            if letterhead or looks_like_name(text) or head.column - cell.column > _OTHER_COLUMN:
                continue
            near = number - heading <= 2 and starts_cell
            weight = (0.9 if near and text.endswith(":") else 0.8 if near else 0.6) - 0.2 * rank
            section = label_of("section", text.lstrip("# "), weight)
            labels.append(section)
            if near and not primary and rank == 0:
                primary.append(section)

    def _clause_title(self, number: int, start: int) -> Iterator[Label]:
        """The title at the start of a numbered paragraph, before its first sentence: "7. Security deposit. The ..."."""
        lines = self._layout.lines
        for above in range(number, max(-1, number - _PARAGRAPH), -1):
            if len(lines[above].cells) != 1:
                return
            cell = lines[above].cells[0]
            found = _CLAUSE_TITLE.match(cell.text)
            if found:
                told = self._layout.text[cell.start + found.end() : start]
                yield label_of("section", found[1], 0.5 if _SENTENCE_END.search(told) else 0.8)
                return

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
            and above not in self._layout.headings[number]
            and not lines[above].cells[0].text.endswith((":", "."))
            and not is_capitalised(lines[above].cells[0].text)
            and _KEYED.match(lines[above + 1].cells[0].text) is None
        ):
            begin = lines[above].cells[0].start
            above -= 1
        begin = max(begin, start - _REACH)
        before = text[begin:start]
        for found in list(_CLAUSE_END.finditer(before)):
            before = text[begin + found.end() : start]
        before = without_operands(before)
        if _BULLET.match(before) or (cell.end - start <= _DATE_LENGTH and _DATELINE.match(before)):
            return None
        return None if _is_other_end(before) else faded("inline", before[-200:])

    def _after(self, cell: Cell, start: int, end: int) -> Label | None:
        text = self._layout.text[end : min(cell.end, end + 60)]
        if len(text) < _SOON and cell.end - cell.start >= _FLOWING:
            text = self._layout.text[end : end + 60].split("\n\n")[0]  # a sentence that goes on in the next line
        figure = self._layout.text[end - 1 : end].isdigit()
        return after(text, figure=figure, whole=figure and is_whole(self._layout.text, start))

    def _beside(self, number: int, cell: Cell, starts_cell: bool) -> Iterator[Label]:
        cells = self._layout.lines[number].cells
        lefts = [o for o in cells if o.start < cell.start and o.is_label and not _SAID.search(o.text)]
        if lefts and starts_cell:
            nearest = lefts[-1]
            between = [other for other in cells if nearest.start < other.start < cell.start]
            if between and nearest.text.endswith(":"):
                return  # that label has its value already
            far = cell.column - nearest.until > _FAR and not self.columns.head_row(number)
            yield label_of("left", nearest.text, 0.6 if far else 1.0 if not between else 0.85)
        if len(lefts) > 1 or (lefts and not starts_cell):
            yield label_of("row", lefts[0].text, 0.85)

"""Where the words of a field stand in a text, and which other values stand beside them.

A label of the field beside another value contradicts: such values are its rivals.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

from batchwork.evidence.fields import Field
from batchwork.evidence.layout import Layout, unnumbered
from batchwork.evidence.numbers import Mention
from batchwork.evidence.readers import FIGURES, Source
from batchwork.evidence.rows import Home
from batchwork.evidence.thresholds import EXACTLY, MOST_RIVAL_LINES, PARAGRAPH
from batchwork.evidence.words import ConceptIndex, concepts

_EMPTY_BOX = re.compile(r"\[\s?\]|\(\s?\)|[☐□○]")


class Topics:
    """The lines of a text by the concepts they name."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._paragraphs: dict[int, tuple[int, int]] = {}
        self._shares: dict[tuple[str, ...], float] = {}

    def lines_with(self, word: str) -> list[int]:
        """The lines that name a concept, or one that is as good as it, in order."""
        return self._index.naming(word)

    def rarest(self, words: Sequence[str]) -> list[int]:
        """The lines that name that of some concepts which is named least often."""
        return min(filter(None, map(self.lines_with, words)), key=len, default=[])

    def share(self, field: Field) -> float:
        """The share of the words that tell a field from others which the text speaks of anywhere."""
        words = field.telling
        known = self._shares.get(words)
        if known is None:
            known = sum(bool(self.lines_with(word)) for word in words) / len(words) if words else 1.0
            self._shares[words] = known
        return known

    def around(self, field: Field, line: int) -> tuple[float, float]:
        """The shares of a field's words, its own and its object's, on a line and in its paragraph."""
        words = field.telling + field.parents
        if not words or field.record:
            return 0.0, 0.0
        low, high = self._paragraph(line)
        here = around = 0
        for word in words:
            lines = self.lines_with(word)
            at = bisect_left(lines, low)
            if at < len(lines) and lines[at] < high:
                around += 1
                here += line in lines[at : at + 2 * PARAGRAPH]
        return here / len(words), around / len(words)

    def _paragraph(self, line: int) -> tuple[int, int]:
        """The lines around one without a blank between, a dozen at most to each side."""
        known = self._paragraphs.get(line)
        if known is None:
            lines = self._layout.lines
            low = high = line
            while low > 0 and line - low < PARAGRAPH and lines[low - 1].kind != "blank":
                low -= 1
            while high < len(lines) and high - line < PARAGRAPH and lines[high].kind != "blank":
                high += 1
            known = self._paragraphs[line] = (low, high)
        return known

    @cached_property
    def _index(self) -> ConceptIndex:
        lines = self._layout.lines
        return ConceptIndex(chain.from_iterable(concepts(cell.text[:2000]) for cell in line.cells) for line in lines)


class Rivals:
    """The values of a text by line."""

    def __init__(self, source: Source, topics: Topics) -> None:
        self._source = source
        self._topics = topics
        self._near: dict[tuple[str, ...], list[int]] = {}
        self._known: dict[tuple[int, bool], list[tuple[int, int, str]]] = {}

    def of(
        self, field: Field, kind: str, line: int, match: float, homes: Mapping[str, Home]
    ) -> Iterator[tuple[int, int, str]]:
        """Values of a kind on the lines that name the field and those that they head, each with its kind.

        A list element looks in its own lines; where a label names the field exactly (`match`), its own line will do.
        """
        layout = self._source.layout
        home = homes.get(field.record)
        if match > EXACTLY:
            lines = [line]
        elif home is not None:
            last = layout.line_of(max(home.start, home.end - 2))
            lines = list(range(layout.line_of(home.start), last + 1))[:MOST_RIVAL_LINES]
        else:
            lines = self._lines(field.telling or field.own)
        for number in lines:
            if kind == "date":
                yield from ((day.start, day.end, kind) for day in self._dates_on.get(number, ()))
            elif kind in FIGURES:
                yield from self._figures(number, kind)
            else:
                for cell in layout.lines[number].cells:
                    label, colon, value = cell.text.partition(":")
                    boxed = _EMPTY_BOX.match(value.strip() or cell.text) or unnumbered(cell.text) != cell.text
                    if not boxed and (not colon or value.strip()):
                        yield cell.start + len(label + colon + value) - len(value.lstrip() or label), cell.end, kind

    def _figures(self, number: int, kind: str) -> list[tuple[int, int, str]]:
        key = number, kind == "percent"
        if key not in self._known:
            self._known[key] = list(self._find_figures(*key))
        return self._known[key]

    def _find_figures(self, number: int, asked: bool) -> Iterator[tuple[int, int, str]]:
        for rank in self._numbers_on.get(number, ()):
            mention = self._source.numbers.mention(rank)
            reading = mention.readings[0].kind if mention is not None else "part"
            share = reading in ("fraction", "percent")
            cell = self._source.layout.cell_of(self._source.numbers.starts[rank], number)
            if cell is None or (cell.start == self._source.numbers.starts[rank] and unnumbered(cell.text) != cell.text):
                continue  # the number of a box of a form
            if mention is not None and reading != "part" and share == asked:
                yield mention.start, mention.end, "percent" if share else "money" if mention.money else "number"

    def _lines(self, words: tuple[str, ...]) -> list[int]:
        """The lines that name some words, the next one, and the rows of a table that they head."""
        known = self._near.get(words)
        if known is None:
            layout = self._source.layout
            found = {
                line + more for line in self._topics.rarest(words) for more in (0, 1) if line + more < len(layout.lines)
            }
            for line in sorted(found):
                below = line + 1
                while layout.tables[line] >= 0 and len(found) < MOST_RIVAL_LINES and below < len(layout.lines):
                    if layout.tables[below] != layout.tables[line]:
                        break
                    found.add(below)
                    below += 1
            known = self._near[words] = sorted(found)[:MOST_RIVAL_LINES]
        return known

    @cached_property
    def _numbers_on(self) -> dict[int, list[int]]:
        table: dict[int, list[int]] = {}
        for rank, start in enumerate(self._source.numbers.starts):
            table.setdefault(self._source.layout.line_of(start), []).append(rank)
        return table

    @cached_property
    def _dates_on(self) -> dict[int, list[Mention]]:
        table: dict[int, list[Mention]] = {}
        for mention in self._source.dates.mentions:
            table.setdefault(self._source.layout.line_of(mention.start), []).append(mention)
        return table

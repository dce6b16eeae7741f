"""Where the words of a field stand in a text, and which other values stand beside them.

A label of the field beside another value contradicts: such values are its rivals.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

from batchwork.evidence.fields import Field
from batchwork.evidence.layout import Layout, unnumbered
from batchwork.evidence.numerals import Mention
from batchwork.evidence.readers import FIGURES, Place, Source
from batchwork.evidence.rows import Home
from batchwork.evidence.thresholds import EXACTLY, MOST_RIVAL_LINES, NAMING
from batchwork.evidence.words import concepts, likeness

_EMPTY_BOX = re.compile(r"\[\s?\]|\(\s?\)|[☐□○]")


class Topics:
    """The lines of a text by the concepts they name."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._found: dict[str, set[int]] = {}

    def lines_with(self, word: str) -> set[int]:
        """The lines that name a concept, or one that is as good as it."""
        known = self._found.get(word)
        if known is None:
            known = self._found[word] = set(self._lines.get(word, ()))
            for other in self._alike.get(word[:4], ()):
                if other != word and likeness(word, other) >= NAMING:
                    known.update(self._lines[other])
        return known

    def rarest(self, words: Sequence[str]) -> set[int]:
        """The lines that name that of some concepts which is named least often."""
        return min(filter(None, map(self.lines_with, words)), key=len, default=set())

    def speaks_of(self, field: Field) -> bool:
        """Whether the text has any of the words that tell a field from others."""
        return not field.telling or any(map(self.lines_with, field.telling))

    def on_line(self, field: Field, line: int) -> float:
        """The share of a field's words, its own and its object's, that stand on a line; elements have their rows."""
        words = () if field.record else field.telling + field.parents
        return sum(line in self.lines_with(word) for word in words) / len(words) if words else 0.0

    @cached_property
    def _lines(self) -> dict[str, list[int]]:
        table: dict[str, list[int]] = defaultdict(list)
        for number, line in enumerate(self._layout.lines):
            for word in dict.fromkeys(word for cell in line.cells for word in concepts(cell.text[:2000])):
                table[word].append(number)
        return table

    @cached_property
    def _alike(self) -> dict[str, list[str]]:
        table: dict[str, list[str]] = defaultdict(list)
        for word in self._lines:
            table[word[:4]].append(word)
        return table


class Rivals:
    """The values of a text by line."""

    def __init__(self, source: Source, topics: Topics) -> None:
        self._source = source
        self._topics = topics
        self._near: dict[tuple[str, ...], list[int]] = {}

    def of(self, field: Field, kind: str, line: int, match: float, home: Home | None) -> Iterator[Place]:
        """Values of a kind on the lines that name the field and those that they head.

        A list element looks in its own lines; where a label names the field exactly (`match`), its own line will do.
        """
        layout = self._source.layout
        if match > EXACTLY:
            lines = [line]
        elif home is not None:
            last = layout.line_of(max(home.start, home.end - 2))
            lines = list(range(layout.line_of(home.start), last + 1))[:MOST_RIVAL_LINES]
        else:
            lines = self._lines(field.telling or field.own)
        for number in lines:
            if kind == "date":
                yield from (Place((day.start, day.end), kind) for day in self._dates_on.get(number, ()))
            elif kind in FIGURES:
                yield from self._figures(number, kind)
            else:
                yield from self._words(number, kind)

    def _words(self, number: int, kind: str) -> Iterator[Place]:
        """What stands in the cells of a line, behind their labels."""
        for cell in self._source.layout.lines[number].cells:
            label, colon, value = cell.text.partition(":")
            boxed = _EMPTY_BOX.match(value.strip() or cell.text) or unnumbered(cell.text) != cell.text
            if not boxed and (not colon or value.strip()):
                start = cell.end - len(value.lstrip() or label)
                yield Place((start, cell.end), kind)

    def _figures(self, number: int, kind: str) -> Iterator[Place]:
        numbers = self._source.numbers
        for rank in self._numbers_on.get(number, ()):
            mention = numbers.mention(rank)
            if mention is None or mention.readings[0].kind == "part":
                continue
            cell = self._source.layout.cell_of(numbers.starts[rank], number)
            if cell is None or (cell.start == numbers.starts[rank] and unnumbered(cell.text) != cell.text):
                continue  # the number of a box of a form
            if (mention.kind == "percent") == (kind == "percent"):
                yield Place((mention.start, mention.end), mention.kind)

    def _lines(self, words: tuple[str, ...]) -> list[int]:
        """The lines that name some words, the next one, and the rows of a table that they head."""
        known = self._near.get(words)
        if known is None:
            tables = self._source.layout.tables
            named = self._topics.rarest(words)
            found = {line + more for line in named for more in (0, 1) if line + more < len(tables)}
            for line in sorted(found):
                below = line + 1
                while below < len(tables) and tables[below] == tables[line] >= 0 and len(found) < MOST_RIVAL_LINES:
                    found.add(below)
                    below += 1
            known = self._near[words] = sorted(found)[:MOST_RIVAL_LINES]
        return known

    @cached_property
    def _numbers_on(self) -> dict[int, list[int]]:
        table: dict[int, list[int]] = defaultdict(list)
        for rank, start in enumerate(self._source.numbers.starts):
            table[self._source.layout.line_of(start)].append(rank)
        return table

    @cached_property
    def _dates_on(self) -> dict[int, list[Mention]]:
        table: dict[int, list[Mention]] = defaultdict(list)
        for mention in self._source.dates.mentions:
            table[self._source.layout.line_of(mention.start)].append(mention)
        return table

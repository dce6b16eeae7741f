"""Where the words of a field stand in a text: on which lines, and in which paragraphs."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain

from batchwork.evidence.fields import Field
from batchwork.evidence.layout import Layout
from batchwork.evidence.thresholds import NAMING, PARAGRAPH
from batchwork.evidence.words import ROOT, likeness, named_in


class Topics:
    """The lines of a text by the concepts they name, as far as the fields of one result ask for them."""

    def __init__(self, layout: Layout, fields: Iterable[Field]) -> None:
        self._layout = layout
        self._words = {word for field in fields for word in (*field.own, *field.parents)}
        self._blanks = [number for number, line in enumerate(layout.lines) if line.kind == "blank"]
        self._naming: dict[str, list[int]] = {}

    def naming(self, concept: str) -> list[int]:
        """The lines that name a concept, or one that is as good as it, in order."""
        if concept not in self._naming:
            others = self._lines[concept[:ROOT]].items()
            alike = (lines for other, lines in others if likeness(concept, other) >= NAMING)
            self._naming[concept] = sorted(set(chain.from_iterable(alike)))
        return self._naming[concept]

    def lines_about(self, words: Sequence[str]) -> list[int]:
        """The lines that name that of some concepts which is named least often, each with the next one."""
        rarest = min(filter(None, map(self.naming, words)), key=len, default=[])
        last = len(self._layout.lines)
        return sorted({line + more for line in rarest for more in (0, 1) if line + more < last})

    def spoken(self, field: Field) -> float:
        """The share of a field's words, its own and its object's, that stand anywhere in the text."""
        words = field.telling + field.parents
        return sum(map(bool, map(self.naming, words))) / len(words) if words else 0.0

    def around(self, field: Field, line: int) -> tuple[float, float]:
        """The shares of a field's words, its own and its object's, on a line and in its paragraph."""
        words = field.telling + field.parents
        if not words or field.record:
            return 0.0, 0.0
        low, high = self._paragraph(line)
        here = around = 0
        for word in words:
            lines = self.naming(word)
            at = bisect_left(lines, low)
            if at < len(lines) and lines[at] < high:
                around += 1
                here += line in lines[at : at + high - low]
        return here / len(words), around / len(words)

    def _paragraph(self, line: int) -> tuple[int, int]:
        """The lines around one without a blank between, a dozen at most to each side."""
        at = bisect_left(self._blanks, line)
        last = self._blanks[at] if at < len(self._blanks) else len(self._layout.lines)
        return max(self._blanks[at - 1] + 1 if at else 0, line - PARAGRAPH), min(last, line + PARAGRAPH)

    @cached_property
    def _lines(self) -> dict[str, dict[str, list[int]]]:
        """By what the fields' words begin with and by concept the lines with a word for it."""
        cells = [(number, cell.text[:2000]) for number, line in enumerate(self._layout.lines) for cell in line.cells]
        found: dict[str, dict[str, list[int]]] = {word[:ROOT]: {} for word in self._words}
        for concept, rank in named_in([text for _, text in cells], found.keys()):
            found[concept[:ROOT]].setdefault(concept, []).append(cells[rank][0])
        return found

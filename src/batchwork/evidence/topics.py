"""Where the words of a field stand in a text: on which lines, and in which paragraphs."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import chain, pairwise

from batchwork.evidence.fields import Field
from batchwork.evidence.layout import Layout
from batchwork.evidence.thresholds import PARAGRAPH
from batchwork.evidence.words import ConceptIndex, concepts


class Topics:
    """The lines of a text by the concepts they name."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def lines_about(self, words: Sequence[str]) -> list[int]:
        """The lines that name that of some concepts which is named least often, each with the next one."""
        rarest = min(filter(None, map(self._index.naming, words)), key=len, default=[])
        last = len(self._layout.lines)
        return sorted({line + more for line in rarest for more in (0, 1) if line + more < last})

    def speaks_of(self, field: Field) -> bool:
        """Whether any word that tells the field from others stands anywhere in the text."""
        return not field.telling or any(map(self._index.naming, field.telling))

    def around(self, field: Field, line: int) -> tuple[float, float]:
        """The shares of a field's words, its own and its object's, on a line and in its paragraph."""
        words = field.telling + field.parents
        if not words or field.record:
            return 0.0, 0.0
        low, high = self._paragraphs[line]
        here = around = 0
        for word in words:
            lines = self._index.naming(word)
            at = bisect_left(lines, low)
            if at < len(lines) and lines[at] < high:
                around += 1
                here += line in lines[at : at + high - low]
        return here / len(words), around / len(words)

    @cached_property
    def _paragraphs(self) -> list[tuple[int, int]]:
        """For each line the lines around it without a blank between, a dozen at most to each side."""
        lines = self._layout.lines
        blanks = [-1, *(number for number, line in enumerate(lines) if line.kind == "blank"), len(lines)]
        return [
            (max(before + 1, line - PARAGRAPH), min(after, line + PARAGRAPH))
            for before, after in pairwise(blanks)
            for line in range(before + 1, min(after + 1, len(lines)))
        ]

    @cached_property
    def _index(self) -> ConceptIndex:
        lines = self._layout.lines
        return ConceptIndex(chain.from_iterable(concepts(cell.text[:2000]) for cell in line.cells) for line in lines)

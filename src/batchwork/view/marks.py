"""Finds where a span of a page's text stands in the picture of the page. Pure.

The characters of the text are those of the picture in another order and with other spaces, so a span is looked for
among the drawn characters, line by line. Where the same characters stand several times, what stands around them tells.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

Glyph = tuple[str, float, float, float, float]  # character, left, top, right, bottom
_AROUND = 60  # characters that are compared before and behind
_MOST = 2_000  # places that are compared


class Box(NamedTuple):
    """A rectangle in the picture, in pixels."""

    left: float
    top: float
    right: float
    bottom: float


class PageMarks:
    """One page: its text, and its characters as they are drawn."""

    def __init__(self, text: str, glyphs: Sequence[Glyph]) -> None:
        self._text = text
        self._glyphs = [glyph for glyph in glyphs if len(glyph[0]) == 1]
        self._drawn = "".join(glyph[0] for glyph in self._glyphs)

    def boxes(self, start: int, end: int) -> list[Box]:
        """Where the text from `start` to `end` stands: a box for each of its lines; none when it is not found."""
        boxes: list[Box] = []
        for low, high in _pieces(self._text, start, end, "\n"):
            if (at := self._find(low, high)) is not None:
                boxes += self._around(at, len(_dense(self._text[low:high])))
                continue
            for first, last in _pieces(self._text, low, high, " "):  # drawn in another order: word by word
                if (at := self._find(first, last)) is not None:
                    boxes += self._around(at, len(_dense(self._text[first:last])))
        return boxes

    def _find(self, start: int, end: int) -> int | None:
        """Where these characters begin among the drawn ones: the place whose surroundings are most like theirs."""
        wanted = _dense(self._text[start:end])
        if not wanted:
            return None
        before = _dense(self._text[max(0, start - 4 * _AROUND) : start])[-_AROUND:][::-1]
        behind = _dense(self._text[end : end + 4 * _AROUND])[:_AROUND]
        best, most = None, -1
        for number, at in enumerate(_places(self._drawn, wanted)):
            alike = _alike(self._drawn[max(0, at - _AROUND) : at][::-1], before)
            alike += _alike(self._drawn[at + len(wanted) : at + len(wanted) + _AROUND], behind)
            if alike > most:
                best, most = at, alike
            if number >= _MOST:
                break
        return best

    def _around(self, at: int, count: int) -> Iterator[Box]:
        """Boxes around drawn characters, one for each line they stand on."""
        current: Box | None = None
        for _, left, top, right, bottom in self._glyphs[at : at + count]:
            if current is not None and min(bottom, current.bottom) - max(top, current.top) > 0:
                current = Box(
                    min(left, current.left),
                    min(top, current.top),
                    max(right, current.right),
                    max(bottom, current.bottom),
                )
                continue
            if current is not None:
                yield current
            current = Box(left, top, right, bottom)
        if current is not None:
            yield current


def _dense(text: str) -> str:
    return "".join(text.split())


def _pieces(text: str, start: int, end: int, separator: str) -> Iterator[tuple[int, int]]:
    """The parts of a span between separators."""
    while start < end:
        at = text.find(separator, start, end)
        stop = end if at < 0 else at
        if text[start:stop].strip():
            yield start, stop
        start = stop + 1


def _places(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _alike(one: str, other: str) -> int:
    """How many characters are the same from the beginning on."""
    count = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        count += 1
    return count

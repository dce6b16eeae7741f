"""Find a string in a text whatever its case, accents, dashes, spacing and line breaks; never inside another word.

The words of a value are looked for in order with little between them; where that fails, with hyphens at a line's end
and ids grouped for the eye, and at last with its parts one below the other in a column.
"""

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import islice

from batchwork.evidence.layout import Layout, beside
from batchwork.evidence.words import fold

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
# Two words of one value; without a set of characters beyond ASCII, which are slow to compile.
_BETWEEN = r"(?! {3})(?:(?!│)[^\w\n\t|]){0,4}(?:\n(?:(?!│)[^\w\n|]){0,40})?_?"
_GAP = re.compile(_BETWEEN)
_BORDER = re.compile(r"[\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_INSIDE = re.compile(r"[\W_]+")
_RUN = re.compile(r"\d+|\D+")
_GLUED_BEFORE = re.compile(r"(?:_|[^\W_]([-/_@‐‑–\\])|\d[.,](?=\d))\Z")
_GLUED_BEHIND = re.compile(r"[-/@‐‑–\\][^\W_]|_(?!_)|(?<=\d)[.,:]\d")
_SIGN_BEHIND = re.compile(r"[-+−–](?![^\W_])")
_LEAD, _TAIL = re.compile(r"[^\w\s]*"), re.compile(r"[^\w\s]*$")
_LINE_BREAK = re.compile(r"\s*\n\s*")
_LONGEST, _MOST = 2_000, 200  # characters of a value, places of it
_GROUPED = 6  # letters and digits from which on an id may be grouped by blanks

# One span, or several when columns lie between its parts; and whether it has the same marks, apart from case and lines.
Hit = tuple[tuple[tuple[int, int], ...], bool]


class TextIndex:
    """A text, ready to be searched."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.text = layout.plain
        self._found: dict[str, list[Hit]] = {}  # elements of one list often say the same

    @cached_property
    def _folded(self) -> str:
        return _fold(self.text)

    @cached_property
    def _closed(self) -> str:
        """The folded text without anything that may stand inside a word or between the words of a value."""
        return _INSIDE.sub("", self._folded)

    def find(self, value: str) -> list[Hit]:
        """Every place where the value stands, in order; one broken over columns only when there is no other."""
        if value not in self._found:
            hits = self._find(value.strip()) if len(value) <= _LONGEST else ()
            self._found[value] = list(islice(hits, _MOST))
        return self._found[value]

    def find_passage(self, passage: str) -> list[tuple[int, int]]:
        """Where these words stand one after the other, whatever lies between them but other words."""
        words = _WORD.findall(_fold(passage))
        pattern = re.compile(r"[\W_]*".join(map(re.escape, words)))
        return list(islice(_standing(pattern, self._folded), _MOST)) if words else []

    def _find(self, value: str) -> Iterator[Hit]:
        words = _WORD.findall(_fold(value))
        if not words:
            place = self.text.find(value) if value else -1
            if place >= 0:
                yield ((place, place + len(value)),), True
            return
        found = False
        for spelled in (words, [word for word in words if word != "and"]):
            for start, end in self._spans(spelled) if spelled and not found else ():
                hit = self._hit(value, start, end)
                if hit is not None:
                    found = True
                    yield hit
        if not found and len(words) > 1:
            yield from self._in_columns(value, words)

    def _hit(self, value: str, start: int, end: int) -> Hit | None:
        """The words of a value with its own marks around them; None when they are a part of something longer."""
        if self._is_glued(start, end, value):
            return None
        lead, tail = _LEAD.match(value), _TAIL.search(value)
        if lead and lead[0] and self.text.endswith(lead[0], 0, start):
            start -= len(lead[0])
        if tail and tail[0] and self.text.startswith(tail[0], end):
            end += len(tail[0])  # the point of "Inc.", a closing bracket, "C++"
        written, wanted = self.text[start:end], " ".join(value.split())
        return ((start, end),), written == value or _LINE_BREAK.sub(" ", written).casefold() == wanted.casefold()

    def _spans(self, words: list[str]) -> Iterator[tuple[int, int]]:
        """Where words stand in order: as they are written, else with breaks inside, where the text can have those."""
        found = False
        for start in self._starts(words[0]):
            count, end = self._run(words, start)
            if count == len(words):
                found = True
                yield start, end
        if not found and "".join(words) in self._closed:
            yield from _standing(_pattern(tuple(words)), self._folded)

    def _starts(self, word: str) -> Iterator[int]:
        start = self._folded.find(word)
        while start >= 0:
            if _begins(self._folded, start):
                yield start
            start = self._folded.find(word, start + 1)

    def _run(self, words: list[str], start: int) -> tuple[int, int]:
        """How many of these words stand here one after the other, and where the last one ends."""
        text, end = self._folded, start
        for count, word in enumerate(words):
            gap = _GAP.match(text, end) if count else None
            place = gap.end() if gap else end
            if not text.startswith(word, place) or (count == len(words) - 1 and not _ends(text, place + len(word))):
                return count, end
            end = place + len(word)
        return len(words), end

    def _is_glued(self, start: int, end: int, value: str) -> bool:
        """Whether the hit is part of a longer id, word or number."""
        if len(value) <= 2 and value[-1:].isalnum() and _SIGN_BEHIND.match(self.text, end):
            return True  # the grade A is not in "A-"
        before = _GLUED_BEFORE.search(self.text[max(0, start - 2) : start + 1], 0, min(2, start))
        if before and before[1] != value[0]:
            return True
        return _GLUED_BEHIND.match(self.text, end) is not None

    def _in_columns(self, value: str, words: list[str]) -> Iterator[Hit]:
        """Where a value stands that is broken inside a column, its parts one below the other."""
        for start in islice(self._starts(words[0]), _MOST):  # each looks through the cells of a line
            spans, rest, place = list[tuple[int, int]](), words, start
            while rest and place >= 0:
                count, end = self._run(rest, place)
                spans.append((place, end))
                rest, place = rest[count:], self._below(place) if count else -1
            if not rest and len(spans) > 1 and not self._is_glued(*spans[0], value):
                yield tuple(spans), False

    def _below(self, place: int) -> int:
        """Where the cell below a place begins; -1 when there is none in its column."""
        lines, number = self._layout.lines, self._layout.line_of(place)
        cell = self._layout.cell_of(place, number)
        below = lines[number + 1].cells if number + 1 < len(lines) else []
        return next((other.start for other in beside(below, cell)), -1) if cell is not None else -1


def _begins(text: str, start: int) -> bool:
    """Whether a word can begin here."""
    return start == 0 or not text[start - 1].isalnum() or _BORDER.match(text, start - 1) is not None


def _ends(text: str, end: int) -> bool:
    """Whether a word can end here."""
    return end >= len(text) or not text[end].isalnum() or _BORDER.match(text, end) is not None


def _standing(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Where a pattern stands in a text, and not inside of a word."""
    found = pattern.search(text)
    while found is not None:
        start, end = found.span()
        whole = _begins(text, start) and _ends(text, end)
        if whole:
            yield start, end
        found = pattern.search(text, end if whole else start + 1)


@lru_cache(maxsize=1_000)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Words in order that may be hyphenated at the end of a line; ids may have blanks inside."""
    parts = []
    for word in words:
        pieces, gap = list(word), "(?:-\n\\s*|\u00ad)?"
        if any(map(str.isdigit, word)):
            gap = "[ \u00a0()/-]{0,2}" if word.isdigit() else "[ \u00a0-]?"
            pieces = pieces if len(word) >= _GROUPED else _RUN.findall(word)  # HX 521
        parts.append(gap.join(map(re.escape, pieces)))
    return re.compile(_BETWEEN.join(parts))


class _Folds(dict[int, str]):
    """Letters without case and accents, each found once."""

    def __missing__(self, code: int) -> str:
        self[code] = (fold(chr(code)) or chr(code))[0]
        return self[code]


_FOLDS = _Folds()


def _fold(text: str) -> str:
    """Without case and accents, character by character, so that places stay."""
    return text.lower() if text.isascii() else text.translate(_FOLDS)

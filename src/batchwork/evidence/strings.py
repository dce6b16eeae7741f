"""Find a string in a text whatever its case, accents, dashes, spacing and line breaks; never inside another word.

The words of a value are looked for in order with little between them; where that fails, with hyphens at a line's end
and ids grouped for the eye, and at last with its parts one below the other in a column.
"""

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import islice

from batchwork.evidence.layout import Layout, beside
from batchwork.evidence.words import PATTERNS, fold

_PATTERNS: dict[str, str] = PATTERNS["strings"]
_FORMS = {name: re.compile(pattern) for name, pattern in _PATTERNS.items()}
_DASHES = dict.fromkeys(map(ord, "‐‑–—−"), "-")
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
    def folded(self) -> str:
        """The text without case and accents."""
        return folded(self.text)

    @cached_property
    def _closed(self) -> str:
        """The folded text without anything that may stand inside a word or between the words of a value."""
        return self.folded.translate({ord(sign): None for sign in set(self.folded) if not sign.isalnum()})

    def find(self, value: str) -> list[Hit]:
        """Every place where the value stands, in order; one broken over columns only when there is no other."""
        if value not in self._found:
            self._found[value] = self._find(value.strip()) if len(value) <= _LONGEST else []
        return self._found[value]

    def _find(self, value: str) -> list[Hit]:
        words = _FORMS["word"].findall(folded(value))
        if not words:
            place = self.text.find(value) if value else -1
            return [(((place, place + len(value)),), True)] if place >= 0 else []
        for spelled in (words, [word for word in words if word != "and"]) if "and" in words else (words,):
            hits = (self._hit(value, *span) for span in self._spans(spelled))
            found = list(islice(filter(None, hits), _MOST))
            if found:
                return found
        return list(self._in_columns(value, words)) if len(words) > 1 else []

    def _hit(self, value: str, start: int, end: int) -> Hit | None:
        """The words of a value with its own marks around them; None when they are a part of something longer."""
        if self._is_glued(start, end, value):
            return None
        lead, tail = _FORMS["lead"].match(value), _FORMS["tail"].search(value)
        if lead and lead[0] and self.text.endswith(lead[0], 0, start):
            start -= len(lead[0])
        if tail and tail[0] and self.text.startswith(tail[0], end):
            end += len(tail[0])  # the point of "Inc.", a closing bracket, "C++"
        if "://" in value and self.text.startswith("/", end):
            end += 1  # the same address
        goes_on = "://" in value and _FORMS["address_goes_on"].match(self.text, end)
        if goes_on or (_FORMS["dotted"].search(value) and "." not in self.text[start:end]):
            return None  # another address; 5 6 is no release 5.6
        written, wanted = self.text[start:end], " ".join(value.split()).casefold()
        return ((start, end),), written == value or _FORMS["line_break"].sub(" ", written).casefold() == wanted

    def _spans(self, words: list[str]) -> Iterator[tuple[int, int]]:
        """Where words stand in order: as they are written, else with breaks inside, where the text can have those."""
        found = False
        for start in self._starts(words[0]) if words else ():
            count, end = self._run(words, start)
            if count == len(words):
                found = True
                yield start, end
        letters = "".join(words)
        marks = not letters.isalpha() or "-\n" in self.folded or "\u00ad" in self.folded  # that may stand inside a word
        if words and not found and marks and letters in self._closed:
            for match in _pattern(tuple(words)).finditer(self.folded):
                if _is_border(self.folded, match.start() - 1) and _is_border(self.folded, match.end()):
                    yield match.span()

    def _starts(self, word: str) -> Iterator[int]:
        start = self.folded.find(word)
        while start >= 0:
            if _is_border(self.folded, start - 1):
                yield start
            start = self.folded.find(word, start + 1)

    def _run(self, words: list[str], start: int) -> tuple[int, int]:
        """How many of these words stand here one after the other, and where the last one ends."""
        text, end, last = self.folded, start, len(words) - 1
        for count, word in enumerate(words):
            gap = _FORMS["between"].match(text, end) if count else None
            place = gap.end() if gap else end
            if not text.startswith(word, place) or (count == last and not _is_border(text, place + len(word))):
                return count, end
            end = place + len(word)
        return len(words), end

    def _is_glued(self, start: int, end: int, value: str) -> bool:
        """Whether the hit is part of a longer id, word or number."""
        if len(value) <= 2 and value[-1:].isalnum() and _FORMS["sign_behind"].match(self.text, end):
            return True  # the grade A is not in "A-"
        before = _FORMS["glued_before"].search(self.text[max(0, start - 2) : start + 1], 0, min(2, start))
        if before and before[1] != value[0]:
            return True
        return _FORMS["glued_behind"].match(self.text, end) is not None

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


def _is_border(text: str, place: int) -> bool:
    """Whether what stands at a place is no part of a word beside it."""
    letter = text[place : place + 1]
    return not letter.isalnum() or (letter >= "\u3040" and _FORMS["border"].match(letter) is not None)


@lru_cache(maxsize=1_000)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Words in order that may be hyphenated at the end of a line; ids may have blanks inside."""
    parts = []
    for word in words:
        pieces, gap = list(word), "(?:-\n\\s*|\u00ad)?"
        if any(map(str.isdigit, word)):
            gap = "[ \u00a0()/-]{0,2}" if word.isdigit() else "[ \u00a0-]?"
            pieces = pieces if len(word) >= _GROUPED else _FORMS["run"].findall(word)  # HX 521
        parts.append(gap.join(map(re.escape, pieces)))
    return re.compile(_PATTERNS["between"].join(parts))


def folded(text: str) -> str:
    """A text without case and accents and with one kind of dash, character by character, so that places stay."""
    if text.isascii():
        return text.lower()
    return text.translate({ord(letter): (fold(letter) or letter)[0] for letter in set(text)} | _DASHES)

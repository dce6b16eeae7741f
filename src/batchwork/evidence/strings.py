"""Find a string in a text whatever its case, accents, dashes, spacing and line breaks; never inside another word.

The value becomes a pattern over the folded text: its words in order with little between them, words broken by a hyphen
at a line's end, ids grouped for the eye. A value that is broken inside a column is looked for column by column.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import islice

from msgspec import Struct

from batchwork.evidence.layout import Cell, Layout, overlap
from batchwork.evidence.words import fold

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
# Two words of one value; without a set of characters beyond ASCII, which are slow to compile.
_BETWEEN = r"(?! {3})(?:(?!│)[^\w\n\t|]){0,4}(?:\n(?:(?!│)[^\w\n|]){0,40})?_?"
_GAP = re.compile(_BETWEEN)
_BORDER = re.compile(r"[\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_INSIDE = re.compile(r"[\W_]+")
_RUN = re.compile(r"\d+|\D+")
_GLUE = "-/_@‐‑–\\"
_SIGNS = ("+", "-", "−", "–")
_LEAD, _TAIL = re.compile(r"[^\w\s]*"), re.compile(r"[^\w\s]*$")
_LINE_BREAK = re.compile(r"\s*\n\s*")
_LONGEST, _MOST = 2_000, 200  # characters of a value, places of it
_GROUPED = 6  # letters and digits from which on an id may be grouped by blanks


class Hit(Struct, frozen=True, gc=False):
    """Where a string stands: one span, or several when columns lie between its parts."""

    spans: tuple[tuple[int, int], ...]
    exact: bool  # written with the same punctuation, apart from case and line breaks

    @property
    def start(self) -> int:
        """Where its first part starts."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """Where its last part ends."""
        return self.spans[-1][1]


class TextIndex:
    """A text, ready to be searched."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.text = layout.plain
        self._folded = _folded(self.text)
        self._found: dict[str, list[Hit]] = {}  # elements of one list often say the same

    def find(self, value: str) -> list[Hit]:
        """Every place where the value stands, in order; one broken over columns only when there is no other."""
        if value not in self._found:
            self._found[value] = self._find(value.strip()) if len(value) <= _LONGEST else []
        return self._found[value]

    def _find(self, value: str) -> list[Hit]:
        words = tuple(_WORD.findall(_folded(value)))
        if not words:
            place = self.text.find(value) if value else -1
            return [Hit(((place, place + len(value)),), True)] if place >= 0 else []
        for spelled in (words, tuple(word for word in words if word != "and")):
            hits = self._matches(value, spelled) if spelled else []
            if hits:
                return hits
        return self._in_columns(value, words) if len(words) > 1 else []

    def _matches(self, value: str, words: tuple[str, ...]) -> list[Hit]:
        hits: list[Hit] = []
        lead, tail = _LEAD.match(value), _TAIL.search(value)
        for start, end in self._spans(words):
            if self._is_glued(start, end, value):
                continue
            low, high = start, end
            if lead and lead[0] and self.text.endswith(lead[0], 0, low):
                low -= len(lead[0])
            if tail and tail[0] and self.text.startswith(tail[0], high):
                high += len(tail[0])  # the point of "Inc.", a closing bracket, "C++"
            if value[-1] in "+#" and self.text[high - 1] != value[-1]:
                continue
            written = _LINE_BREAK.sub(" ", self.text[low:high])
            hits.append(Hit(((low, high),), written.casefold() == " ".join(value.split()).casefold()))
            if len(hits) == _MOST:
                break
        return hits

    def _spans(self, words: tuple[str, ...]) -> Iterator[tuple[int, int]]:
        """Where words stand in order: as they are written, else with breaks inside, where the text can have those."""
        found = list(self._written(words))
        if found or "".join(words) not in self._closed:
            yield from found
        else:
            yield from _standing(_pattern(words, True), self._folded)

    def _written(self, words: tuple[str, ...]) -> Iterator[tuple[int, int]]:
        text = self._folded
        start = text.find(words[0])
        while start >= 0:
            end = start + len(words[0])
            for word in words[1:]:
                gap = _GAP.match(text, end)
                end = gap.end() if gap and text.startswith(word, gap.end()) else -1
                if end < 0:
                    break
                end += len(word)
            if end >= 0 and _ends(text, end) and _begins(text, start):
                yield start, end
            start = text.find(words[0], start + 1)

    @cached_property
    def _closed(self) -> str:
        """The folded text without anything that may stand inside a word or between the words of a value."""
        return _INSIDE.sub("", self._folded)

    def find_passage(self, passage: str) -> list[tuple[int, int]]:
        """Where these words stand one after the other, whatever lies between them but other words."""
        words = _WORD.findall(_folded(passage))
        if not words:
            return []
        pattern = re.compile(r"[\W_]*".join(map(re.escape, words)))
        return list(islice(_standing(pattern, self._folded), _MOST))

    def _is_glued(self, start: int, end: int, value: str) -> bool:
        """Whether the hit is part of a longer id, word or number."""
        text = self.text
        before, after = text[max(0, start - 2) : start], text[end : end + 2]
        if len(value) <= 2 and value[-1:].isalnum() and after[:1] in _SIGNS and not after[1:].isalnum():
            return True  # the grade A is not in "A-"
        if len(before) == 2 and before[1] in _GLUE and before[0].isalnum() and value[:1] != before[1]:
            return True
        if len(after) == 2 and after[1].isalnum():
            digits = after[0] in ".,:" and after[1].isdigit() and text[end - 1].isdigit()
            if after[0] in _GLUE or digits:
                return True
        if len(before) == 2 and before[1] in ".," and before[0].isdigit() and text[start].isdigit():
            return True
        return before.endswith("_") or (after.startswith("_") and not after.startswith("__"))

    def _in_columns(self, value: str, words: tuple[str, ...]) -> list[Hit]:
        """Where a value stands that is broken inside a column, its parts one below the other."""
        view, starts, places = self._columns
        hits: list[Hit] = []
        if any(word.isalpha() and word not in view for word in words):
            return hits
        for start, end in _standing(_pattern(words, False), view):
            spans = []
            first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1) - 1
            for rank in range(first, last + 1):
                low = places[rank] + max(0, start - starts[rank])
                length = (starts[rank + 1] - 1 if rank < last else end) - max(starts[rank], start)
                spans.append((low, low + length))
            if len(spans) > 1 and not self._is_glued(spans[0][0], spans[0][1], value):
                hits.append(Hit(tuple(spans), False))
        return hits[:_MOST]

    @cached_property
    def _columns(self) -> tuple[str, list[int], list[int]]:
        """The cells of blocks with several columns, chain by chain, as one folded text with where each cell stands."""
        pieces: list[str] = []
        starts: list[int] = []
        places: list[int] = []
        at = 0
        for chain in self._chains():
            for cell in chain:
                starts.append(at)
                places.append(cell.start)
                pieces.append(self._folded[cell.start : cell.end] + "\n")
                at += len(pieces[-1])
            pieces.append("\t")
            at += 1
        return "".join(pieces), [*starts, at], places

    def _chains(self) -> list[list[Cell]]:
        chains: list[list[Cell]] = []
        block: list[list[Cell]] = []
        for line in self._layout.lines:
            if line.kind == "blank":
                block = []
            for cell in line.cells:
                owner = next((chain for chain in block if overlap(chain[-1], cell)), None)
                if owner is not None:
                    owner.append(cell)
                elif len(block) < _MOST:
                    block.append([cell])
                    chains.append(block[-1])
        return [chain for chain in chains if len(chain) > 1]


def _begins(text: str, start: int) -> bool:
    """Whether a word can begin here; a version may follow its letter: v2.17.1."""
    if start == 0 or _BORDER.match(text, start - 1):
        return True
    return text[start].isdigit() and text[start - 1] == "v" and (start == 1 or not text[start - 2].isalnum())


def _ends(text: str, end: int) -> bool:
    """Whether a word can end here."""
    return end >= len(text) or _BORDER.match(text, end) is not None


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
def _pattern(words: tuple[str, ...], broken: bool) -> re.Pattern[str]:
    """Words in order; `broken` ones may be hyphenated at the end of a line, and ids may have blanks inside."""
    parts = []
    for word in words:
        if len(word) >= _GROUPED and any(map(str.isdigit, word)):
            gap = "[ \u00a0()/-]{0,2}" if word.isdigit() else "[ \u00a0-]?"
            parts.append(gap.join(map(re.escape, word)))
        elif any(map(str.isdigit, word)):
            parts.append("[ \u00a0-]?".join(map(re.escape, _RUN.findall(word))))  # HX 521
        elif broken:
            parts.append("(?:-\n\\s*|\u00ad)?".join(map(re.escape, word)))
        else:
            parts.append(re.escape(word))
    return re.compile(_BETWEEN.join(parts))


def _folded(text: str) -> str:
    """Without case and accents, character by character, so that places stay."""
    return text.lower() if text.isascii() else "".join(map(_folded_character, text))


@lru_cache(maxsize=10_000)
def _folded_character(character: str) -> str:
    return (fold(character) or character)[0]

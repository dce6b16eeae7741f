"""Find a string in a text whatever its case, accents, dashes, spacing and line breaks; never inside another word.

The letters and digits of the text stand in one long folded string without anything between them; a value is looked up
there the same way, and a hit counts when it starts and ends with a token and nothing between its tokens is stronger
than punctuation. A second string follows the columns downwards, for values that are broken inside a cell.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise

from batchwork.evidence.layout import Cell, Layout, overlap
from batchwork.evidence.words import fold

_TOKEN = re.compile(
    r"(?<![^\W_])[vV](?=\d)|"
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
    r"|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
    r"(?:[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]|[\u0300-\u036f\u00ad\u200b-\u200d\u2060])*"
)
_WIDE = re.compile(r"\t| {3,}|[|│]")
_GLUE = "-/_@‐‑–\\"
_SIGNS = ("+", "-", "−", "–")
_SHORT = 2
_LINE_BREAK = re.compile(r"\s*\n\s*")
_LONGEST = 2_000
_MOST_COLUMNS = 200  # that are followed downwards


@dataclass(frozen=True, slots=True)
class Hit:
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


class _Stream:
    """Tokens in some order, as one folded string; `-1` stands where nothing may pass."""

    def __init__(self, order: list[int], folded: list[str]) -> None:
        self.order = order
        self.offsets: list[int] = []
        pieces: list[str] = []
        position = 0
        for token in order:
            piece = folded[token] if token >= 0 else "\x00"
            self.offsets.append(position)
            pieces.append(piece)
            position += len(piece)
        self.text = "".join(pieces)
        self.offsets.append(position)

    def find(self, wanted: str) -> list[list[int]]:
        """The token sequences that spell `wanted`."""
        found: list[list[int]] = []
        position = self.text.find(wanted)
        while position >= 0:
            first = bisect_left(self.offsets, position)
            last = bisect_left(self.offsets, position + len(wanted))
            if self.offsets[first] == position and self.offsets[last] == position + len(wanted):
                found.append(self.order[first:last])
            position = self.text.find(wanted, position + 1)
            if len(found) > 200:
                break
        return found


class TextIndex:
    """The tokens of a text, ready to be searched."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.text = layout.plain
        matches = list(_TOKEN.finditer(self.text))
        self.starts = [match.start() for match in matches]
        self.ends = [match.end() for match in matches]
        self.folded = [fold(match.group()) for match in matches]
        self._main = _Stream(list(range(len(matches))), self.folded)
        self._columns: _Stream | None = None
        self._found: dict[str, list[Hit]] = {}  # elements of one list often say the same

    def find(self, value: str) -> list[Hit]:
        """Every place where the value stands, in order; one broken over columns only when there is no other."""
        if value not in self._found:
            self._found[value] = self._find(value)
        return self._found[value]

    def _find(self, value: str) -> list[Hit]:
        hits: dict[tuple[tuple[int, int], ...], Hit] = {}
        for wanted in _spellings(value):
            for tokens in self._main.find(wanted):
                hit = self._hit(tokens, value)
                if hit is not None:
                    hits.setdefault(hit.spans, hit)
        if not hits and len(_TOKEN.findall(value)) > 1:
            hits = self._find_in_columns(value)
        if not hits and not _TOKEN.search(value) and value.strip():
            place = self.text.find(value.strip())
            if place >= 0:
                span = (place, place + len(value.strip()))
                return [Hit((span,), True)]
        return sorted(hits.values(), key=lambda hit: hit.spans)

    def find_passage(self, passage: str) -> list[tuple[int, int]]:
        """Where these words stand one after the other, whatever lies between them but other words."""
        wanted = "".join(fold(token) for token in _TOKEN.findall(passage))
        if not wanted:
            return []
        return [(self.starts[tokens[0]], self.ends[tokens[-1]]) for tokens in self._main.find(wanted)]

    def _find_in_columns(self, value: str) -> dict[tuple[tuple[int, int], ...], Hit]:
        if self._columns is None:
            self._columns = _Stream(self._downwards(), self.folded)
        hits: dict[tuple[tuple[int, int], ...], Hit] = {}
        for wanted in _spellings(value):
            for tokens in self._columns.find(wanted):
                spans: list[tuple[int, int]] = []
                for token in tokens:
                    low, high = self.starts[token], self.ends[token]
                    if spans and spans[-1][1] <= low and not _TOKEN.search(self.text, spans[-1][1], low):
                        spans[-1] = (spans[-1][0], high)
                    else:
                        spans.append((low, high))
                if len(spans) == 1 or self._is_glued(spans[0][0], spans[0][1], value):
                    continue
                spans[-1] = (spans[-1][0], self._with_ending(spans[-1][1], value))
                hits.setdefault(tuple(spans), Hit(tuple(spans), False))
        return hits

    def _hit(self, tokens: list[int], value: str) -> Hit | None:
        start, end = self.starts[tokens[0]], self.ends[tokens[-1]]
        digits = value.strip().replace(" ", "").isdigit()
        for one, other in pairwise(tokens):
            gap = self.text[self.ends[one] : self.starts[other]]
            if not _joins(gap, digits=digits):
                return None
        if self._is_glued(start, end, value):
            return None
        start = self._with_beginning(start, value)
        end = self._with_ending(end, value)
        if value and not value[-1].isalnum() and value[-1] in "+#" and self.text[end - 1] != value[-1]:
            return None
        written = _LINE_BREAK.sub(" ", self.text[start:end])
        return Hit(((start, end),), written.casefold() == " ".join(value.split()).casefold())

    def _is_glued(self, start: int, end: int, value: str) -> bool:
        """Whether the hit is part of a longer id, word or number."""
        text = self.text
        before, after = text[start - 2 : start], text[end : end + 2]
        if len(value) <= _SHORT and value[-1:].isalnum() and after[:1] in _SIGNS and not after[1:].isalnum():
            return True  # the grade A is not in "A-"
        if start >= 2 and before[-1] in _GLUE and before[0].isalnum() and value[:1] != before[-1]:
            return True
        if len(after) == 2 and after[1].isalnum():
            if after[0] in _GLUE:
                return True
            if after[0] in ".,:" and after[1].isdigit() and text[end - 1].isdigit():
                return True
        if len(before) == 2 and before[1] in ".," and before[0].isdigit() and text[start].isdigit():
            return True
        return before.endswith("_") or (after.startswith("_") and not after.startswith("__"))

    def _with_beginning(self, start: int, value: str) -> int:
        lead = re.match(r"[^\w\s]+", value)
        if lead and self.text[max(0, start - len(lead.group())) : start] == lead.group():
            return start - len(lead.group())
        return start

    def _with_ending(self, end: int, value: str) -> int:
        """With the punctuation that belongs to the value: the point of "Inc.", a closing bracket, "C++"."""
        tail = re.search(r"[^\w\s]+$", value)
        if tail and self.text.startswith(tail.group(), end):
            return end + len(tail.group())
        return end

    def _downwards(self) -> list[int]:
        """Tokens column by column: each chain of cells that stand below each other, block by block."""
        order: list[int] = []
        block: list[list[Cell]] = []
        for line in [*self._layout.lines, None]:
            if line is not None and line.kind == "text":
                block.append(line.cells)
                continue
            if line is not None and line.kind == "rule":
                continue
            if len(block) > 1 and any(len(cells) > 1 for cells in block):
                order.extend(self._chains(block))
                order.append(-1)
            block = []
        return order

    def _chains(self, block: list[list[Cell]]) -> list[int]:
        chains: list[list[Cell]] = []
        for cells in block:
            for cell in cells:
                owner = next((chain for chain in chains if overlap(chain[-1], cell)), None)
                owner = owner or next((chain for chain in chains if abs(chain[0].column - cell.column) <= 1), None)
                if owner is not None:
                    owner.append(cell)
                elif len(chains) < _MOST_COLUMNS:
                    chains.append([cell])
        order: list[int] = []
        for chain in sorted(chains, key=lambda chain: chain[0].column):
            for cell in chain:
                low, high = bisect_left(self.starts, cell.start), bisect_left(self.starts, cell.end)
                order.extend(range(low, high))
        return order


def _spellings(value: str) -> list[str]:
    folded = "".join(fold(token) for token in _TOKEN.findall(value))
    if not folded or len(folded) > _LONGEST:
        return []
    spellings = [folded]
    for one, other in (("&", " and "), (" and ", " ")):
        if one in value:
            spellings.append("".join(fold(token) for token in _TOKEN.findall(value.replace(one, other))))
    return spellings


def _joins(gap: str, *, digits: bool) -> bool:
    """Whether what stands between two tokens may stand inside one value."""
    if digits:
        return len(gap) == 0 or (len(gap.strip()) <= 1 and gap.strip() in ("", "-", "–", "/", "‐") and len(gap) <= 3)
    if "\n\n" in gap or len(gap.strip()) > 4:
        return False
    return "\n" in gap or _WIDE.search(gap) is None

"""What labels a place in the text has: beside and above it, in headings, and in the sentence around it.

A label is worth more the nearer it stands. `primary` is the label that names the role of exactly this place: a word in
it that belongs to another role speaks against a field.
"""

import re
from bisect import bisect_left
from functools import lru_cache
from itertools import chain
from operator import attrgetter

from msgspec import Struct

from batchwork.evidence.layout import Cell, Layout, beside, can_label, column_of, unnumbered
from batchwork.evidence.words import PATTERNS, ROLES, concepts, is_known

_FORMS = {name: re.compile(pattern) for name, pattern in PATTERNS["labels"].items()}
_SIGNS = {"$": "usd", "€": "eur", "£": "gbp", "¥": "jpy"}
_START = attrgetter("start")
_LONGEST_LABEL, _LONGEST_CELL = 8, 45  # words, characters
_FLOWING = 38  # a line at least this long goes on in the next one
_REACH, _CELLS = 300, 20  # characters, cells; no label is further away, and lines can be endless
_APART = 40  # columns between a title and a letterhead on the first line
_FADING = (0.9, 0.8, 0.7, 0.5, 0.35)  # what the words behind a place are worth

# Which end of a range or of a change a place is, by what stands before it or behind, and the words that say so.
_ENDS = {name: dict.fromkeys(words.split(), 0.85) for name, words in PATTERNS["ends"]["words"].items()}
_END_BEFORE, _END_BEHIND = re.compile(PATTERNS["ends"]["before"]), re.compile(PATTERNS["ends"]["behind"])
_END_WORDS = frozenset(PATTERNS["ends"]["hints"].split())  # one of these, or of the signs, stands right before an end
_OPENING, _LABEL_ENDS = "\"'“([<`*", tuple(":=#?-–—>")  # what may stand between a label's last mark and its value
_DASHES, _END_SIGNS = tuple("-–—−~"), tuple("<≤⩽>≥⩾=x×@*/.…")


class Label(Struct, frozen=True, gc=False):
    """Some words near a place; `weights` says what each concept is worth there."""

    kind: str  # named, prose, left, head, over, section, path, after, defined, unit
    weights: dict[str, float]


class Context(Struct, frozen=True, gc=False):
    """All labels of one place; `primary` are those that name its own role."""

    line: int
    primary: tuple[Label, ...]
    weights: dict[str, float]  # for each concept the most that any label makes of it
    words: tuple[str, ...]  # of the primary labels
    kinds: frozenset[str]  # of the primary labels that say something
    keys: tuple[tuple[tuple[str, ...], bool], ...]  # the words of each label that names a role, and whether it is prose
    behind: tuple[str, ...]  # the words right behind it
    ends: tuple[dict[str, float], ...]  # which end of a range or a change it is
    is_past: bool


# A line that begins with two dashes says who wrote what stands above, and when.
_SIGNED = Label("section", dict.fromkeys(concepts("author maintainer uploaded signed changed written released"), 0.8))


class Contexts:
    """Finds the labels of places in one layout, each once."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._known: dict[tuple[int, int], Context] = {}
        self._sections: dict[int, list[Label]] = {}  # by line

    def of(self, start: int, end: int) -> Context:
        """The labels of the place from `start` to `end`."""
        known = self._known.get((start, end))
        if known is None:
            number = self._layout.line_of(start)
            cell = self._layout.cell_of(start, number)
            known = self._find(number, cell, start, end) if cell else _context(number, [], [], [])
            self._known[start, end] = known
        return known

    def _find(self, number: int, cell: Cell, start: int, end: int) -> Context:
        layout, own, others = self._layout, list[Label](), _unit(self._layout.text[start:end])
        before, ends = "", list[dict[str, float]]()
        if len(layout.lines[number].cells) == 1 or cell.start < start or end < cell.end:  # no cell of a table or a form
            before = self._before(number, cell, start)
            ends = ends_of(layout.text, start, end)
            others += self._after(cell, end)
            own = self._defined(end)
        told = _told(before) if before and not _FORMS["bare"].fullmatch(before) else None
        above = self._above(number, cell, told is not None)
        if told is None:
            own += self._left(number, cell) + above
        else:
            own = own or [told[1]]
            others += [told[0], *above]
        if number not in self._sections:
            self._sections[number] = self._over_all(number)
        return _context(number, own, others + self._sections[number], list(ends))

    def _before(self, number: int, cell: Cell, start: int) -> str:
        """The words before the place in its cell, in prose also those of the lines before, of the same clause."""
        lines, text = self._layout.lines, self._layout.text
        begin = cell.start
        for below in range(number, max(number - 3, 0), -1):
            above, alone = lines[below - 1], len(lines[below].cells) == len(lines[below - 1].cells) == 1
            if not alone or above.end - above.start < _FLOWING or _FORMS["keyed"].match(lines[below].cells[0].text):
                break
            begin = above.cells[0].start
        begin = max(begin, start - _REACH)
        for found in _FORMS["clause_end"].finditer(text, begin, start + 1):
            begin = min(found.end(), start)
        before = text[begin:start]
        return _FORMS["counted"].sub(" ", before) if _FORMS["digit"].search(before) else before

    def _after(self, cell: Cell, end: int) -> list[Label]:
        """The words behind a place, up to the end of their clause or the next number: units, and what it counts."""
        text = self._layout.text[end : min(cell.end, end + 60)]
        if "of " in text or "'s" in text or "’s" in text:
            text = _FORMS["part_of"].sub("", text)
        weights: dict[str, float] = {}
        for word, weight in zip(concepts(_FORMS["after_end"].split(text, maxsplit=1)[0]), _FADING, strict=False):
            if word.isdigit():
                break
            weights.setdefault(word, weight)
        return [Label("after", weights)] if weights else []

    def _defined(self, end: int) -> list[Label]:
        """The name that a paper gives somebody behind his own: (the "Tenant"), or his role: ", landlord,"."""
        text = self._layout.text
        found = _FORMS["defined"].match(text, end) if text[end : end + 2].strip()[:1] in (",", "(") else None
        if found is None:
            return []
        label = label_of("defined", found[1] or found[2] or found[3], 1.0)
        return [label] if found[3] is None or any(map(is_known, label.weights)) else []

    def _left(self, number: int, cell: Cell) -> list[Label]:
        """The nearest label to the left in its line."""
        cells = self._layout.lines[number].cells
        rank = bisect_left(cells, cell.start, key=_START)
        if not rank or (not number and cell.start - cells[rank - 1].end > _APART and not re.search(r"\d", cell.text)):
            return []
        headed = self._layout.head_row(number)
        for other in (*cells[rank - 1 : max(rank - _CELLS, 0) : -1], cells[0]):
            is_said = not headed and _FORMS["said"].search(other.text)  # a sentence or a pair is no label
            if can_label(other.text) and not is_said:
                return [label_of("left", other.text, 1.0)]
        return []

    def _above(self, number: int, cell: Cell, is_told: bool) -> list[Label]:
        """The heading of the column, or the label that stands right above."""
        row = self._layout.head_row(number)
        head = column_of(row, cell) if row else None
        if head is not None:
            return [label_of("head", head.text, 0.95)]
        cells = self._layout.lines[number - 1].cells if number and not is_told else []
        for other in beside(cells, cell):
            if can_label(other.text) and len(other.text) <= _LONGEST_CELL:
                texts = (unnumbered(cell.text) for cell in cells[:_CELLS])
                labels = other.text.endswith(":") or not any(map(_FORMS["says"].search, texts))
                return [label_of("over", other.text, 0.9)] if labels else []
        return []

    def _over_all(self, number: int) -> list[Label]:
        """The headings over a line, and the keys of the objects around it."""
        layout, labels = self._layout, list[Label]()
        for rank, heading in enumerate(layout.headings[number]):
            kind, weight = ("path", 0.85) if layout.opens(heading) else ("section", 0.6)
            labels.append(label_of(kind, layout.lines[heading].cells[0].text, weight - 0.15 * rank))
        return [*labels, _SIGNED] if layout.text.startswith("-- ", layout.lines[number].cells[0].start) else labels


def _context(number: int, primary: list[Label], others: list[Label], ends: list[dict[str, float]]) -> Context:
    labels, weights = [*primary, *others], dict[str, float]()
    for said in (*[label.weights for label in labels], *ends):
        for word, weight in said.items():
            if weight > weights.get(word, 0.0):
                weights[word] = weight
    named = [(label.weights, label.kind == "prose") for label in primary]
    named += [(label.weights, False) for label in others if label.kind == "path"]
    named += [(end, False) for end in ends]  # not the name of a place, but what it says of its role counts as much
    words = primary[0].weights if len(primary) == 1 else dict.fromkeys(chain(*[label.weights for label in primary]))
    return Context(
        line=number,
        primary=tuple(primary),
        weights=weights,
        words=tuple(words),
        kinds=frozenset([label.kind for label in primary if label.weights]),
        keys=tuple([(tuple(said), prose) for said, prose in named if not ROLES.isdisjoint(said)]),
        behind=next((tuple(label.weights)[:3] for label in others if label.kind == "after"), ()),
        ends=tuple(ends),
        is_past=any("previous" in said for said in (*ends, *[o.weights for o in labels if o.kind == "head"])),
    )


@lru_cache(maxsize=20_000)
def label_of(kind: str, text: str, weight: float) -> Label:
    """A label all of whose words count alike."""
    if kind not in ("section", "path"):
        text = unnumbered(text)
    words = [
        word for word in concepts(text[:120]) if not word.isdigit() or _FORMS["year"].fullmatch(word) or kind == "head"
    ]
    return Label(kind, dict.fromkeys(words, weight))


def _told(before: str) -> tuple[Label, Label] | None:
    """The words before a place, and those of them that name its role: behind the last comma, bracket or number.

    The last few count in full, those further away ever less, less again beyond a comma or a number.
    """
    marked = before.rstrip().rstrip(_OPENING).rstrip().endswith(_LABEL_ENDS)
    found = _FORMS["label_end"].search(before) if marked else None  # a label with its colon rather than a sentence
    named = found is not None and len(_FORMS["pieces"].split(before[: found.start()])[-1].split()) <= _LONGEST_LABEL
    outside = _FORMS["aside"].sub(" ", before) if "(" in before else before
    text = outside if outside is before or concepts(outside) else before
    weights, own = dict[str, float](), list[str]()
    weight = 1.0
    for piece in reversed(_FORMS["pieces"].split(text)):
        last, numbered = not weights, False
        for word in reversed(concepts(piece[-200:])):
            if word.isdigit() and not _FORMS["year"].fullmatch(word):
                weight *= 1.0 if numbered else 0.75
                numbered = True
                last = last and named  # in a sentence the words before another number are that one's
                continue
            if last:
                own.append(word)
            if word not in weights:
                far = len(weights) - 3
                weights[word] = max(weight * 0.86**far if far > 0 else weight, 0.2)
    kind = "named" if named else "prose"
    mine = own[: 6 if named else 3]
    return (Label(kind, weights), Label(kind, dict.fromkeys(reversed(mine), 1.0))) if weights else None


def ends_of(text: str, start: int, end: int) -> list[dict[str, float]]:
    """The end of a range, of a change or of a pair that the place from `start` to `end` is, as words of a label."""
    last = text[max(0, start - 20) : start].rstrip(" \n\"“„«'($€£").lower()
    signed = last.endswith(_DASHES) or (last.endswith(_END_SIGNS) and text[start : start + 1].isdigit())
    hinted = signed or not _END_WORDS.isdisjoint(last.split()[-1:])
    before = _END_BEFORE.search(text, max(0, start - (40 if signed else 90)), start) if hinted else None
    return [_ENDS[found.lastgroup] for found in (before, _END_BEHIND.match(text, end)) if found and found.lastgroup]


def _unit(said: str) -> list[Label]:
    """The currency that a figure shows, as a label of its own."""
    found = _FORMS["currency"].search(said)
    return [Label("unit", {_SIGNS.get(found.group(), found.group().lower()): 1.0})] if found else []

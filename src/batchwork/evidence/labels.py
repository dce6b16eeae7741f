"""What labels a place in the text has: beside and above it, in headings, and in the sentence around it.

A label is worth more the nearer it stands. `primary` is the label that names the role of exactly this place: a word in
it that belongs to another role speaks against a field.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile

from msgspec import Struct

from batchwork.evidence.layout import Cell, Layout, column_of, overlap, unnumbered
from batchwork.evidence.ranges import ends_of
from batchwork.evidence.words import PATTERNS, UNITS, concepts, is_known, looks_like_name

_PATTERNS: dict[str, str] = PATTERNS["labels"]

_LABEL_END = re.compile(r"[:=#?]\s*[\"'“(\[<`*]*$|\s[-–—]\s*$|(?<=[\w\"])>\s*$")
_PIECES = re.compile(r"([,;](?!\d)|[()\[\]]|\s[-–—]\s|(?<=[a-z\d)])\.\s|:\s)")
_CLAUSE_END = re.compile(
    r"[.!?;•▪‣w](?:(?<=[.!?])(?<!\bNo.|\bno.|\bNr.|\bAm.|\bDr.)\s+(?=[^a-z\s\d])|(?<=;)\s|(?<=[•▪‣])\s?|(?<=\sw)(?:hereas|hile)\s)"
)
_ASIDE = re.compile(r"\([^()]*\)")
_COUNTED = re.compile(
    _PATTERNS["counted"]
)  # what another number before a place counts: "4 bedrooms and", "8 g on admission to"
_DIGIT = re.compile(r"[\d%]")
_BULLET = re.compile(r"^(?:#{1,6}\s)?[\s>*•▪‣+\-–\[\](){}\"'“”xX✓✔☑☐☒\d.]*$")
_CALCULATION = re.compile(r"(?:\d[\d.,]* ?[A-Za-z]{0,6} ?[x×@*=] ?(?:[A-Z]{3} |[$€£] ?)?)+$")  # 6.5 h x $48.00 =
_KEYED = re.compile(r"[^\W\d_][\w ./&-]{0,30}:\s")  # a line that starts with a label of its own
_SAID = re.compile(r"\s\S+\s\S+\s\S+[.,;]$|^[^:]{2,30}:\s+\w")  # a sentence, or a label with its value
_SAYS = re.compile(r":\s*\S|\d{2}|[!;,]$|\w{5}\.$")  # a cell that says something is no mere label
_DATES = re.compile(_PATTERNS["dates"])
_DEFINED = re.compile(_PATTERNS["defined"])
_AFTER_END = re.compile(r"[.;,:]\s|\n\n|[;(]|\s(?:and|but|while|or|und|aber|et|mais|y)\s")
_CURRENCY = re.compile(r"[$€£¥]|(?:USD|EUR|GBP|CHF|JPY|CAD|AUD)(?![A-Za-z])")
_SIGNS = {"$": "usd", "€": "eur", "£": "gbp", "¥": "jpy"}
_ENUMERATION = re.compile(r"^[\s>*•-]*([^:,;.\n]{2,45}):\s+(?:[^,;:\n]{1,60}(?:[,;]|\s(?:and|und|et)\s)\s*)+$")
_CLEAR = frozenset({"path", "end"})  # not the name of a place, but what it says of its role counts as much
_POSSESSIVE = re.compile(r"\b[^\W\d]+['’]s\s+(?=[a-z])")  # "the tenant's guarantor" is a guarantor
_WHOLE = re.compile(r"^\s+(?:out )?of (?:the |all )?(?=\d)[\d.,]+")  # "38 of 120 stands" are stands
_AROUND = frozenset({"section", "heading", "head", "row", "left"})
_LONGEST_LABEL, _LONGEST_CELL = 8, 45  # words, characters
_FLOWING = 38  # a line at least this long goes on in the next one
_REACH = 300  # characters; no label is further away, and lines can be endless


class Label(Struct, frozen=True, gc=False):
    """Some words near a place; `weights` says what each concept is worth there."""

    kind: str  # named, prose, left, row, head, over, below, section, heading, path, after, defined, end, unit
    weights: dict[str, float]
    text: str

    @property
    def key(self) -> tuple[str, ...]:
        """Its concepts, in order."""
        return tuple(self.weights)


class Context(Struct, frozen=True, gc=False):
    """All labels of one place; `primary` are those that name its own role."""

    line: int
    labels: tuple[Label, ...]
    primary: tuple[Label, ...]
    weights: dict[str, float]  # for each concept the most that any label makes of it
    words: tuple[str, ...]  # of the primary labels
    near: dict[str, float]  # what each of them is worth
    kinds: frozenset[str]  # of the primary labels that say something
    keys: tuple[tuple[tuple[str, ...], bool], ...]  # the words of each primary label, and whether it is prose
    around: tuple[tuple[str, ...], ...]  # the words of the labels around it that are not its own
    behind: tuple[str, ...]  # the words right behind it
    ends: tuple[dict[str, float], ...]  # which end of a range or a change it is
    is_past: bool


class Contexts:
    """Finds the labels of places in one layout, each once."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._known: dict[tuple[int, int], Context] = {}
        self._first = next((number for number, line in enumerate(layout.lines) if line.cells), 0)
        self._known_sections: dict[int, list[Label]] = {}  # by line

    def of(self, start: int, end: int) -> Context:
        """The labels of the place from `start` to `end`."""
        known = self._known.get((start, end))
        if known is None:
            number = self._layout.line_of(start)
            labels, primary = self._find(number, start, end)
            best: dict[str, float] = {}
            for label in labels:
                for word, weight in label.weights.items():
                    if weight > best.get(word, 0.0):
                        best[word] = weight
            near = {word: weight for label in primary for word, weight in label.weights.items()}
            ends = tuple(label.weights for label in labels if label.kind == "end")
            head_past = any(label.kind == "head" and {"previous", "year"} <= label.weights.keys() for label in labels)
            known = self._known[start, end] = Context(
                line=number,
                labels=tuple(labels),
                primary=tuple(primary),
                weights=best,
                words=tuple(near),
                near=near,
                kinds=frozenset([label.kind for label in primary if label.weights]),
                keys=tuple([(o.key, o.kind == "prose") for o in (*primary, *(o for o in labels if o.kind in _CLEAR))]),
                around=tuple([o.key for o in labels if o.kind in _AROUND and o not in primary]),
                behind=next((label.key[:3] for label in labels if label.kind == "after"), ()),
                ends=ends,
                is_past=head_past or any("previous" in words for words in ends),
            )
        return known

    def _find(self, number: int, start: int, end: int) -> tuple[list[Label], list[Label]]:
        layout = self._layout
        cell = layout.cell_of(start, number)
        if cell is None:
            return [], []
        if cell.start == start and cell.end == end and len(layout.lines[number].cells) > 1:
            return self._whole_cell(number, cell)
        before = self._before(number, cell, start)
        bare = (_BULLET.match(before) or _CALCULATION.match(before)) is not None
        listed = _ENUMERATION.match(before)
        inline = None if bare else label_of("named", listed[1], 0.9) if listed else _faded(before)
        labels = [inline] if inline else []
        named = inline is not None and (bool(listed) or _is_named(before) or len(layout.lines[number].cells) > 1)
        primary = [inline if listed and inline else _last_piece(before)] if named else []
        defined = _DEFINED.match(layout.text, end) if layout.text[end : end + 2].strip()[:1] in (",", "(") else None
        if defined:
            label = label_of("defined", defined[1] or defined[2] or defined[3], 1.0)
            if defined[3] is None or is_known_role(label):
                labels.append(label)
                primary, named = [label], True
        labels.extend(Label("end", words, "") for words in ends_of(layout.text, start, end))
        labels.extend(_unit(layout.text[start:end]))
        labels.extend(self._after(cell, end))
        if inline is None:
            left = list(self._left(number, cell))
            labels.extend(left)
            primary.extend(label for label in left if label.kind == "left")
        elif cell.index and layout.lines[number].cells[0].is_label:
            labels.append(label_of("row", layout.lines[number].cells[0].text, 0.85))
        head = self._above(number, cell, inline is not None)
        if head is not None:
            labels.append(head)
            if not named:
                primary.append(head)
        sections = self._sections_of(number, cell)
        labels.extend(sections)
        if not primary and inline is not None:
            primary.append(_last_piece(before))
        elif not primary:
            primary.extend(sections[:1] if sections and sections[0].kind == "heading" else [])
        return labels, primary

    def _whole_cell(self, number: int, cell: Cell) -> tuple[list[Label], list[Label]]:
        """The labels of a cell of a table or a form: what stands left of it, above, and over all."""
        labels = [*_unit(cell.text), *self._left(number, cell)]
        primary = [label for label in labels if label.kind == "left"]
        head = self._above(number, cell, False)
        if head is not None:
            labels.append(head)
            primary.append(head)
        sections = self._sections_of(number, cell)
        return [*labels, *sections], primary or [label for label in sections[:1] if label.kind == "heading"]

    def _sections_of(self, number: int, cell: Cell) -> list[Label]:
        sections = self._known_sections.get(number)
        if sections is None:
            sections = self._known_sections[number] = list(self._sections(number, cell))
        return sections

    def _before(self, number: int, cell: Cell, start: int) -> str:
        """The words before the place in its cell, in prose also those of the lines before, of the same clause."""
        lines = self._layout.lines
        begin, above = cell.start, number - 1
        while (
            above >= 0
            and number - above <= 3
            and len(lines[above].cells) == len(lines[number].cells) == 1
            and lines[above].end - lines[above].start >= _FLOWING
            and above not in self._layout.headings[number]
            and not lines[above].cells[0].text.endswith((":", "."))
            and _KEYED.match(lines[above + 1].cells[0].text) is None
        ):
            begin = lines[above].cells[0].start
            above -= 1
        begin = max(begin, start - _REACH)
        for found in _CLAUSE_END.finditer(self._layout.text[begin : start + 1]):
            begin = max(begin, start - len(found.string) + 1 + found.end())
        before = self._layout.text[begin:start]
        return _COUNTED.sub(" ", before) if _DIGIT.search(before) else before

    def _after(self, cell: Cell, end: int) -> Iterator[Label]:
        """The words behind a place, up to the end of their clause or the next number: units, and what it counts."""
        text = self._layout.text[end : min(cell.end, end + 60)]
        if len(text) < 30 and cell.end - cell.start >= _FLOWING:
            text = self._layout.text[end : end + 60].split("\n\n")[0]  # a sentence that goes on in the next line
        figure = self._layout.text[end - 1 : end].isdigit()
        text = _POSSESSIVE.sub("", _WHOLE.sub("", text))
        text = _AFTER_END.split(text, maxsplit=1)[0]
        words = tuple(takewhile(lambda word: not word.isdigit(), concepts(text)))
        units = tuple(takewhile(UNITS.__contains__, words)) if figure else ()
        weights = dict.fromkeys(units, 0.9)
        for word, weight in zip(words[len(units) :], (0.9, 0.8, 0.7, 0.5, 0.35), strict=False):
            weights.setdefault(word, weight)
        if weights:
            yield Label("after", weights, text)

    def _left(self, number: int, cell: Cell) -> Iterator[Label]:
        """The nearest label to the left in its line, and the first one of the line."""
        cells = self._layout.lines[number].cells
        headed = bool(self._layout.head_row(number))
        lefts = [o for o in cells if o.start < cell.start and o.is_label and (headed or not _SAID.search(o.text))]
        title = number == self._first and not any(map(str.isdigit, cell.text))
        if not lefts or (title and cell.is_label and not lefts[-1].text.endswith(":")):
            return  # beside a title stands whose paper it is
        nearest = lefts[-1]
        between = [other for other in cells if nearest.start < other.start < cell.start]
        if not (between and nearest.text.endswith(":")):
            yield label_of("left", nearest.text, 1.0 if not between else 0.85)
        if len(lefts) > 1:
            yield label_of("row", lefts[0].text, 0.85)

    def _above(self, number: int, cell: Cell, has_inline: bool) -> Label | None:
        """The heading of the column, or the label that stands right above."""
        head = self._layout.head_row(number)
        owner = column_of(head, cell) if head else None
        if owner is not None:
            cells = self._layout.lines[number].cells
            if len(head) > 2 and len(cells) == 2 and cells[0].is_label and cells[0].column > head[0].until:
                return None  # a label with one value below a table, such as a total
            return _dated_head(tuple(other.text for other in head), owner)
        if has_inline:
            return None
        lines = self._layout.lines
        for above in range(number - 1, max(-1, number - 4), -1):
            if lines[above].kind == "blank":
                return None
            over = [other for other in lines[above].cells if overlap(other, cell) or other.column == cell.column]
            if over or (lines[above].kind == "text" and not cell.column):
                return self._over(above, over[0], cell) if over else None
        return None

    def _over(self, above: int, other: Cell, cell: Cell) -> Label | None:
        alone = other.text.endswith(":") or self._is_label_line(above)
        beside = other.column == cell.column > 0 and other.is_known_label and _says_nothing(other.text)
        told = other.text.lstrip("> ")
        if not (alone or beside) or not other.is_label or len(told) > _LONGEST_CELL or looks_like_name(told):
            return None
        if not other.text.endswith(":") and re.search(r"\d", unnumbered(told)):
            return None
        return label_of("over", other.text, 0.9)

    def _is_label_line(self, number: int) -> bool:
        """Whether a line holds labels for the next one rather than values or a sentence of its own."""
        cells = self._layout.lines[number].cells
        return all(cell.is_label and _says_nothing(unnumbered(cell.text)) for cell in cells)

    def _sections(self, number: int, cell: Cell) -> Iterator[Label]:
        """The headings over a line."""
        layout = self._layout
        for rank, heading in enumerate(layout.headings[number]):
            head = layout.lines[heading].cells[0]
            if layout.opens(heading):
                yield label_of("path", head.text, 0.85 - 0.1 * rank)
                continue
            if looks_like_name(head.text) or head.column - cell.column > 40 or (rank and heading == 0):
                continue
            near = number - heading <= 2 and rank == 0
            yield label_of(
                "heading" if near else "section", head.text.lstrip("# "), (0.85 if near else 0.6) - 0.2 * rank
            )


@lru_cache(maxsize=20_000)
def label_of(kind: str, text: str, weight: float) -> Label:
    """A label all of whose words count alike."""
    head = (
        text if kind in ("section", "heading", "path") else unnumbered(_DATES.sub(r" \2\3 ", text.partition(": ")[0]))
    )
    words = [word for word in concepts(head[:120]) if not word.isdigit() or _is_year(word) or kind == "head"]
    return Label(kind, dict.fromkeys(words, weight), text)


@lru_cache(maxsize=5_000)
def _dated_head(head: tuple[str, ...], owner: int) -> Label:
    """A column's heading; of several years the latest is the current one."""
    label = label_of("head", head[owner], 0.95)
    years = sorted({word for text in head for word in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", text)}, reverse=True)
    mine = [year for year in years if year in head[owner]]
    if len(years) < 2 or len(mine) != 1:
        return label
    age = years.index(mine[0])
    more = {"previous" if age else "current": 0.8 if age < 2 else 0.3, "year": 0.8}
    return Label("head", {**label.weights, **more}, label.text)


def is_known_role(label: Label) -> bool:
    """Whether a word behind a name is a role that somebody plays."""
    return any(map(is_known, label.weights))


def _faded(before: str) -> Label | None:
    """Words before a place: the last few in full, those further away ever less, less again beyond a comma or number."""
    weights: dict[str, float] = {}
    weight, count = 1.0, 0
    outside = _ASIDE.sub(" ", before)
    if concepts(outside) and outside != before:
        plain = [aside for aside in _ASIDE.findall(before)[-1:] if not any(map(str.isdigit, aside))]
        weights = dict.fromkeys((word for aside in plain for word in concepts(aside)), 0.5)
    else:
        outside = before
    pieces = _PIECES.split(outside)  # and what separates them
    for rank, piece in enumerate(reversed(pieces)):
        if rank % 2:
            continue
        numbered = False
        for word in reversed(concepts(piece[-200:])):
            if word.isdigit() and not _is_year(word):
                weight *= 1.0 if numbered else 0.75
                numbered = True
                continue
            worth = max(weight * 0.86 ** max(0, count - 3), 0.2)
            if worth > weights.get(word, 0.0):
                weights[word] = worth
            count += 1
        if rank + 1 < len(pieces) and (count or "," in pieces[-rank - 2]):
            weight *= 0.9 if ":" in pieces[-rank - 2] else 0.6
    return Label("named" if _is_named(before) else "prose", weights, before) if weights else None


@lru_cache(maxsize=1_000)
def _is_named(text: str) -> bool:
    """Whether the words before a place are a label with its colon rather than a sentence."""
    if _LABEL_END.search(text) is None:
        return False
    return len(_PIECES.split(_LABEL_END.sub("", text))[-1].split()) <= _LONGEST_LABEL


def _last_piece(before: str) -> Label:
    """The part of the words before a place that names its role: what follows the last comma, bracket or number."""
    named = _is_named(before)
    text = _LABEL_END.sub("", _DATES.sub(r" \2\3 ", before) if named else before)
    outside = _ASIDE.sub(" ", text)
    pieces = [piece for piece in _PIECES.split(outside if concepts(outside) else text)[::2] if concepts(piece)]
    words: list[str] = []
    for word in concepts(pieces[-1]) if pieces else ():
        if word.isdigit() and not _is_year(word):
            words = words if named else []  # in a sentence the words before another number are that one's
        else:
            words.append(word)
    return Label("named" if named else "prose", dict.fromkeys(words[-6:] if named else words[-3:], 1.0), before)


def _unit(said: str) -> tuple[Label, ...]:
    """The currency that a figure shows, as a label of its own."""
    found = _CURRENCY.search(said)
    return (Label("unit", {_SIGNS.get(found.group(), found.group().lower()): 1.0}, found.group()),) if found else ()


def _says_nothing(text: str) -> bool:
    return len(text.split()) <= 6 and not _SAYS.search(text)


def _is_year(text: str) -> bool:
    return len(text) == 4 and text.isdigit() and text[:2] in ("19", "20")

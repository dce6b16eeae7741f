"""Whether a place cannot say a field: the text denies it, or the field's label stands beside another value.

A result is looked at as a whole: a value is contradicted when its field would fit better where another value stands,
alone or by changing places with another field, and when another field fits its place better.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import attrgetter

from batchwork.evidence import thresholds
from batchwork.evidence.booleans import box_before
from batchwork.evidence.features import NAMES, OF_VALUE, Scored, Scorer
from batchwork.evidence.fields import Field
from batchwork.evidence.labels import Context
from batchwork.evidence.layout import unnumbered
from batchwork.evidence.model import score
from batchwork.evidence.readers import FIGURES, Place, Source
from batchwork.evidence.words import NEGATIONS, PATTERNS, concepts, fold, is_known, words_of

Claims = dict[tuple[int, int], list[tuple[Field, float]]]
_OF_VALUE = [NAMES.index(name) for name in OF_VALUE]
Sort = tuple[object, ...]  # what somebody could take a place for
Value = tuple[int, int, str]  # from, to, kind
_start = attrgetter("start")
_FORMS = {name: re.compile(pattern) for name, pattern in PATTERNS["contradictions"].items()}
_STRUCTURED = frozenset({"named", "left", "head", "over"})
_SENTENCE = 6  # words from which on a string is no name
NOWHERE = -99.0


class Contradictions:
    """Says for the fields of one result what contradicts their best places."""

    def __init__(self, source: Source, scorer: Scorer) -> None:
        self._source = source
        self._scorer = scorer
        self._settled: dict[tuple[str, Sort], list[tuple[Field, Scored]]] = {}
        self._values: dict[tuple[int, str], list[tuple[Value, Sort]]] = {}
        self._claims: Claims = {}

    def settle(self, found: Mapping[str, list[Scored]], fields: Iterable[Field], claims: Claims) -> None:
        """Take the places that the fields have."""
        self._claims = claims
        self._settled = defaultdict(list)
        for field in fields:
            for best in found[field.path][:1]:
                if best.place.kind != "answer":
                    self._settled[self._rank(field, best)].append((field, best))

    def contested(self, field: Field, best: Scored) -> float:
        """How well the best place fits another field of the same object or element that wants it."""
        claims = self._claims.get((best.place.start, best.place.end), ())
        others = (points for other, points in claims if other is not field and field.record == other.record)
        return max(others, default=NOWHERE)

    def exchange(self, field: Field, best: Scored) -> float:
        """How well the field would fit where another one stands, as far as both would do better to change places."""
        if best.place.kind == "answer" or not field.own:
            return NOWHERE
        others = self._others(field, self._rank(field, best))
        return max((self._exchange(field, best, other) for other in others), default=NOWHERE)

    def alternatives(self, field: Field, scored: list[Scored]) -> Iterator[float]:
        """How well the field would fit where values of its kind stand that are nobody's."""
        best = scored[0]
        if best.place.kind == "answer" or not field.own:
            return
        sort = self._sort(best.place.start, best.place.end, best.place.kind)
        taken = [span for entry in scored for span in entry.place.spans]
        mine = self._scorer.label_match(field, best.context)
        labelled = mine >= thresholds.NAMED_ENOUGH and not best.context.kinds.isdisjoint(_STRUCTURED)
        least = max(_least(best), mine - thresholds.NEARLY_AS_WELL)
        lines = [best.context.line] if mine > thresholds.EXACTLY else self._lines(field)
        values = chain.from_iterable(self._on_line(line, best.place.kind) for line in lines)
        for start, end, kind in (value for value, other in values if other == sort):
            if any(low < end and start < high for low, high in taken):
                continue
            context = self._scorer.contexts.of(start, end)
            if not self._scorer.label_match(field, context, least):
                continue
            if context.kinds.isdisjoint(_STRUCTURED) and (labelled or kind not in FIGURES):
                continue  # words in a sentence do not outdo a label
            place = Place(((start, end),), kind)
            free = all(other is field or points <= 0 for other, points in self._claims.get((start, end), ()))
            if free and not is_denied(self._source, field, place, context):
                yield self._fit(field, best, place)

    def _lines(self, field: Field) -> Sequence[int]:
        """The lines where a field's own label may stand: those that name it, or those of its list element."""
        layout, home = self._source.layout, self._scorer.homes.get(field.record)
        if home is None:
            return self._scorer.topics.lines_about(field.telling or field.own)[: thresholds.MOST_RIVAL_LINES]
        last = layout.line_of(max(home.start, home.end - 2))
        return range(layout.line_of(home.start), last + 1)[: thresholds.MOST_RIVAL_LINES]

    def _on_line(self, number: int, kind: str) -> list[tuple[Value, Sort]]:
        """The values on a line that somebody could take for one of a kind, each with its sort."""
        key = number, kind if kind in ("date", "percent") else "number" if kind in FIGURES else "text"
        if key not in self._values:
            find = {"date": self._dates, "text": self._words}.get(key[1], self._numbers)
            self._values[key] = [(value, self._sort(*value)) for value in find(number, kind)]
        return self._values[key]

    def _dates(self, number: int, kind: str) -> Iterator[Value]:
        line, days = self._source.layout.lines[number], self._source.dates.mentions
        for day in days[bisect_left(days, line.start, key=_start) : bisect_left(days, line.end, key=_start)]:
            yield day.start, day.end, kind

    def _numbers(self, number: int, kind: str) -> Iterator[Value]:
        layout, numbers = self._source.layout, self._source.numbers
        line = layout.lines[number]
        for rank in range(bisect_left(numbers.starts, line.start), bisect_left(numbers.starts, line.end)):
            mention, cell = numbers.mention(rank), layout.cell_of(numbers.starts[rank], number)
            if mention is None or cell is None or mention.readings[0].kind == "part":
                continue
            if _FORMS["of_a_licence"].match(layout.text, mention.end):
                continue  # its version is nobody else's
            boxed = cell.start == numbers.starts[rank] and unnumbered(cell.text) != cell.text  # of a form
            share = mention.readings[0].kind in ("fraction", "percent")
            if not boxed and share == (kind == "percent"):
                yield mention.start, mention.end, "percent" if share else "money" if mention.money else "number"

    def _words(self, number: int, kind: str) -> Iterator[Value]:
        for cell in self._source.layout.lines[number].cells:
            _, colon, value = cell.text.partition(":")
            said = value.strip() if colon else cell.text
            boxed = _FORMS["empty_box"].match(said) or unnumbered(cell.text) != cell.text
            if said and not boxed and (colon or not all(map(is_known, concepts(said)))):  # no label itself
                yield cell.end - len(said), cell.end, kind

    def _others(self, field: Field, rank: tuple[str, Sort]) -> Iterator[tuple[Field, Scored]]:
        """The other fields of the same object or element that have a place of the same kind elsewhere."""
        for other, entry in self._settled.get(rank, ()):
            if other.value == field.value:
                continue
            if other.name != field.name or circle(other) != circle(field):  # a list of plain values has no order
                yield other, entry

    def _sort(self, start: int, end: int, kind: str) -> Sort:
        """What somebody could take a place for, at a glance: two amounts are alike, two names, two ids."""
        text = self._source.text[start:end]
        return (kind, len(text) == 4 and _FORMS["year"].match(text) is not None) if kind in FIGURES else _shape(text)

    def _rank(self, field: Field, best: Scored) -> tuple[str, Sort]:
        """Among which fields one could be taken for another: of the same element, with places of one sort."""
        place = best.place
        return field.record, self._sort(place.start, place.end, place.kind)

    def _exchange(self, field: Field, best: Scored, other: tuple[Field, Scored]) -> float:
        """The field's score if it and another one changed places, less what the other one would lose by that."""
        whose, theirs = other
        match, least = self._scorer.label_match, _least(best)
        if match(field, theirs.context, least) < least and match(whose, best.context, least) < least:
            return NOWHERE
        mine = self._fit(field, best, theirs.place)
        return mine - max(0.0, theirs.score - self._fit(whose, theirs, best.place))

    def _fit(self, field: Field, best: Scored, place: Place) -> float:
        """The score that the field's value would have at another place: what the value itself tells stays the same."""
        features = self._scorer.entry(field, place).features
        for rank in _OF_VALUE:
            features[rank] = best.features[rank]
        return score(best.group, features)


def _least(best: Scored) -> float:
    """How well a label must name a field for the value beside it to be a rival: in prose, many words fit a field."""
    plain = best.place.kind not in FIGURES and best.context.kinds.isdisjoint(_STRUCTURED)
    return thresholds.EXACTLY if plain else thresholds.NAMED_AT_ALL


def circle(field: Field) -> str:
    """What a field belongs to together with others that stand near it: its object, or its list of plain values."""
    if field.record:
        return ""
    return field.group[: field.group.rindex("[")] + "[]" if field.group.endswith("]") else field.group


@lru_cache(maxsize=10_000)
def _shape(text: str) -> tuple[bool, ...]:
    """What somebody sees of a string at a glance: an address of the net, digits, a sentence."""
    return "@" in text, "://" in text, any(map(str.isdigit, text)), len(text.split()) > _SENTENCE


def is_denied(source: Source, field: Field, place: Place, context: Context) -> bool:
    """Whether the place says something else: what was before, "not active"."""
    for end in context.ends:
        asked = field.own + field.parents
        if place.kind == "number" and "whole" in end and "total" not in asked:
            return True
    chosen, cell = _FORMS["chosen"].match, source.layout.cell_of(place.start, context.line)
    if cell is not None and not field.group.endswith("]"):  # between cells it is no choice
        before = cell.start < place.start and chosen(source.text, place.start - 1)
        if before or (place.end < cell.end and chosen(source.text, place.end)):
            return True
    if place.kind in FIGURES:
        return False
    if box_before(source.text, place.start) is False:
        return True
    said = source.text[place.start : place.end]
    plain = bool(field.options) or said.islower() or (isinstance(field.value, str) and field.value.islower())
    if not plain or len(said.split()) > 2 or not said.strip() or fold(said.split()[0]) in NEGATIONS:
        return False
    line = max(source.text.rfind("\n", 0, place.start) + 1, place.start - 30)
    last, next_to_last = ["", "", *map(fold, _FORMS["word"].findall(source.text, line, place.start))][:-3:-1]
    between = ("yet", "longer", "been", "an", "a", "the", "currently", "be")
    told = NEGATIONS.difference(words_of(field.name))  # what is excluded is behind "Excluded:"
    return last in told or (next_to_last in ("not", "no", "nicht") and last in between)

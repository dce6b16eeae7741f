"""Whether a place cannot say a field: the text denies it, or the field's label stands beside another value.

A result is looked at as a whole: a value is contradicted when its field would fit better where another value stands,
alone or by changing places with another field, and when another field fits its place better.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from batchwork.evidence.booleans import box_before
from batchwork.evidence.features import NAMES, OF_VALUE, Scored, Scorer
from batchwork.evidence.fields import Field
from batchwork.evidence.labels import Context, Contexts
from batchwork.evidence.model import score
from batchwork.evidence.readers import FIGURES, Place, Source
from batchwork.evidence.thresholds import NAMED_AT_ALL, NAMED_ENOUGH, NEARLY_AS_WELL
from batchwork.evidence.topics import Rivals
from batchwork.evidence.words import NEGATIONS, concepts, fold, is_known

Rate = Callable[[Field, Place, Context], list[float]]  # the features of any place for any field
Claims = dict[tuple[int, int], list[tuple[Field, float]]]
_OF_VALUE = [NAMES.index(name) for name in OF_VALUE]
_STRUCTURED = frozenset({"named", "left", "head", "over"})
_YEAR = re.compile(r"(?:19|20)\d\d")
_SENTENCE = 6  # words from which on a string is no name
NOWHERE = -99.0
_BEFORE = re.compile(r"[^\W_]+(?:['’]\w+)?")


class Contradictions:
    """Settles for the fields of one result what contradicts their best places."""

    def __init__(self, source: Source, scorer: Scorer, contexts: Contexts, rivals: Rivals, rate: Rate) -> None:
        self._source = source
        self._scorer = scorer
        self._contexts = contexts
        self._rivals = rivals
        self._rate = rate
        self._settled: dict[tuple[str, tuple[object, ...]], list[tuple[Field, Scored]]] = {}
        self._sorts: dict[tuple[int, int, str], tuple[object, ...]] = {}
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

    def elsewhere(self, field: Field, scored: list[Scored]) -> float:
        """How well the field would fit where a value of its kind stands that is nobody's."""
        return max(self._alternatives(field, scored), default=NOWHERE)

    def _alternatives(self, field: Field, scored: list[Scored]) -> Iterator[float]:
        best = scored[0]
        if best.place.kind == "answer" or not field.own:
            return
        sort = self._sort(best.place.start, best.place.end, best.place.kind)
        taken = [span for entry in scored for span in entry.place.spans]
        mine = self._scorer.label_match(field, best.context, best.place.kind)
        labelled = mine >= NAMED_ENOUGH and not best.context.kinds.isdisjoint(_STRUCTURED)
        for start, end, kind in self._rivals.of(field, best.place.kind, best.context.line, mine):
            if any(low < end and start < high for low, high in taken) or self._sort(start, end, kind) != sort:
                continue
            context = self._contexts.of(start, end)
            if not self._scorer.label_match(field, context, kind, max(NAMED_AT_ALL, mine - NEARLY_AS_WELL)):
                continue
            loose = context.kinds.isdisjoint(_STRUCTURED)
            if (kind not in FIGURES and (loose or self._is_label(start, end))) or (loose and labelled):
                continue  # words in a sentence do not outdo a label
            if all(other is field or points <= 0 for other, points in self._claims.get((start, end), ())):
                yield self._fit(field, best, Place(((start, end),), kind), context)

    def _others(self, field: Field, rank: tuple[str, tuple[object, ...]]) -> Iterator[tuple[Field, Scored]]:
        """The other fields of the same object or element that have a place of the same kind elsewhere."""
        for other, entry in self._settled.get(rank, ()):
            if other.value == field.value:
                continue
            if other.name != field.name or circle(other) != circle(field):  # a list of plain values has no order
                yield other, entry

    def _sort(self, start: int, end: int, kind: str) -> tuple[object, ...]:
        """What somebody could take a place for, at a glance: two amounts are alike, two names, two ids."""
        known = self._sorts.get((start, end, kind))
        if known is None:
            text = self._source.text[start:end]
            known = (kind, bool(_YEAR.fullmatch(text))) if kind in FIGURES else _shape(text)
            self._sorts[start, end, kind] = known
        return known

    def _rank(self, field: Field, best: Scored) -> tuple[str, tuple[object, ...]]:
        """Among which fields one could be taken for another: of the same element, with places of one sort."""
        place = best.place
        return field.record, self._sort(place.start, place.end, place.kind)

    def _exchange(self, field: Field, best: Scored, other: tuple[Field, Scored]) -> float:
        """The field's score if it and another one changed places, less what the other one would lose by that."""
        whose, theirs = other
        there = self._scorer.label_match(field, theirs.context, theirs.place.kind)
        here = self._scorer.label_match(whose, best.context, best.place.kind)
        if max(there, here) < NAMED_AT_ALL:
            return NOWHERE
        mine = self._fit(field, best, theirs.place, theirs.context)
        return mine - max(0.0, theirs.score - self._fit(whose, theirs, best.place, best.context))

    def _is_label(self, start: int, end: int) -> bool:
        """Whether these words are a label themselves, so that they are nobody's value."""
        cell = self._source.layout.cell_of(start)
        whole = cell is not None and (cell.start, cell.end) == (start, end)
        return whole and all(map(is_known, concepts(self._source.text[start:end])))

    def _fit(self, field: Field, best: Scored, place: Place, context: Context) -> float:
        """The score that the field's value would have at another place: what the value itself tells stays the same."""
        features = self._rate(field, place, context)
        for rank in _OF_VALUE:
            features[rank] = best.features[rank]
        return score(best.group, features)


def circle(field: Field) -> str:
    """What a field belongs to together with others that stand near it: its object, or its list of plain values."""
    if field.record:
        return ""
    return field.group[: field.group.rindex("[")] + "[]" if field.group.endswith("]") else field.group


def _shape(text: str) -> tuple[bool, ...]:
    """What somebody sees of a string at a glance: an address of the net, digits, a sentence."""
    return "@" in text, "://" in text, any(map(str.isdigit, text)), len(text.split()) > _SENTENCE


def is_denied(source: Source, field: Field, place: Place, context: Context) -> bool:
    """Whether the place says something else: what was before, "not active"."""
    asked = field.own + field.parents
    if any(("new" in asked and "previous" in end) or ("previous" in asked and "new" in end) for end in context.ends):
        return True
    if place.kind == "number" and any("whole" in end for end in context.ends) and "total" not in asked:
        return True
    if place.kind in FIGURES:
        return False
    if box_before(source.text, place.start) is False:
        return True
    said = source.text[place.start : place.end]
    plain = bool(field.options) or said.islower() or (isinstance(field.value, str) and field.value.islower())
    if not plain or len(said.split()) > 2 or not said.strip() or fold(said.split()[0]) in NEGATIONS:
        return False
    line = source.text.rfind("\n", 0, place.start) + 1
    words = [fold(word) for word in _BEFORE.findall(source.text, max(line, place.start - 30), place.start)][-2:]
    if not words:
        return False
    between = ("yet", "longer", "been", "an", "a", "the", "currently", "be")
    return words[-1] in NEGATIONS or (words[0] in ("not", "no", "nicht") and words[-1] in between)

"""Whether a place cannot say a field: the text denies it, or the field's label stands beside another value.

A result is looked at as a whole: a value is contradicted when its field would fit better where another value stands,
alone or by changing places with another field, and when another field fits its place better.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from batchwork.evidence.booleans import box_before
from batchwork.evidence.features import NAMES, Candidate, Scorer, score
from batchwork.evidence.fields import Field
from batchwork.evidence.labels import Context, Contexts
from batchwork.evidence.readers import FIGURES, Place, Source, Span
from batchwork.evidence.rows import Home
from batchwork.evidence.thresholds import (
    CONTESTED,
    CONTRADICTED,
    NAMED_AT_ALL,
    NAMED_ENOUGH,
    NEARLY_AS_WELL,
    RIVAL_CLOSE,
)
from batchwork.evidence.topics import Rivals
from batchwork.evidence.words import NEGATIONS, concepts, fold, is_known

Claims = dict[Span, list[tuple[Field, float]]]
_OTHER = NAMES.index("other")
_OF_VALUE = [
    NAMES.index(name) for name in ("neighbour", "count", "weight", "exact", "shape", "first")
]  # of the features those that do not depend on the labels of a place
_STRUCTURED = frozenset({"named", "left", "head", "over"})
_YEAR = re.compile(r"(?:19|20)\d\d")
_SENTENCE = 6  # words from which on a string is no name
_NONE = -99.0
_BEFORE = re.compile(r"[^\W_]+(?:['’]\w+)?")
_BETWEEN = frozenset({"yet", "longer", "been", "an", "a", "the", "currently", "be"})  # "not yet active"


class Contradictions:
    """Settles for the fields of one result what contradicts their best places."""

    def __init__(
        self,
        source: Source,
        scorer: Scorer,
        contexts: Contexts,
        rivals: Rivals,
        homes: Mapping[str, Home],
        rate: Callable[[Field, Place, Context], Candidate],
    ) -> None:
        self._source = source
        self._scorer = scorer
        self._contexts = contexts
        self._rivals = rivals
        self._homes = homes
        self._rate = rate
        self._known: dict[str, float] = {}
        self._void: set[str] = set()
        self._settled: dict[tuple[str, tuple[object, ...]], list[tuple[Field, Candidate]]] = {}
        self.claims: Claims = {}

    def settle(self, found: list[tuple[Field, list[Candidate]]], claims: Claims) -> None:
        """Take the places that the fields have; what a contradicted field claims is free for the others."""
        entries = [(field, ranked) for field, ranked in found if ranked]
        self.claims = claims
        self._group(entries)
        void = {field.path for field, ranked in entries if self.is_contradicted(field, ranked)}
        if void:
            self._void, self._known = void, {}
            self._group(entries)
            self.claims = {
                place: [claim for claim in wanted if claim[0].path not in void] for place, wanted in claims.items()
            }

    def _group(self, entries: list[tuple[Field, list[Candidate]]]) -> None:
        """The best places of the fields that are not contradicted, by object and by what they can be taken for."""
        self._settled = defaultdict(list)
        for field, ranked in entries:
            if field.path not in self._void and ranked[0].place.kind != "answer":
                self._settled[field.record, self._sort(ranked[0].place)].append((field, ranked[0]))

    def is_contradicted(self, field: Field, ranked: list[Candidate]) -> bool:
        """Whether the best place is not to be believed: its label is another's, or the field's own stands elsewhere."""
        best = ranked[0]
        if field.path in self._void:
            return True
        if best.place.kind == "answer" or "currency" in field.own:
            return False
        claims = self.claims.get(best.place.span, ())
        if self._scorer.is_another_role(field, best) or any(
            points > best.score + CONTESTED and field.record == other.record for other, points in claims
        ):
            return True
        ahead = RIVAL_CLOSE if best.features[_OTHER] else CONTRADICTED  # less will do where another field is named
        return self.alternative(field, ranked) > best.score + ahead

    def alternative(self, field: Field, ranked: list[Candidate]) -> float:
        """How well the field would fit where another value of its kind stands.

        A place that another field of the result wants counts as far as both would do better to change places.
        """
        if field.path not in self._known:
            self._known[field.path] = max(self._alternatives(field, ranked), default=_NONE)
        return self._known[field.path]

    def _alternatives(self, field: Field, ranked: list[Candidate]) -> Iterator[float]:
        best = ranked[0]
        if best.place.kind == "answer" or not field.own:
            return
        sort = self._sort(best.place)
        for other, theirs in self._settled.get((field.record, sort), ()):
            like = other.name == field.name and circle(other) == circle(field)  # a list of plain values has no order
            if other.value != field.value and not like:
                yield self._exchange(field, best, other, theirs)
        taken = [entry.place.span for entry in ranked]
        mine = self._scorer.label_match(field, best.context, best.place.kind)
        labelled = mine >= NAMED_ENOUGH and not best.context.kinds.isdisjoint(_STRUCTURED)
        home = self._homes.get(field.record)
        for place in self._rivals.of(field, best.place.kind, best.context.line, mine, home):
            if any(low < place.end and place.start < high for low, high in taken) or self._sort(place) != sort:
                continue
            context = self._contexts.of(*place.span)
            if not self._scorer.label_match(field, context, place.kind, max(NAMED_AT_ALL, mine - NEARLY_AS_WELL)):
                continue
            loose = context.kinds.isdisjoint(_STRUCTURED)
            if loose and (labelled or place.kind not in FIGURES):
                continue  # words in a sentence do not outdo a label
            claimed = any(other is not field and points > 0 for other, points in self.claims.get(place.span, ()))
            if not claimed and (place.kind in FIGURES or not self._is_label(place)):
                yield self._fit(field, best, place, context)

    def _sort(self, place: Place) -> tuple[object, ...]:
        """What somebody could take a place for, at a glance: two amounts are alike, two names, two ids."""
        text = self._source.text[place.start : place.end]
        if place.kind in FIGURES:
            return place.kind, bool(_YEAR.fullmatch(text))
        return "@" in text, "://" in text, any(map(str.isdigit, text)), len(text.split()) > _SENTENCE

    def _exchange(self, field: Field, best: Candidate, other: Field, theirs: Candidate) -> float:
        """The field's score if it and another one changed places, less what the other one would lose by that."""
        there = self._scorer.label_match(field, theirs.context, theirs.place.kind)
        here = self._scorer.label_match(other, best.context, best.place.kind)
        if max(there, here) < NAMED_AT_ALL:
            return _NONE
        mine = self._fit(field, best, theirs.place, theirs.context)
        return mine - max(0.0, theirs.score - self._fit(other, theirs, best.place, best.context))

    def _is_label(self, place: Place) -> bool:
        """Whether these words are a label themselves, so that they are nobody's value."""
        cell = self._source.layout.cell_of(place.start)
        whole = cell is not None and (cell.start, cell.end) == place.span
        return whole and all(map(is_known, concepts(self._source.text[place.start : place.end])))

    def _fit(self, field: Field, best: Candidate, place: Place, context: Context) -> float:
        """The score that the field's value would have at another place: what the value itself tells stays the same."""
        features = self._rate(field, place, context).features
        for rank in _OF_VALUE:
            features[rank] = best.features[rank]
        return score(best.group, features)


def circle(field: Field) -> str:
    """What a field belongs to together with others that stand near it: its object, or its list of plain values."""
    if field.record:
        return ""
    return field.group[: field.group.rindex("[")] + "[]" if field.group.endswith("]") else field.group


def is_denied(source: Source, field: Field, place: Place) -> bool:
    """Whether the text right before a word says that it is not so: "not active", a box that is not ticked."""
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
    return bool(words) and (words[-1] in NEGATIONS or (words[0] in ("not", "no", "nicht") and words[-1] in _BETWEEN))

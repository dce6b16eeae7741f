"""Field values + document -> for every field the places that say it, and how sure that is.

The order of decisions: where each list element stands, then every place of every field by its features, then the fields
together (neighbours help each other, and no field takes another's place), at last how sure the best place is.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from operator import itemgetter, sub
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from batchwork.documents import Document
from batchwork.evidence import thresholds
from batchwork.evidence.booleans import Phrases
from batchwork.evidence.citations import Citation, cite
from batchwork.evidence.contradictions import Claims, Contradictions, circle, is_denied
from batchwork.evidence.features import NAMES, Scored, Scorer
from batchwork.evidence.fields import Field, fields_of
from batchwork.evidence.model import confidence, score
from batchwork.evidence.readers import FIGURES, Place, Source
from batchwork.evidence.rows import Home, Units, homes_of
from batchwork.evidence.words import GENERIC, UNSPOKEN, is_party

_TOLD_NAMES = (
    "own", "parent", "surplus", "other", "neighbour", "weight", "exact", "early", "line", "block",
)  # fmt: skip
_COMPARED_NAMES = ("own", "parent", "surplus", "other", "early", "line", "block")  # with the next best place
SIGNS = (
    "score", "lead", "rival", "exchange", "contested", "unsaid", "elsewhere", "listed", "homeless", "unsure_home",
    "answer", "gap", "turned", *_TOLD_NAMES,
    *(f"more {name}" for name in _COMPARED_NAMES),
)  # fmt: skip
_BOUNDS = {"exchange": thresholds.EXCHANGED, "rival": thresholds.CONTRADICTED, "contested": thresholds.CONTESTED}
_OUTDONE = [(SIGNS.index(name), bound) for name, bound in _BOUNDS.items()]
_TOLD, _COMPARED = (itemgetter(*map(NAMES.index, names)) for names in (_TOLD_NAMES, _COMPARED_NAMES))
_NO_FEATURES = [0.0] * len(NAMES)
_AROUND, _NEXT = (-4, -3, -2, -1, 1, 2, 3, 4), 2  # fields of the answer before and behind; the next of them
_FAR, _CODE = 8.0, 3  # in log odds, nothing is further away; letters of a currency: USD
_OWN, _PARENT, _DESCRIBED, _SURPLUS, _OTHER, _NEIGHBOUR, _SHAPE, _LINE, _BLOCK, *_ORDER = map(
    NAMES.index,
    ("own", "parent", "described", "surplus", "other", "neighbour", "shape", "line", "block", "first", "early"),
)


def find_evidence(
    value: Any, document: Document | str, *, schema: Any = None, cited: Sequence[Citation] = ()
) -> dict[str, list[Citation]]:
    """For every leaf of `value`, by path, the places of the document that say it, best first.

    A list is empty when nothing says the value: it is None, absent, only computable or contradicted. A citation with a
    confidence below `DEFAULT_LINE` should be shown to a person. `schema` (a JSON schema or a Pydantic model) adds
    descriptions and enums; a Pydantic value brings its own. `cited` are verified citations of the provider: of places
    that cannot be told apart the one inside such a passage is taken.
    """
    fields = fields_of(value, schema)
    text = document if isinstance(document, str) else document.text
    finder = Finder(Source(text), fields, [(citation.start, citation.end) for citation in cited])
    return {path: citations_of(document, verdicts) for path, verdicts in finder.run().items()}


class Verdict(Struct, frozen=True, gc=False):
    """A place and how sure it is that it says this field."""

    place: Place
    confidence: float


def citations_of(document: Document | str, verdicts: Iterable[Verdict]) -> list[Citation]:
    """Verdicts as citations of a document."""
    told = ((*span, round(verdict.confidence, 3)) for verdict in verdicts for span in verdict.place.spans)
    return [cite(document, start, end, confidence) for start, end, confidence in told]


class Finder:
    """Decides for the fields of one result over one source."""

    def __init__(self, source: Source, fields: list[Field], cited: Sequence[tuple[int, int]] = ()) -> None:
        self.source = source
        self.fields = fields
        self._cited = cited
        self.scorer = Scorer(source, fields)
        self.homes = self.scorer.homes
        self.places = {field.path: source.places(field.value) for field in fields}
        self.against = Contradictions(source, self.scorer)

    def run(self) -> dict[str, list[Verdict]]:
        """The places to cite by path, best first."""
        scored = self.scored()
        return {field.path: self.verdicts(field, scored[field.path]) for field in self.fields}

    def scored(self) -> dict[str, list[Scored]]:
        """All places of all fields, best first."""
        self._settle_rows()
        found = {field.path: self._scored(field) for field in self.fields}
        self._favour_neighbours(found)
        self._share_out(found, self._claimed(found))
        self.against.settle(found, self.fields, self._claimed(found))
        told = [field.path for field in self.fields if found[field.path]]
        self._best, self._ranks = [found[path][0] for path in told], {path: rank for rank, path in enumerate(told)}
        return found

    def _order(self, field: Field, entry: Scored) -> tuple[float, float]:
        """How many lines away the next fields of the answer stand, and the share of those on the other side of it."""
        rank, last = self._ranks[field.path], len(self._best)
        around = [(way, self._best[rank + way]) for way in _AROUND if 0 <= rank + way < last]
        gaps = [abs(other.context.line - entry.context.line) for way, other in around if abs(way) <= _NEXT]
        wrong = [1 / abs(way) for way, other in around if (other.place.start - entry.place.start) * way < 0]
        turned = sum(wrong) / sum(1 / abs(way) for way, _ in around) if around else thresholds.ALONE
        return float(min(gaps, default=0)), turned

    def _settle_rows(self) -> None:
        lists: dict[str, dict[str, list[tuple[Field, list[Place]]]]] = defaultdict(lambda: defaultdict(list))
        for field in self.fields:
            if field.record:
                lists[list_of(field)][field.record].append((field, self.places[field.path]))
        units = Units(self.source.layout)
        for records in lists.values():
            self.homes.update(homes_of(records, units))

    def _scored(self, field: Field) -> list[Scored]:
        home = self.homes.get(field.record)
        if isinstance(field.value, bool):
            return _ranked(self._answers(field, home))
        places = self.places[field.path]
        if home is not None:
            places = [place for place in places if place in home] or self._outside(places, field)
        first = min((place.start for place in places), default=0)
        entries = (self.scorer.entry(field, place, place.start == first) for place in places)
        return _ranked(one for one in entries if not is_denied(self.source, field, one.place, one.context))

    def _outside(self, places: Sequence[Place], field: Field) -> list[Place]:
        """The places that belong to no element of a list: what is said once for all of them."""
        name = list_of(field)
        homes = [home for path, home in self.homes.items() if path[: path.rindex("[")] == name]
        return [place for place in places[:50] if not any(place in home for home in homes)]

    @cached_property
    def phrases(self) -> Phrases:
        """What the text answers to questions of yes or no."""
        return Phrases(self.source.layout, [field for field in self.fields if isinstance(field.value, bool)])

    def _answers(self, field: Field, home: Home | None) -> Iterator[Scored]:
        """The phrases that answer a question of yes or no; none when one that is as strong says the opposite."""
        within = (home.start, home.end) if home else None
        statements = [] if field.record and not home else self.phrases.statements(field, within)
        contexts = {one: self.scorer.contexts.of(one.start, one.end) for one in statements}
        apart = [one for one in statements if not self.scorer.is_other_objects(field, contexts[one])]
        statements = apart or statements
        agreed = [one for one in statements if one.says == field.value]
        against = max((one.strength for one in statements if one.says != field.value), default=0.0)
        if against >= max([thresholds.ANSWERED, *(one.strength for one in agreed)]):
            return
        for one in agreed:
            place, context = Place(((one.start, one.end),), "answer", 1.0, one.is_answer), contexts[one]
            around = (0.0, *self.scorer.topics.around(field, context.line))
            features = self.scorer.features(field, place, context, around)
            features[_OWN], features[_SURPLUS], features[_OTHER] = one.strength, against, 0.0
            features[_LINE] = one.about
            yield Scored(place, context, "answer", features, score("answer", features))

    def _favour_neighbours(self, found: dict[str, list[Scored]]) -> None:
        """Of several places that of a field beside the other fields of its object, or elements of its list."""
        circles: dict[str, list[Field]] = defaultdict(list)
        for field in self.fields:
            if not field.record and found[field.path]:
                circles[circle(field)].append(field)
        for fields in (fields for path, fields in circles.items() if path and len(fields) > 1):
            lines = sorted(found[field.path][0].context.line for field in fields)
            for field in fields:
                own, moved = found[field.path][0].context.line, []
                for entry in found[field.path]:
                    low = entry.context.line - thresholds.NEAR_LINES
                    high = entry.context.line + thresholds.NEAR_LINES + 1
                    near = bisect_left(lines, high) - bisect_left(lines, low) - (low <= own < high)
                    moved.append(_beside(entry, near / (len(lines) - 1)) if near else entry)
                found[field.path] = _ranked(moved)

    def _claimed(self, found: dict[str, list[Scored]]) -> Claims:
        """Which fields have their best place where."""
        claims: Claims = defaultdict(list)
        for field in self.fields:
            for entry in found[field.path][:1]:
                claims[entry.place.start, entry.place.end].append((field, entry.score))
        return claims

    def _share_out(self, found: dict[str, list[Scored]], wanted: Claims) -> None:
        """Of fields that want one place, the one that fits it best has it; the others their next best, if it fits."""
        for claims in wanted.values():
            if len({field.record for field, _ in claims}) > 1:
                continue
            for field, points in sorted(claims, key=lambda claim: -claim[1])[1:]:
                entries = found[field.path]
                free = (rank for rank, one in enumerate(entries[:20]) if (one.place.start, one.place.end) not in wanted)
                rank = next(free, 0)
                if rank and entries[rank].score > points - thresholds.NEXT_BEST:
                    entries.insert(0, entries.pop(rank))

    def signs(self, field: Field, scored: list[Scored]) -> list[float]:
        """What tells whether the best place is right, in the order of `SIGNS`."""
        best, home = scored[0], self.homes.get(field.record)
        other = next((entry for entry in scored[1:] if not self._is_same(best, entry)), None)
        second = _NO_FEATURES if other is None else other.features
        exchange = self.against.exchange(field, best)
        rival = max([exchange, *self.against.alternatives(field, scored)])
        contested = self.against.contested(field, best)
        return [
            best.score,
            _FAR if other is None else best.score - other.score,
            *[max(-_FAR, min(_FAR, best.score - other)) for other in (rival, exchange, contested)],
            float(self._is_unsaid(field, best)),
            max(0.0, self.scorer.topics.spoken(field) - max(itemgetter(_OWN, _LINE, _BLOCK)(best.features))),
            float(bool(field.record)),
            float(bool(field.record) and home is None),
            float(home is not None and not home.sure),
            float(best.place.kind == "answer"),
            *self._order(field, best),
            *_TOLD(best.features),
            *map(sub, _COMPARED(best.features), _COMPARED(second)),
        ]

    def _is_contradicted(self, best: Scored, signs: Sequence[float]) -> bool:
        """Whether the field would do better where another value stands, or another field here."""
        outdone = any(signs[rank] < -least for rank, least in _OUTDONE)
        return outdone or self.scorer.is_another_role(best.features)

    def _is_unsaid(self, field: Field, best: Scored) -> bool:
        """Whether the text never speaks of what a value is: neither its labels nor any other word names the field."""
        shown = best.features[_SHAPE] and best.place.kind not in FIGURES  # many a number looks like a year
        letterhead = not best.context.kinds and all(word in GENERIC or is_party(word) for word in field.names)
        if "[" in field.path or UNSPOKEN.issuperset(field.telling) or shown or letterhead:
            return False
        parent = best.features[_PARENT] if field.parents else 0.0
        said = max(best.features[_OWN], parent, best.features[_DESCRIBED] / 2)
        return said < thresholds.FAINT and not any(map(self.scorer.topics.naming, field.telling))

    def _is_same(self, best: Scored, other: Scored) -> bool:
        """Whether a place says the same thing once more under the same label, as running heads do."""
        if best.place.spans == other.place.spans:
            return True
        layout = self.source.layout
        if best.context.line == other.context.line or layout.head_row(best.context.line):
            return False
        one, two = (layout.cell_of(entry.place.start, entry.context.line) for entry in (best, other))
        longer = best.place.end - best.place.start
        return one is not None and two is not None and one.text == two.text and len(one.text) > longer

    def verdicts(self, field: Field, scored: list[Scored]) -> list[Verdict]:
        """The best place with its confidence; several only where nothing tells them apart."""
        if not scored:
            return []
        best = scored[0]
        signs = self.signs(field, scored)
        sure = confidence(signs)
        alike = [entry for entry in scored[1:20] if best.place.kind in FIGURES and self._is_alike(best, entry)]
        told = [best, *alike]
        pointed = [e for e in told if any(low <= e.place.start and e.place.end <= high for low, high in self._cited)]
        if alike and len(pointed) != 1:
            return [Verdict(entry.place, min(sure, thresholds.ALIKE)) for entry in told[: thresholds.MOST_REPEATS]]
        if "currency" in field.own and isinstance(field.value, str) and len(field.value) == _CODE:
            sure = max(sure, thresholds.CURRENCY_SURE)
        elif self._is_contradicted(best, signs):
            return []
        elif best.place.weight < thresholds.READING_SETTLED or (
            best.features[_NEIGHBOUR] < thresholds.HALF and self._is_unsaid(field, best)
        ):
            sure = min(sure, thresholds.ALIKE)
        if sure < thresholds.LEAST_SURE:
            return []
        return [Verdict((pointed[0] if pointed else best).place, sure)]

    def _is_alike(self, best: Scored, other: Scored) -> bool:
        """Whether nothing but their order tells two places apart."""
        if best.group != other.group or self._is_same(best, other):
            return False
        pairs = enumerate(zip(best.features, other.features, strict=True))
        return all(rank in _ORDER or abs(one - two) < 0.01 for rank, (one, two) in pairs)


def _ranked(entries: Iterator[Scored] | list[Scored]) -> list[Scored]:
    return sorted(entries, key=lambda entry: (-round(entry.score, 3), not entry.place.exact, entry.place.start))


def _beside(entry: Scored, share: float) -> Scored:
    """A place near so many of its neighbours."""
    features = list(entry.features)
    features[_NEIGHBOUR] = share
    return replace(entry, features=features, score=score(entry.group, features))


def list_of(field: Field) -> str:
    """The path of the list that a field of an element belongs to."""
    return field.record[: field.record.rindex("[")]

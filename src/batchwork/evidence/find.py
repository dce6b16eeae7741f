"""Field values + document -> for every field the places that say it, and how sure that is.

The order of decisions: where each list element stands, then every place of every field by its features, then the fields
together (neighbours help each other, and no field takes another's place), at last how sure the best place is.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from batchwork.documents import Document
from batchwork.evidence.booleans import Phrases
from batchwork.evidence.citations import Citation
from batchwork.evidence.denials import is_denied
from batchwork.evidence.features import NAMES, Scorer, Surroundings, confidence, score
from batchwork.evidence.fields import Field, fields_of
from batchwork.evidence.labels import Context, Contexts
from batchwork.evidence.layout import column_of
from batchwork.evidence.readers import FIGURES, Place, Source
from batchwork.evidence.rows import Home, homes_of
from batchwork.evidence.thresholds import (
    ALIKE,
    CONTESTED,
    CONTRADICTED,
    CURRENCY_SURE,
    LEAST_SURE,
    MOST_REPEATS,
    NEAR_LINES,
    NEXT_BEST,
    READING_SETTLED,
    RIVAL_CLOSE,
)
from batchwork.evidence.topics import Rivals, Topics
from batchwork.evidence.words import concepts, is_known

DECISION_NAMES = (
    "bias", "score", "lead", "rival", "rival_close", "rival_ahead", "unsaid", "contested", "listed", "unsure_home",
    "weight", "homeless",
)  # fmt: skip
_OWN, _SURPLUS, _OTHER, _NEIGHBOUR, *_ORDER = (
    NAMES.index(name) for name in ("own", "surplus", "other", "neighbour", "first", "early")
)
_OF_VALUE = [
    NAMES.index(name) for name in ("neighbour", "alone", "count", "telling", "weight", "exact", "shape", "first")
]  # of the features those that do not depend on the labels of a place
_YEAR = re.compile(r"(?:19|20)\d\d")
_SENTENCE = 6  # words from which on a string is no name
_CODE = 3  # letters of a currency: USD
_PROSE = frozenset({"prose"})
_Claims = dict[tuple[int, int], list[tuple[Field, float]]]


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
    if not text.strip():
        return {field.path: [] for field in fields}
    finder = Finder(Source(text), fields, [(citation.start, citation.end) for citation in cited])
    found = finder.run()
    pages = None if isinstance(document, str) else document
    return {
        field.path: [
            Citation(
                start=start,
                end=end,
                text=text[start:end],
                page=None if pages is None else pages.page_of(start),
                confidence=round(verdict.confidence, 3),
            )
            for verdict in found[field.path]
            for start, end in verdict.place.spans
        ]
        for field in fields
    }


@dataclass(frozen=True, slots=True)
class Scored:
    """A place of a field with its features and its score."""

    place: Place
    context: Context
    group: str
    features: list[float]
    score: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """A place and how sure it is that it says this field."""

    place: Place
    confidence: float


class Finder:
    """Decides for the fields of one result over one source."""

    def __init__(self, source: Source, fields: list[Field], cited: Sequence[tuple[int, int]] = ()) -> None:
        self._source = source
        self._fields = fields
        self._cited = cited
        self._contexts = Contexts(source.layout)
        self._scorer = Scorer(source.text, fields)
        self._topics = Topics(source.layout)
        self._rivals = Rivals(source, self._topics)
        self._places = {field.path: source.places(field.value) for field in fields}
        self._homes: dict[str, Home] = {}
        self._columns: dict[tuple[str, str], dict[int, float]] = {}
        self._claims: _Claims = {}
        self._settled: list[tuple[Field, Scored]] = []

    def run(self) -> dict[str, list[Verdict]]:
        """The places to cite by path, best first."""
        scored = self.scored()
        return {field.path: self.verdicts(field, scored[field.path]) for field in self._fields}

    def denies(self, field: Field, start: int, end: int) -> bool:
        """Whether a span cannot say this field: the text denies it, or its label is another field's or role's."""
        context = self._contexts.of(start, end)
        if is_denied(self._source, field, Place(((start, end),), "text"), context):
            return True
        return self._scorer.is_anothers(field, context)

    def scored(self) -> dict[str, list[Scored]]:
        """All places of all fields, best first."""
        self._settle_rows()
        found = {field.path: self._scored(field) for field in self._fields}
        self._favour_neighbours(found)
        self._claims = self._claimed(found)
        if self._share_out(found):
            self._claims = self._claimed(found)
        self._settled = [(field, found[field.path][0]) for field in self._fields if found[field.path]]
        return found

    def _settle_rows(self) -> None:
        lists: dict[str, dict[str, list[tuple[Field, list[Place]]]]] = defaultdict(lambda: defaultdict(list))
        for field in self._fields:
            if field.record:
                lists[_list_of(field)][field.record].append((field, self._places[field.path]))
        for name, records in lists.items():
            homes = homes_of(records, self._source.layout)
            self._homes.update(homes)
            for path, home in homes.items():
                for field, places in records[path]:
                    votes = self._columns.setdefault((name, field.name), defaultdict(float))
                    columns = {self._column(place) for place in places if place in home}
                    for column in columns:
                        votes[column] += 1 / len(columns)

    def _column(self, place: Place) -> int:
        """A number for the column in which a place stands: its heading's, else its rank from the right."""
        layout = self._source.layout
        number = layout.line_of(place.start)
        cell = layout.cell_of(place.start, number)
        if cell is None:
            return 99
        head = layout.head_row(number)
        owner = column_of(head, cell) if head else None
        return layout.lines[number].cells.index(cell) - len(layout.lines[number].cells) if owner is None else owner

    def _scored(self, field: Field) -> list[Scored]:
        home = self._homes.get(field.record)
        if isinstance(field.value, bool):
            return _ranked(self._answers(field, home))
        places = self._places[field.path]
        if home is not None:
            places = [place for place in places if place in home] or self._outside(places, field)
        count = 1 if "currency" in field.own else len({place.spans for place in places})  # it means the same each time
        first = min((place.start for place in places), default=0)
        contexts = ((place, self._contexts.of(place.start, place.end)) for place in places)
        return _ranked(
            self._entry(field, place, context, count, place.start == first)
            for place, context in contexts
            if not is_denied(self._source, field, place, context)
        )

    def _outside(self, places: Sequence[Place], field: Field) -> list[Place]:
        """The places that belong to no element of a list: what is said once for all of them."""
        name = _list_of(field)
        homes = [home for path, home in self._homes.items() if path[: path.rindex("[")] == name]
        return [place for place in places[:50] if not any(place in home for home in homes)]

    def _entry(self, field: Field, place: Place, context: Context, count: int, first: bool) -> Scored:
        """A place with its features and score."""
        line, block = self._topics.around(field, context.line)
        votes = self._columns.get((_list_of(field), field.name), {}) if field.record else {}
        around = Surroundings(
            count=count,
            first=first,
            column=votes.get(self._column(place), 0.0) / sum(votes.values()) if votes else 0.0,
            topic=self._topics.share(field),
            line=line,
            block=block,
        )
        features = self._scorer.features(field, place, context, around)
        home = self._homes.get(field.record)
        shape = " free" if not context.kinds else " prose" if context.kinds == _PROSE else ""
        listed = "listed " if home is not None and place in home else ""
        group = listed + ("figure" if place.kind in FIGURES else "text") + shape
        return Scored(place, context, group, features, score(group, features))

    @cached_property
    def _phrases(self) -> Phrases:
        return Phrases(self._source.layout)

    def _answers(self, field: Field, home: Home | None) -> Iterator[Scored]:
        """The phrases that answer a question of yes or no; none when one that is as strong says the opposite."""
        statements = self._phrases.statements(field)
        contexts = {one: self._contexts.of(one.start, one.end) for one in statements}
        apart = [one for one in statements if not self._scorer.is_other_objects(field, contexts[one])]
        statements = apart or statements
        if field.record:
            statements = [one for one in statements if home is not None and home.start <= one.start < home.end]
        against = max((one.strength for one in statements if one.says != field.value), default=0.0)
        agreed = [one for one in statements if one.says == field.value]
        if against and against >= max((one.strength for one in agreed), default=0.0):
            return
        for one in agreed:
            place, context = Place(((one.start, one.end),), "answer"), contexts[one]
            features = self._scorer.features(field, place, context, Surroundings())
            features[_OWN], features[_SURPLUS], features[_OTHER] = one.strength, against, 0.0
            yield Scored(place, context, "answer", features, score("answer", features))

    def _favour_neighbours(self, found: dict[str, list[Scored]]) -> None:
        """Of several places that of a field beside the other fields of its object, or elements of its list."""
        lines: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for field in self._fields:
            if found[field.path] and _circle(field):
                lines[_circle(field)].append((field.path, found[field.path][0].context.line))
        for field in self._fields:
            others = sorted(line for path, line in lines[_circle(field)] if path != field.path)
            if not others or not _circle(field):
                continue
            moved = []
            for entry in found[field.path]:
                low, high = entry.context.line - NEAR_LINES, entry.context.line + NEAR_LINES + 1
                features = list(entry.features)
                features[_NEIGHBOUR] = (bisect_left(others, high) - bisect_left(others, low)) / len(others)
                moved.append(replace(entry, features=features, score=score(entry.group, features)))
            found[field.path] = _ranked(moved)

    def _claimed(self, found: dict[str, list[Scored]]) -> _Claims:
        """Which fields have their best place where."""
        claims: _Claims = defaultdict(list)
        for field in self._fields:
            for entry in found[field.path][:1]:
                claims[entry.place.start, entry.place.end].append((field, entry.score))
        return claims

    def _share_out(self, found: dict[str, list[Scored]]) -> bool:
        """Of fields that want one place, the one that fits it best has it; the others their next best, if it fits."""
        moved = False
        for claims in self._claims.values():
            if len(claims) < 2 or len({field.record for field, _ in claims}) > 1:
                continue
            for field, points in sorted(claims, key=lambda claim: -claim[1])[1:]:
                entries = found[field.path]
                for rank, entry in enumerate(entries[:20]):
                    if (entry.place.start, entry.place.end) not in self._claims:
                        if entry.score > points - NEXT_BEST:
                            entries.insert(0, entries.pop(rank))
                            moved = True
                        break
        return moved

    def decision(self, field: Field, scored: list[Scored]) -> list[float]:
        """What tells whether the best place is right, in the order of `DECISION_NAMES`."""
        best = scored[0]
        others = [entry.score for entry in scored[1:] if not self._is_same(best, entry)]
        rival = self._alternative(field, scored)
        home = self._homes.get(field.record)
        claims = self._claims.get((best.place.start, best.place.end), ())
        return [
            1.0,
            max(-8.0, min(8.0, best.score)) / 8,
            min(6.0, best.score - max(others)) / 6 if others else 1.0,
            max(-1.0, min(1.0, (best.score - rival) / 4)),
            float(rival > best.score - RIVAL_CLOSE),
            float(rival > best.score + CONTRADICTED),
            float(self._scorer.is_unsaid(field, best.context, best.features)),
            float(any(points > best.score and other.name != field.name for other, points in claims)),
            float(bool(field.record)),
            float(home is not None and not home.sure),
            best.place.weight,
            float(bool(field.record) and home is None),
        ]

    def _is_same(self, best: Scored, other: Scored) -> bool:
        """Whether a place says the same thing once more under the same label, as running heads do."""
        if best.place.spans == other.place.spans:
            return True
        layout = self._source.layout
        if best.context.line == other.context.line or layout.head_row(best.context.line):
            return False
        one, two = (layout.cell_of(entry.place.start, entry.context.line) for entry in (best, other))
        longer = best.place.end - best.place.start
        return one is not None and two is not None and one.text == two.text and len(one.text) > longer

    def _alternative(self, field: Field, scored: list[Scored]) -> float:
        """How well the field would fit where another value of its kind stands: above its own place it is contradicted.

        A place that another field of the result wants counts as far as both would do better to change places.
        """
        best = scored[0]
        if best.place.kind == "answer" or not field.own:
            return -99.0
        strongest = max((self._exchange(field, best, other) for other in self._others(field, best)), default=-99.0)
        taken = [span for entry in scored for span in entry.place.spans]
        mine = self._scorer.label_match(field, best.context, best.place.kind)
        for start, end, kind in self._rivals.of(field, best.place.kind, best.context.line, mine, self._homes):
            if any(low < end and start < high for low, high in taken):
                continue
            context = self._contexts.of(start, end)
            if not self._scorer.label_match(field, context, kind, max(0.3, mine - 0.15)):
                continue
            if kind not in FIGURES and context.kinds.isdisjoint(("named", "left", "head", "over")):
                continue
            if not self._is_like(best.place, Place(((start, end),), kind)) or self._is_label(start, end, kind):
                continue
            claims = self._claims.get((start, end), ())
            if all(other is field or points <= 0 for other, points in claims):
                strongest = max(strongest, self._fit(field, best, Place(((start, end),), kind), context))
        return strongest

    def _others(self, field: Field, best: Scored) -> Iterator[tuple[Field, Scored]]:
        """The other fields of the same object or element that have a place of the same kind elsewhere."""
        for other, entry in self._settled:
            if other.record != field.record or other.value == field.value or not self._is_like(best.place, entry.place):
                continue
            if other.name != field.name or _circle(other) != _circle(field):  # a list of plain values has no order
                yield other, entry

    def _is_like(self, one: Place, other: Place) -> bool:
        """Whether two places say things that somebody could take for each other: two amounts, two names, two ids."""
        said, told = (self._source.text[place.start : place.end] for place in (one, other))
        if "answer" in (one.kind, other.kind) or one.kind in FIGURES or other.kind in FIGURES:
            return one.kind == other.kind != "answer" and bool(_YEAR.fullmatch(said)) == bool(_YEAR.fullmatch(told))
        return _shape(said) == _shape(told)

    def _exchange(self, field: Field, best: Scored, other: tuple[Field, Scored]) -> float:
        """The field's score if it and another one changed places, less what the other one would lose by that."""
        whose, theirs = other
        there = self._scorer.label_match(field, theirs.context, theirs.place.kind)
        here = self._scorer.label_match(whose, best.context, best.place.kind)
        if there < 0.3 and here < 0.3:
            return -99.0
        mine = self._fit(field, best, theirs.place, theirs.context)
        return mine - max(0.0, theirs.score - self._fit(whose, theirs, best.place, best.context))

    def _is_label(self, start: int, end: int, kind: str) -> bool:
        """Whether these words are a label themselves, so that they are nobody's value."""
        cell = self._source.layout.cell_of(start)
        whole = cell is not None and (cell.start, cell.end) == (start, end)
        return whole and kind not in FIGURES and all(map(is_known, concepts(self._source.text[start:end])))

    def _fit(self, field: Field, best: Scored, place: Place, context: Context) -> float:
        """The score that the field's value would have at another place: what the value itself tells stays the same."""
        features = list(self._entry(field, place, context, 1, True).features)
        for rank in _OF_VALUE:
            features[rank] = best.features[rank]
        return score(best.group, features)

    def verdicts(self, field: Field, scored: list[Scored]) -> list[Verdict]:
        """The best place with its confidence; several only where nothing tells them apart."""
        if not scored:
            return []
        best = scored[0]
        sure = confidence(best.group, self.decision(field, scored))
        alike = [entry for entry in scored[1:20] if best.place.kind in FIGURES and self._is_alike(best, entry)]
        pointed = [entry for entry in (best, *alike) if self._is_pointed_at(entry)]
        if alike and len(pointed) != 1:
            return [Verdict(entry.place, min(sure, ALIKE)) for entry in (best, *alike)[:MOST_REPEATS]]
        if "currency" in field.own and isinstance(field.value, str) and len(field.value) == _CODE:
            sure = max(sure, CURRENCY_SURE)
        elif self.is_contradicted(field, scored):
            return []
        elif best.place.weight < READING_SETTLED or self._scorer.is_unsaid(field, best.context, best.features):
            sure = min(sure, ALIKE)
        if sure < LEAST_SURE:
            return []
        return [Verdict((pointed[0] if pointed else best).place, sure)]

    def is_contradicted(self, field: Field, scored: list[Scored]) -> bool:
        """Whether the best place is not to be believed: its label speaks of something else, or the field's of another."""
        best = scored[0]
        if best.place.kind == "answer":
            return False
        if self._scorer.is_another_role(best.features):
            return True
        claims = self._claims.get((best.place.start, best.place.end), ())
        if any(points > best.score + CONTESTED and field.record == other.record for other, points in claims):
            return True
        ahead = RIVAL_CLOSE if best.features[_OTHER] else CONTRADICTED  # less will do where another field is named
        return self._alternative(field, scored) > best.score + ahead

    def _is_alike(self, best: Scored, other: Scored) -> bool:
        """Whether nothing but their order tells two places apart."""
        if best.group != other.group or self._is_same(best, other):
            return False
        pairs = enumerate(zip(best.features, other.features, strict=True))
        return all(rank in _ORDER or abs(one - two) < 0.01 for rank, (one, two) in pairs)

    def _is_pointed_at(self, entry: Scored) -> bool:
        """Whether the provider itself cited a passage around a place."""
        return any(low <= entry.place.start and entry.place.end <= high for low, high in self._cited)


def _shape(text: str) -> tuple[bool, ...]:
    """What somebody sees of a string at a glance: an address of the net, digits, a sentence."""
    return "@" in text, "://" in text, any(map(str.isdigit, text)), len(text.split()) > _SENTENCE


def _ranked(entries: Iterator[Scored] | list[Scored]) -> list[Scored]:
    return sorted(entries, key=lambda entry: (-round(entry.score, 3), not entry.place.exact, entry.place.start))


def _list_of(field: Field) -> str:
    return field.record[: field.record.rindex("[")]


def _circle(field: Field) -> str:
    """What a field belongs to together with others that stand near it: its object, or its list of plain values."""
    if field.record:
        return ""
    return field.group[: field.group.rindex("[")] + "[]" if field.group.endswith("]") else field.group

"""Field values + document -> for every field the places that say it, and how sure that is.

The order of decisions: where each list element stands, then every place of every field by its features, then the fields
together (neighbours help each other, and no field takes another's place), at last how sure the best place is.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from batchwork.documents import Document
from batchwork.evidence.booleans import Phrases
from batchwork.evidence.citations import Citation
from batchwork.evidence.contradictions import Claims, Contradictions, circle, is_denied
from batchwork.evidence.features import NAMES, Candidate, Scorer, confidence, score
from batchwork.evidence.fields import Field, fields_of
from batchwork.evidence.labels import Context, Contexts
from batchwork.evidence.layout import column_of
from batchwork.evidence.readers import FIGURES, Place, Source
from batchwork.evidence.rows import Home, homes_of
from batchwork.evidence.thresholds import (
    ALIKE,
    CURRENCY_SURE,
    LEAST_SURE,
    MOST_REPEATS,
    NEAR_LINES,
    NEXT_BEST,
    READING_SETTLED,
    RIVAL_CLOSE,
)
from batchwork.evidence.topics import Rivals, Topics

DECISION_NAMES = (
    "bias", "score", "lead", "rival", "rival_close", "unsaid", "contested", "listed", "unsure_home", "weight",
)  # fmt: skip
_OWN, _SURPLUS, _OTHER, _NEIGHBOUR, *_ORDER = (
    NAMES.index(name) for name in ("own", "surplus", "other", "neighbour", "first", "early")
)
_CODE = 3  # letters of a currency: USD
_PROSE = frozenset({"prose"})


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
    return {path: citations_of(document, verdicts) for path, verdicts in finder.run().items()}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A place and how sure it is that it says this field."""

    place: Place
    confidence: float


def citations_of(document: Document | str, verdicts: Iterable[Verdict]) -> list[Citation]:
    """Verdicts as citations of a document."""
    text, pages = (document, None) if isinstance(document, str) else (document.text, document)
    return [
        Citation(
            start=verdict.place.start,
            end=verdict.place.end,
            text=text[verdict.place.start : verdict.place.end],
            page=None if pages is None else pages.page_of(verdict.place.start),
            confidence=round(verdict.confidence, 3),
        )
        for verdict in verdicts
    ]


class Finder:
    """Decides for the fields of one result over one source."""

    def __init__(self, source: Source, fields: list[Field], cited: Sequence[tuple[int, int]] = ()) -> None:
        self.source = source
        self.fields = fields
        self.contexts = Contexts(source.layout)
        topics = Topics(source.layout)
        self.scorer = Scorer(source.text, fields, topics)
        self.places = {field.path: source.places(field.value) for field in fields}
        self.homes: dict[str, Home] = {}
        self._cited = cited
        # By list and name of a field, how many of the list's values stand in which column
        self._columns: dict[tuple[str, str], dict[int, float]] = defaultdict(lambda: defaultdict(float))
        rivals = Rivals(source, topics)
        self.against = Contradictions(source, self.scorer, self.contexts, rivals, self.homes, self.candidate)

    def run(self) -> dict[str, list[Verdict]]:
        """The places to cite by path, best first."""
        ranked = self.ranked()
        return {field.path: self.verdicts(field, ranked[field.path]) for field in self.fields}

    def ranked(self) -> dict[str, list[Candidate]]:
        """All places of all fields, best first."""
        self._settle_rows()
        found = {field.path: self._ranked(field) for field in self.fields}
        self._favour_neighbours(found)
        self._share_out(found, self._claimed(found))
        self.against.settle([(field, found[field.path]) for field in self.fields], self._claimed(found))
        return found

    def _settle_rows(self) -> None:
        lists: dict[str, dict[str, list[tuple[Field, list[Place]]]]] = defaultdict(lambda: defaultdict(list))
        for field in self.fields:
            if field.record:
                lists[list_of(field.record)][field.record].append((field, self.places[field.path]))
        for name, records in lists.items():
            homes = homes_of(records, self.source.layout)
            self.homes.update(homes)
            for field, places in (leaf for path in homes for leaf in records[path]):
                columns = {self._column(place) for place in places if place in homes[field.record]}
                votes = self._columns[name, field.name]
                for column in columns:
                    votes[column] += 1 / len(columns)

    def _column(self, place: Place) -> int:
        """A number for the column in which a place stands: its heading's, else its rank from the right."""
        layout = self.source.layout
        number = layout.line_of(place.start)
        cells, cell, head = layout.lines[number].cells, layout.cell_of(place.start, number), layout.head_row(number)
        owner = column_of(head, cell) if cell and head else None
        return owner if owner is not None else cells.index(cell) - len(cells) if cell else 0

    def _ranked(self, field: Field) -> list[Candidate]:
        home = self.homes.get(field.record)
        if isinstance(field.value, bool):
            return _sorted(self._answers(field, home))
        places = self.places[field.path]
        if home is not None:
            places = [place for place in places if place in home] or self._outside(places, field)
        count = 1 if "currency" in field.own else len({place.span for place in places})  # it means the same each time
        first = min((place.start for place in places), default=0)
        return _sorted(
            self.candidate(field, place, count=count or 1, first=place.start == first)
            for place in places
            if not is_denied(self.source, field, place)
        )

    def _outside(self, places: Sequence[Place], field: Field) -> list[Place]:
        """The places that belong to no element of a list: what is said once for all of them."""
        homes = [home for path, home in self.homes.items() if list_of(path) == list_of(field.record)]
        return [place for place in places[:50] if not any(place in home for home in homes)]

    def candidate(
        self, field: Field, place: Place, context: Context | None = None, *, count: int = 1, first: bool = True
    ) -> Candidate:
        """Any place with its features and score for a field, whoever's value stands there."""
        context = context or self.contexts.of(*place.span)
        votes = self._columns.get((list_of(field.record), field.name)) if field.record else None
        column = votes.get(self._column(place), 0.0) / sum(votes.values()) if votes else 0.0
        features = self.scorer.features(field, place, context, count=count, first=first, column=column)
        home = self.homes.get(field.record)
        shape = " free" if not context.kinds else " prose" if context.kinds == _PROSE else ""
        listed = "listed " if home is not None and place in home else ""
        group = listed + ("figure" if place.kind in FIGURES else "text") + shape
        return Candidate(place, context, group, features, score(group, features))

    @cached_property
    def phrases(self) -> Phrases:
        """What answers questions of yes or no."""
        return Phrases(self.source.layout)

    def _answers(self, field: Field, home: Home | None) -> Iterator[Candidate]:
        """The phrases that answer a question of yes or no; none when one that is as strong says the opposite."""
        statements = self.phrases.statements(field)
        contexts = {one: self.contexts.of(one.start, one.end) for one in statements}
        apart = [one for one in statements if not self.scorer.is_other_objects(field, contexts[one])]
        statements = apart or statements
        if field.record:
            statements = [one for one in statements if home is not None and home.start <= one.start < home.end]
        against = max((one.strength for one in statements if one.says != field.value), default=0.0)
        agreed = [one for one in statements if one.says == field.value]
        if against and against >= max((one.strength for one in agreed), default=0.0):
            return
        for one in agreed:
            place = Place((one.start, one.end), "answer")
            features = self.scorer.features(field, place, contexts[one])
            features[_OWN], features[_SURPLUS], features[_OTHER] = one.strength, against, 0.0
            yield Candidate(place, contexts[one], "answer", features, score("answer", features))

    def _favour_neighbours(self, found: dict[str, list[Candidate]]) -> None:
        """Of several places that of a field beside the other fields of its object, or elements of its list."""
        lines: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for field in self.fields:
            if found[field.path] and circle(field):
                lines[circle(field)].append((field.path, found[field.path][0].context.line))
        for field in self.fields:
            others = sorted(line for path, line in lines.get(circle(field), ()) if path != field.path)
            if not others:
                continue
            moved = []
            for entry in found[field.path]:
                low, high = entry.context.line - NEAR_LINES, entry.context.line + NEAR_LINES + 1
                entry.features[_NEIGHBOUR] = (bisect_left(others, high) - bisect_left(others, low)) / len(others)
                moved.append(replace(entry, score=score(entry.group, entry.features)))
            found[field.path] = _sorted(moved)

    def _claimed(self, found: dict[str, list[Candidate]]) -> Claims:
        """Which fields have their best place where."""
        claims: Claims = defaultdict(list)
        for field in self.fields:
            for entry in found[field.path][:1]:
                claims[entry.place.span].append((field, entry.score))
        return claims

    def _share_out(self, found: dict[str, list[Candidate]], wanted: Claims) -> None:
        """Of fields that want one place, the one that fits it best has it; the others their next best, if it fits."""
        for claims in wanted.values():
            if len({field.record for field, _ in claims}) > 1:
                continue
            for field, points in sorted(claims, key=lambda claim: -claim[1])[1:]:
                entries = found[field.path]
                free = (rank for rank, entry in enumerate(entries[:20]) if entry.place.span not in wanted)
                rank = next(free, 0)
                if entries[rank].score > points - NEXT_BEST:
                    entries.insert(0, entries.pop(rank))

    def decision(self, field: Field, ranked: list[Candidate]) -> list[float]:
        """What tells whether the best place is right, in the order of `DECISION_NAMES`."""
        best = ranked[0]
        others = [entry.score for entry in ranked[1:] if not self._is_same(best, entry)]
        rival = self.against.alternative(field, ranked)
        home = self.homes.get(field.record)
        claims = self.against.claims.get(best.place.span, ())
        return [
            1.0,
            max(-8.0, min(8.0, best.score)) / 8,
            min(6.0, best.score - max(others)) / 6 if others else 1.0,
            max(-1.0, min(1.0, (best.score - rival) / 4)),
            float(rival > best.score - RIVAL_CLOSE),
            float(self.scorer.is_unsaid(field, best)),
            float(any(points > best.score and other.name != field.name for other, points in claims)),
            float(bool(field.record)),
            float(bool(field.record) and (home is None or not home.sure)),
            best.place.weight,
        ]

    def _is_same(self, best: Candidate, other: Candidate) -> bool:
        """Whether a place says the same thing once more under the same label, as running heads do."""
        if best.place.span == other.place.span:
            return True
        layout = self.source.layout
        if best.context.line == other.context.line or layout.head_row(best.context.line):
            return False
        one, two = (layout.cell_of(entry.place.start, entry.context.line) for entry in (best, other))
        longer = best.place.end - best.place.start
        return one is not None and two is not None and one.text == two.text and len(one.text) > longer

    def verdicts(self, field: Field, ranked: list[Candidate]) -> list[Verdict]:
        """The best place with its confidence; several only where nothing tells them apart."""
        if not ranked:
            return []
        best = ranked[0]
        sure = confidence(best.group, self.decision(field, ranked))
        alike = [entry for entry in ranked[1:20] if best.place.kind in FIGURES and self._is_alike(best, entry)]
        pointed = [entry for entry in (best, *alike) if self._is_pointed_at(entry)]
        if alike and len(pointed) != 1:
            return [Verdict(entry.place, min(sure, ALIKE)) for entry in (best, *alike)[:MOST_REPEATS]]
        if "currency" in field.own and isinstance(field.value, str) and len(field.value) == _CODE:
            sure = max(sure, CURRENCY_SURE)
        elif self.against.is_contradicted(field, ranked):
            return []
        elif best.place.weight < READING_SETTLED:
            sure = min(sure, ALIKE)
        return [Verdict((pointed[0] if pointed else best).place, sure)] if sure >= LEAST_SURE else []

    def _is_alike(self, best: Candidate, other: Candidate) -> bool:
        """Whether nothing but their order tells two places apart."""
        if best.group != other.group or self._is_same(best, other):
            return False
        pairs = enumerate(zip(best.features, other.features, strict=True))
        return all(rank in _ORDER or abs(one - two) < 0.01 for rank, (one, two) in pairs)

    def _is_pointed_at(self, entry: Candidate) -> bool:
        """Whether the provider itself cited a passage around a place."""
        return any(low <= entry.place.start and entry.place.end <= high for low, high in self._cited)


def _sorted(entries: Iterable[Candidate]) -> list[Candidate]:
    return sorted(entries, key=lambda entry: (-round(entry.score, 3), not entry.place.exact, entry.place.start))


def list_of(record: str) -> str:
    """The path of the list that an element belongs to."""
    return record[: record.rindex("[")]

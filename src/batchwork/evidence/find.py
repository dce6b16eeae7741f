"""Field values + document -> for every field the places that say it, and how sure that is.

The order of decisions: where each list element stands, then every place of every field by its features, then the fields
together (neighbours help each other, and no field takes another's place), at last how sure the best place is.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from batchwork.documents import Document
from batchwork.evidence.booleans import Phrases
from batchwork.evidence.citations import Citation
from batchwork.evidence.contradictions import Claims, Contradictions, circle, is_denied
from batchwork.evidence.features import NAMES, Scored, Scorer, Surroundings, confidence, score
from batchwork.evidence.fields import Field, fields_of
from batchwork.evidence.labels import Context, Contexts
from batchwork.evidence.layout import column_of
from batchwork.evidence.readers import FIGURES, Place, Source, says
from batchwork.evidence.rows import Home, homes_of
from batchwork.evidence.shared_places import SharedPlaces
from batchwork.evidence.thresholds import (
    ALIKE,
    CONTRADICTED,
    CURRENCY_SURE,
    LEAST_SURE,
    MOST_PLACES,
    MOST_REPEATS,
    NEAR_LINES,
    NEXT_BEST,
    READING_SETTLED,
    RIVAL_CLOSE,
)
from batchwork.evidence.topics import Rivals, Topics

DECISION_NAMES = (
    "bias", "score", "lead", "rival", "rival_close", "rival_ahead", "unsaid", "contested", "listed", "unsure_home",
    "weight", "homeless",
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


class Verdict(Struct, frozen=True, gc=False):
    """A place and how sure it is that it says this field."""

    place: Place
    confidence: float


def citations_of(document: Document | str, verdicts: Iterable[Verdict]) -> list[Citation]:
    """Verdicts as citations of a document."""
    text, pages = (document, None) if isinstance(document, str) else (document.text, document)
    return [
        Citation(
            start=start,
            end=end,
            text=text[start:end],
            page=None if pages is None else pages.page_of(start),
            confidence=round(verdict.confidence, 3),
        )
        for verdict in verdicts
        for start, end in verdict.place.spans
    ]


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
        self._units: dict[str, list[tuple[int, int]]] = {}  # where the elements of a list stand
        self._columns: dict[tuple[str, str], dict[int, float]] = {}
        self.against = Contradictions(source, self._scorer, self._contexts, self._rivals, self._homes)

    def run(self) -> dict[str, list[Verdict]]:
        """The places to cite by path, best first."""
        scored = self.scored()
        return {field.path: self.verdicts(field, scored[field.path]) for field in self._fields}

    def denies(self, field: Field, entry: Scored) -> bool:
        """Whether a place cannot say this field: the text denies it, or it is another role's."""
        denied = is_denied(self._source, field, entry.place, entry.context)
        return denied or self._scorer.is_another_role(entry.features)

    def entry(self, field: Field, place: Place) -> Scored:
        """Any place with its features and score for a field."""
        return self._entry(field, place, self._contexts.of(place.start, place.end), 1, True)

    @cached_property
    def shared(self) -> SharedPlaces:
        """Which fields could claim a place."""
        return SharedPlaces(self._fields, self._places, self._source.layout)

    def places_in(self, field: Field, spans: Sequence[tuple[int, int]]) -> list[Place]:
        """The places inside of some spans that say a field's value."""
        if isinstance(field.value, bool):
            said = [one for one in self._phrases.statements(field) if one.says == field.value]
            told = [one for one in said if any(low < one.end and one.start < high for low, high in spans)]
            return [Place(((one.start, one.end),), "answer") for one in told]
        known = self._places[field.path]
        places = [place for place in known if _is_in(spans, place.start, place.spans[-1][1])]
        if not places and (isinstance(field.value, str) or len(known) >= MOST_PLACES):
            text = self._source.text  # what the whole text says better elsewhere may still be said here
            near = (
                ((low + start, low + end),) for low, high in spans for start, end in says(text[low:high], field.value)
            )
            places = [Place(span, "text", exact=False) for span in near]
        return places

    def is_other_elements(self, field: Field, place: Place) -> bool:
        """Whether a place stands where another element of the field's list does."""
        home = self._homes.get(field.record)
        if not field.record or (home is not None and place in home):
            return False
        name = _list_of(field)
        if name not in self._units:
            homes = (home for path, home in self._homes.items() if path[: path.rindex("[")] == name)
            self._units[name] = sorted((home.start, home.end) for home in homes)
        return _is_in(self._units[name], place.start, place.start + 1)

    def places_of(self, field: Field) -> list[Place]:
        """Where the whole text says a field's value."""
        return self._places[field.path]

    def scored(self) -> dict[str, list[Scored]]:
        """All places of all fields, best first."""
        self._settle_rows()
        found = {field.path: self._scored(field) for field in self._fields}
        self._favour_neighbours(found)
        claims = self._claimed(found)
        if self._share_out(found, claims):
            claims = self._claimed(found)
        settled = [(field, found[field.path]) for field in self._fields]
        self.against.settle(settled, claims, self._rated)
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

    def _rated(self, field: Field, place: Place, context: Context) -> list[float]:
        """The features of any place, whoever's value stands there."""
        return self._entry(field, place, context, 1, True).features

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
            if found[field.path] and circle(field):
                lines[circle(field)].append((field.path, found[field.path][0].context.line))
        for field in self._fields:
            others = sorted(line for path, line in lines[circle(field)] if path != field.path)
            if not others or not circle(field):
                continue
            moved = []
            for entry in found[field.path]:
                low, high = entry.context.line - NEAR_LINES, entry.context.line + NEAR_LINES + 1
                features = list(entry.features)
                features[_NEIGHBOUR] = (bisect_left(others, high) - bisect_left(others, low)) / len(others)
                moved.append(replace(entry, features=features, score=score(entry.group, features)))
            found[field.path] = _ranked(moved)

    def _claimed(self, found: dict[str, list[Scored]]) -> Claims:
        """Which fields have their best place where."""
        claims: Claims = defaultdict(list)
        for field in self._fields:
            for entry in found[field.path][:1]:
                claims[entry.place.start, entry.place.end].append((field, entry.score))
        return claims

    def _share_out(self, found: dict[str, list[Scored]], wanted: Claims) -> bool:
        """Of fields that want one place, the one that fits it best has it; the others their next best, if it fits."""
        moved = False
        for claims in wanted.values():
            if len(claims) < 2 or len({field.record for field, _ in claims}) > 1:
                continue
            for field, points in sorted(claims, key=lambda claim: -claim[1])[1:]:
                entries = found[field.path]
                for rank, entry in enumerate(entries[:20]):
                    if (entry.place.start, entry.place.end) not in wanted:
                        if entry.score > points - NEXT_BEST:
                            entries.insert(0, entries.pop(rank))
                            moved = True
                        break
        return moved

    def decision(self, field: Field, scored: list[Scored]) -> list[float]:
        """What tells whether the best place is right, in the order of `DECISION_NAMES`."""
        best = scored[0]
        others = [entry.score for entry in scored[1:] if not self._is_same(best, entry)]
        rival = self.against.alternative(field, scored)
        home = self._homes.get(field.record)
        claims = self.against.claims.get((best.place.start, best.place.end), ())
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
        elif self.against.is_contradicted(field, scored):
            return []
        elif best.place.weight < READING_SETTLED or self._scorer.is_unsaid(field, best.context, best.features):
            sure = min(sure, ALIKE)
        if sure < LEAST_SURE:
            return []
        return [Verdict((pointed[0] if pointed else best).place, sure)]

    def _is_alike(self, best: Scored, other: Scored) -> bool:
        """Whether nothing but their order tells two places apart."""
        if best.group != other.group or self._is_same(best, other):
            return False
        pairs = enumerate(zip(best.features, other.features, strict=True))
        return all(rank in _ORDER or abs(one - two) < 0.01 for rank, (one, two) in pairs)

    def _is_pointed_at(self, entry: Scored) -> bool:
        """Whether the provider itself cited a passage around a place."""
        return any(low <= entry.place.start and entry.place.end <= high for low, high in self._cited)


def _ranked(entries: Iterator[Scored] | list[Scored]) -> list[Scored]:
    return sorted(entries, key=lambda entry: (-round(entry.score, 3), not entry.place.exact, entry.place.start))


def _is_in(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a stretch lies in one of some spans, which are in order."""
    at = bisect_right(spans, start, key=itemgetter(0)) - 1
    return at >= 0 and end <= spans[at][1]


def _list_of(field: Field) -> str:
    return field.record[: field.record.rindex("[")]

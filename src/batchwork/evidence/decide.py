"""Which places to cite for the fields of one result, and how sure that is."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from batchwork.evidence.booleans import Phrases, box_before, cell_answer
from batchwork.evidence.features import NAMES, Scorer, Surroundings, is_turned
from batchwork.evidence.fields import Field
from batchwork.evidence.labels import Context, Contexts
from batchwork.evidence.layout import column_of
from batchwork.evidence.model import confidence, score
from batchwork.evidence.readers import FIGURES, Place, Source
from batchwork.evidence.rows import Home, homes_of
from batchwork.evidence.thresholds import ALIKE, READING_SETTLED
from batchwork.evidence.words import GENERIC, NEGATIONS, concepts, fold, is_known, likeness

DECISION_NAMES = (
    "bias",
    "score",
    "lead",
    "rival",
    "rival_ahead",
    "contested",
    "listed",
    "unsure_home",
    "weight",
    "homeless",
)


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
        self._places = {field.path: source.places(field.value, field.options) for field in fields}
        self._homes: dict[str, Home] = {}
        self._columns: dict[tuple[str, str], dict[int, float]] = {}
        self._topics: dict[tuple[str, ...], float] = {}
        self._found_lines: dict[str, list[int]] = {}
        self._paragraphs: dict[int, tuple[int, int]] = {}
        self._nearby: dict[tuple[str, ...], list[int]] = {}

    def run(self) -> dict[str, list[Verdict]]:
        """The places to cite by path, best first."""
        scored = self.scored()
        return {field.path: self.verdicts(field, scored[field.path]) for field in self._fields}

    def scored(self) -> dict[str, list[Scored]]:
        """All places of all fields, best first."""
        self._settle_rows()
        found = {field.path: self._scored(field) for field in self._fields}
        self._favour_neighbours(found)
        self._claims = self._claimed(found)
        if self._share_out(found):
            self._claims = self._claimed(found)
        return found

    def _claimed(self, found: dict[str, list[Scored]]) -> dict[tuple[int, int], list[tuple[Field, float]]]:
        """Which fields have their best place where."""
        claims: dict[tuple[int, int], list[tuple[Field, float]]] = defaultdict(list)
        for field in self._fields:
            for entry in found[field.path][:1]:
                claims[entry.place.start, entry.place.end].append((field, entry.score))
        return claims

    def _share_out(self, found: dict[str, list[Scored]]) -> bool:
        """Of fields that want one place, the one that fits it best has it; the others their next best, if it fits."""
        moved = False
        for place, claims in self._claims.items():
            if len(claims) < 2 or len({field.record for field, _ in claims}) > 1:
                continue
            for field, points in sorted(claims, key=lambda claim: -claim[1])[1:]:
                entries = found[field.path]
                free = [
                    n
                    for n, entry in enumerate(entries[:20])
                    if (entry.place.start, entry.place.end) not in self._claims
                ]
                if free and entries[free[0]].score > points - _NEXT_BEST:
                    entries.insert(0, entries.pop(free[0]))
                    moved = True
        return moved

    def _favour_neighbours(self, found: dict[str, list[Scored]]) -> None:
        """Of several places that of a field beside the other fields of its object, or elements of its list."""
        lines: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for field in self._fields:
            if found[field.path] and _circle(field):
                lines[_circle(field)].append((field.path, found[field.path][0].context.line))
        for field in self._fields:
            others = [line for path, line in lines[_circle(field)] if path != field.path] if _circle(field) else []
            if not others:
                continue
            for rank, entry in enumerate(found[field.path]):
                near = sum(abs(line - entry.context.line) <= 4 for line in others[:40]) / len(others[:40])
                features = list(entry.features)
                features[_NEIGHBOUR] = near
                found[field.path][rank] = replace(entry, features=features, score=score(entry.group, features))
            found[field.path].sort(key=lambda entry: (-round(entry.score, 3), not entry.place.exact, entry.place.start))

    def _settle_rows(self) -> None:
        lists: dict[str, dict[str, list[tuple[Field, list[Place]]]]] = defaultdict(lambda: defaultdict(list))
        for field in self._fields:
            if field.record:
                lists[field.record[: field.record.rindex("[")]][field.record].append((field, self._places[field.path]))
        for name, records in sorted(lists.items(), key=lambda entry: entry[0].count("[")):  # the outer ones first
            homes = homes_of(records, self._source.layout)
            self._homes.update(homes)
            for path, leaves in records.items():
                if path in homes:
                    for field, places in leaves:
                        votes = self._columns.setdefault((name, field.name), defaultdict(float))
                        columns = {self._column(place) for place in self._inside(places, homes[path])}
                        for column in columns:
                            votes[column] += 1 / len(columns)

    def _inside(self, places: Sequence[Place], home: Home) -> list[Place]:
        return [place for place in places if home.start <= place.start < home.end]

    def _outside(self, places: Sequence[Place], record: str) -> list[Place]:
        """The places that belong to no element of a list: what is said once for all of them."""
        name = record[: record.rindex("[")]
        homes = [home for path, home in self._homes.items() if path[: path.rindex("[")] == name]
        return [place for place in places[:50] if not any(home.start <= place.start < home.end for home in homes)]

    def _column(self, place: Place) -> int:
        """A number for the column in which a place stands: its heading's, else its rank from the right."""
        layout = self._source.layout
        number = layout.line_of(place.start)
        cell = layout.cell_of(place.start, number)
        if cell is None:
            return 99
        head = layout.head_row(number)
        if head:
            owner = column_of(head, cell)
            return 99 if owner is None else owner
        cells = layout.lines[number].cells
        return cells.index(cell) - len(cells)

    def _scored(self, field: Field) -> list[Scored]:
        places = self._places[field.path]
        home = self._homes.get(field.record) if field.record else None
        if isinstance(field.value, bool):
            return self._answers(field, home)
        if home is not None:
            places = self._inside(places, home) or self._outside(places, field.record)
        count = len({place.spans for place in places})
        first = min(places, key=lambda place: place.start, default=None)
        found = []
        for place in places:
            turned = place.kind in FIGURES and is_turned(field, self._source.text, place.start)
            if turned != (place.reading == "opposite") or self._is_denied(field, place):
                continue
            found.append(self._entry(field, place, count, place is first))
        found.sort(key=lambda entry: (-round(entry.score, 3), not entry.place.exact, entry.place.start))
        return found

    def _entry(self, field: Field, place: Place, count: int, first: bool = True) -> Scored:
        """A place with its features and score."""
        context = self._contexts.of(place.start, place.end)
        line, block = self._around(field, context.line)
        around = Surroundings(
            count=count,
            first=first,
            column=self._share(field, place),
            topic=self._topic(field),
            line=line,
            block=block,
        )
        features = self._scorer.features(field, place, context, around)
        home = self._homes.get(field.record) if field.record else None
        shape = " free" if not context.kinds else " prose" if context.kinds == _PROSE else ""
        group = ("figure" if place.kind in FIGURES else "text") + shape
        group = "listed " + group if home is not None and home.start <= place.start < home.end else group
        return Scored(place, context, group, features, score(group, features))

    def _share(self, field: Field, place: Place) -> float:
        """How many of a list's values of this name stand in the column of a place."""
        if not field.record:
            return 0.0
        votes = self._columns.get((field.record[: field.record.rindex("[")], field.name), {})
        return votes.get(self._column(place), 0.0) / sum(votes.values()) if votes else 0.0

    def _around(self, field: Field, line: int) -> tuple[float, float]:
        """The shares of a field's words, its own and those of its object, on the line of a place and in its paragraph."""
        words = field.telling + field.parents
        if not words or field.record:
            return 0.0, 0.0
        low, high = self._paragraph(line)
        here = around = 0
        for word in words:
            lines = self._sorted_lines(word)
            at = bisect_left(lines, low)
            if at < len(lines) and lines[at] < high:
                around += 1
                here += any(other == line for other in lines[at : at + 12])
        return here / len(words), around / len(words)

    def _sorted_lines(self, word: str) -> list[int]:
        known = self._found_lines.get(word)
        if known is None:
            known = self._found_lines[word] = sorted(self._lines_with([word]))
        return known

    def _paragraph(self, line: int) -> tuple[int, int]:
        """The lines around one without a blank between, a dozen at most to each side."""
        known = self._paragraphs.get(line)
        if known is None:
            lines = self._source.layout.lines
            low = high = line
            while low > 0 and line - low < 12 and lines[low - 1].kind != "blank":
                low -= 1
            while high < len(lines) and high - line < 12 and lines[high].kind != "blank":
                high += 1
            known = self._paragraphs[line] = (low, high)
        return known

    def _topic(self, field: Field) -> float:
        """The share of the words that tell a field from others which the text speaks of anywhere."""
        known = self._topics.get(field.own)
        if known is not None:
            return known
        words = field.telling
        known = self._topics[field.own] = (
            sum(bool(self._sorted_lines(word)) for word in words) / len(words) if words else 1.0
        )
        return known

    @cached_property
    def _phrases(self) -> Phrases:
        return Phrases(self._source.layout)

    def _answers(self, field: Field, home: Home | None) -> list[Scored]:
        """The phrases that answer a question of yes or no."""
        statements = self._phrases.statements(field)
        if field.record:
            cells = list(self._cell_answers(field, home)) if home else []
            if cells:
                return cells
            statements = [s for s in statements if home is not None and home.start <= s.start < home.end]
        found = []
        against = max((s.strength for s in statements if s.says != field.value), default=0.0)
        if against and against >= max((s.strength for s in statements if s.says == field.value), default=0.0):
            return []
        for statement in statements:
            if statement.says == field.value:
                place = Place(((statement.start, statement.end),), "answer")
                context = self._contexts.of(statement.start, statement.end)
                features = self._scorer.features(field, place, context, Surroundings())
                features[_OWN], features[_SURPLUS], features[_OTHER] = statement.strength, against, 0.0
                found.append(Scored(place, context, "answer", features, score("answer", features)))
        found.sort(key=lambda entry: (-round(entry.score, 3), entry.place.start))
        return found

    def _cell_answers(self, field: Field, home: Home) -> Iterator[Scored]:
        """Cells of an element's rows that hold nothing but the answer, under a head that names the field."""
        layout = self._source.layout
        for number in range(layout.line_of(home.start), layout.line_of(max(home.start, home.end - 2)) + 1):
            for cell in layout.lines[number].cells:
                if cell_answer(cell.text) != field.value:
                    continue
                context = self._contexts.of(cell.start, cell.end)
                place = Place(((cell.start, cell.end),), "answer")
                if self._scorer.label_match(field, context, "answer") >= 0.4:
                    features = self._scorer.features(field, place, context, Surroundings(column=1.0))
                    yield Scored(place, context, "answer", features, score("answer", features))

    def _is_denied(self, field: Field, place: Place) -> bool:
        """Whether the text says that it is not so: "not active"; or the place is a word of a label."""
        ends = self._contexts.of(place.start, place.end).ends
        asked = field.own + field.parents if ends else ()
        if any(("new" in asked and "previous" in end) or ("previous" in asked and "new" in end) for end in ends):
            return True
        if place.kind not in ("text", "id"):
            return False
        if box_before(self._source.text, place.start) is False:
            return True
        text = self._source.text
        number = self._source.layout.line_of(place.start)
        cell = self._source.layout.cell_of(place.start, number)
        if (
            cell is not None
            and place.end - place.start < len(cell.text)
            and number + 1 < len(self._source.layout.lines)
        ):
            if any(cell.start == head.start for head in self._source.layout.head_row(number + 1)):
                return True  # a word of a column's heading
        if cell is not None and place.end - place.start < len(cell.text) - 1 and len(cell.text) <= 60:
            label, colon, _ = cell.text.partition(": ")
            if colon and place.end - cell.start <= len(label) and place.kind == "text":
                said = concepts(text[place.start : place.end])
                if field.options or (place.end - place.start < len(label.strip()) - 1 and all(map(is_known, said))):
                    return True
        said = text[place.start : place.end]
        plain = bool(field.options) or said.islower() or (isinstance(field.value, str) and field.value.islower())
        if not plain or len(said.split()) > 2:
            return False
        line = text.rfind("\n", 0, place.start) + 1
        words = [
            fold(word) for word in re.findall(r"[^\W_]+(?:['’]\w+)?", text[max(line, place.start - 30) : place.start])
        ][-2:]
        if not words or fold(said.split()[0]) in NEGATIONS:
            return False
        return words[-1] in NEGATIONS or (
            words[0] in ("not", "no", "nicht")
            and words[-1] in ("yet", "longer", "been", "an", "a", "the", "currently", "be")
        )

    def decision(self, field: Field, scored: list[Scored]) -> list[float]:
        """What tells whether the best place is right, in the order of `DECISION_NAMES`."""
        best = scored[0]
        others = [entry for entry in scored[1:] if not self._is_same(best, entry)]
        lead = min(6.0, best.score - others[0].score) / 6 if others else 1.0
        rival = self._rival(field, scored)
        home = self._homes.get(field.record) if field.record else None
        owners = [
            other
            for other, points in self._claims[best.place.start, best.place.end]
            if points > best.score and other.name != field.name
        ]
        return [
            1.0,
            max(-8.0, min(8.0, best.score)) / 8,
            lead,
            max(-1.0, min(1.0, (best.score - rival) / 4)),
            float(rival > best.score - 0.3),
            float(bool(owners)),
            float(bool(field.record)),
            float(home is not None and not home.sure),
            best.place.weight,
            float(bool(field.record) and home is None),
        ]

    def _is_same(self, best: Scored, other: Scored) -> bool:
        """Whether a place says the same thing once more, as running heads and copies do."""
        if best.place.spans == other.place.spans:
            return True
        if best.context.line == other.context.line or self._source.layout.head_row(best.context.line):
            return False
        layout = self._source.layout
        cells = [layout.cell_of(entry.place.start, entry.context.line) for entry in (best, other)]
        if cells[0] is None or cells[1] is None or cells[0].text != cells[1].text:
            return False
        lines = [layout.lines[entry.context.line] for entry in (best, other)]
        longer = cells[0].end - cells[0].start > best.place.end - best.place.start
        return (
            longer
            or self._source.text[lines[0].start : lines[0].end].split()
            == self._source.text[lines[1].start : lines[1].end].split()
        )

    def _rival(self, field: Field, scored: list[Scored]) -> float:
        """How well the field fits the place of another value of its kind, that no other field claims."""
        best = scored[0]
        strongest = -99.0
        if best.place.kind == "answer" or not field.own:
            return strongest
        taken = {span for entry in scored for span in entry.place.spans}
        mine = self._scorer.label_match(field, best.context, best.place.kind)
        least = max(0.3, mine - 0.15)
        for start, end, kind in self._others(field, best.place.kind, best.context.line, mine > _EXACTLY):
            if any(low <= start < high for low, high in taken):
                continue
            context = self._contexts.of(start, end)
            if self._scorer.label_match(field, context, kind, least) < least:
                continue
            if kind not in FIGURES and not any(
                label.kind in ("named", "left", "head", "over") for label in context.primary
            ):
                continue
            if any(other.path != field.path and points > 0 for other, points in self._claims.get((start, end), ())):
                continue  # that is another field's
            place = Place(((start, end),), kind)
            strongest = max(strongest, self._entry(field, place, len(scored)).score)
        return strongest

    def _others(self, field: Field, kind: str, line: int, exact: bool) -> Iterator[tuple[int, int, str]]:
        """Values of a kind on the lines that name the field, and on those that they may head; if exact, on its line."""
        layout = self._source.layout
        home = self._homes.get(field.record) if field.record else None
        if exact:
            near = [line]
        elif home is not None:
            near = list(range(layout.line_of(home.start), layout.line_of(max(home.start, home.end - 2)) + 1))[:60]
        else:
            near = self._near(field.telling or field.own)
        if kind == "date":
            for number in near:
                for mention in self._dates_on.get(number, ()):
                    yield mention.start, mention.end, kind
        elif kind in FIGURES:
            for number in near:
                for rank in self._numbers_on.get(number, ()):
                    mention = self._source.numbers.mention(rank)
                    if mention is not None and mention.readings[0].kind != "part":
                        share = mention.readings[0].kind in ("fraction", "percent")
                        if share == (kind == "percent"):
                            yield (
                                mention.start,
                                mention.end,
                                "percent" if share else "money" if mention.money else "number",
                            )
        else:
            for number in near:
                for cell in layout.lines[number].cells:
                    label, colon, value = cell.text.partition(":")
                    if colon and value.strip():
                        yield cell.start + len(label) + 1 + len(value) - len(value.lstrip()), cell.end, kind
                    elif not colon:
                        yield cell.start, cell.end, kind

    def _near(self, words: tuple[str, ...]) -> list[int]:
        """The lines that name some words, the next two, and the rows of a table that they head."""
        known = self._nearby.get(words)
        if known is None:
            layout = self._source.layout
            rarest = min(filter(None, (self._sorted_lines(word) for word in words)), key=len, default=[])
            found = {line + more for line in rarest for more in (0, 1)}
            for line in sorted(found):
                if line < len(layout.lines) and layout.tables[line] >= 0:
                    first = line
                    while (
                        len(found) < 300
                        and line + 1 < len(layout.lines)
                        and layout.tables[line + 1] == layout.tables[first]
                    ):
                        line += 1
                        found.add(line)
            known = self._nearby[words] = sorted(line for line in found if line < len(layout.lines))[:300]
        return known

    def _lines_with(self, words: Sequence[str]) -> set[int]:
        found: set[int] = set()
        for word in words:
            found.update(self._word_lines.get(word, ()))
            for other in self._alike.get(word[:4], ()):
                if other != word and likeness(word, other) >= 0.7:
                    found.update(self._word_lines[other])
        return found

    @cached_property
    def _word_lines(self) -> dict[str, list[int]]:
        table: dict[str, list[int]] = {}
        for number, line in enumerate(self._source.layout.lines):
            for cell in line.cells:
                for word in dict.fromkeys(concepts(cell.text[:2000])):
                    table.setdefault(word, []).append(number)
        return table

    @cached_property
    def _alike(self) -> dict[str, list[str]]:
        table: dict[str, list[str]] = {}
        for word in self._word_lines:
            table.setdefault(word[:4], []).append(word)
        return table

    @cached_property
    def _numbers_on(self) -> dict[int, list[int]]:
        table: dict[int, list[int]] = {}
        for rank, start in enumerate(self._source.numbers.starts):
            table.setdefault(self._source.layout.line_of(start), []).append(rank)
        return table

    @cached_property
    def _dates_on(self) -> dict[int, list]:
        table: dict[int, list] = {}
        for mention in self._source.dates.mentions:
            table.setdefault(self._source.layout.line_of(mention.start), []).append(mention)
        return table

    def verdicts(self, field: Field, scored: list[Scored]) -> list[Verdict]:
        """The best place with its confidence, and those that say the same thing once more."""
        if not scored:
            return []
        best = scored[0]
        decision = self.decision(field, scored)
        sure = confidence(best.group, decision)
        if best.place.weight < READING_SETTLED:
            sure = min(sure, ALIKE)
        if len(scored) > 1 and best.place.kind in FIGURES and not self._is_same(best, scored[1]):
            differ = (
                abs(a - b) > 0.01 for n, (a, b) in enumerate(zip(best.features, scored[1].features)) if n not in _ORDER
            )
            if not any(differ):
                sure = min(sure, ALIKE)
        if sure < 0.05:
            return []
        same = [
            entry
            for entry in scored
            if entry is best or self._is_same(best, entry) and entry.place.spans != best.place.spans
        ]
        return [Verdict(entry.place, sure) for entry in sorted(same[:5], key=lambda entry: entry.place.start)]


_NEXT_BEST = 2.5
_ORDER = (NAMES.index("first"), NAMES.index("early"))
_EXACTLY = 0.97  # how well a label names a field that nothing names better
_PROSE = frozenset({"prose"})
_OWN, _SURPLUS, _OTHER = (NAMES.index(name) for name in ("own", "surplus", "other"))
_NEIGHBOUR = NAMES.index("neighbour")


def _circle(field: Field) -> str:
    """What a field belongs to together with others that stand near it: its object, or its list of plain values."""
    if field.record:
        return ""
    return field.group[: field.group.rindex("[")] + "[]" if field.group.endswith("]") else field.group

"""Field values + document -> for every field the places that say it.

The order of decisions: where each list element lives (rows), then every field among its own places (judge), at last
the fields of one object help each other: of two equal places the one near the object's other values is meant.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from batchwork.documents import Document
from batchwork.evidence.booleans import Statement, cell_answer, statements
from batchwork.evidence.citation import Citation
from batchwork.evidence.contests import Contest
from batchwork.evidence.fields import Field, fields_of
from batchwork.evidence.judge import ACCEPTED, Judge, Verdict
from batchwork.evidence.lists.crossings import at_crossing, in_column, inside_band
from batchwork.evidence.lists.rows import Home, homes_of
from batchwork.evidence.lists.stretches import stretches_of
from batchwork.evidence.page.columns import column_of
from batchwork.evidence.page.layout import Cell
from batchwork.evidence.source import Candidate, Source

_NEAR = 6  # lines
_SHORT, _LONGEST_ANSWER = 12, 40  # characters of a cell that may be an answer, alone in its line or beside others


def find_evidence(
    value: Any, document: Document | str, *, schema: Any = None, cited: Sequence[Citation] = ()
) -> dict[str, list[Citation]]:
    """For every leaf of `value`, by path, the places of the document that say it, best first.

    A list is empty when nothing says the value: it is None, absent, only computable or contradicted. A citation with a
    confidence below 0.5 is one of several places that cannot be told apart. `schema` (a JSON schema or a Pydantic
    model) adds descriptions and enums; a Pydantic value brings its own. `cited` are verified citations of the provider:
    of places that cannot be told apart the one inside such a passage is taken.
    """
    fields = fields_of(value, schema)
    text = document if isinstance(document, str) else document.text
    if not text.strip():
        return {field.path: [] for field in fields}
    finder = _Finder(Source(text), fields, [(citation.start, citation.end) for citation in cited])
    found = finder.run()
    return {
        field.path: [
            citation
            for verdict in found[field.path]
            for citation in _citations(verdict, text, None if isinstance(document, str) else document)
        ]
        for field in fields
    }


def _citations(verdict: Verdict, text: str, document: Document | None) -> list[Citation]:
    return [
        Citation(
            start=start,
            end=end,
            text=text[start:end],
            page=None if document is None else document.page_of(start),
            confidence=round(max(0.0, min(1.0, verdict.confidence)), 3),
        )
        for start, end in verdict.candidate.spans
    ]


class _Finder:
    def __init__(self, source: Source, fields: list[Field], cited: Sequence[tuple[int, int]] = ()) -> None:
        self._source = source
        self._cited = cited
        self._fields = fields
        self._candidates = {field.path: source.candidates(field) for field in fields}
        self._judge = Judge(source, fields, self._candidates)
        self._homes: dict[str, Home] = {}
        self._columns: dict[tuple[str, str], dict[int, float]] = {}
        self._lists: dict[str, list[Home]] = defaultdict(list)

    def run(self) -> dict[str, list[Verdict]]:
        self._settle_rows()
        found: dict[str, list[Verdict]] = {}
        for field in self._fields:
            if isinstance(field.value, bool):
                found[field.path] = self._boolean(field)
            elif field.record:
                found[field.path] = self._in_record(field)
            else:
                found[field.path] = self._judge.decide(field, self._candidates[field.path])
        self._help_neighbours(found)
        Contest(self._source, self._judge, self._fields, self._candidates).settle(found)
        if self._cited:
            self._help_from_provider(found)
        return found

    def _settle_rows(self) -> None:
        lists: dict[str, dict[str, list[tuple[Field, list[Candidate]]]]] = defaultdict(lambda: defaultdict(list))
        for field in self._fields:
            if field.record:
                lists[_list_of(field.record)][field.record].append((field, self._candidates[field.path]))
        for name, records in sorted(lists.items(), key=lambda entry: entry[0].count("[")):  # the outer ones first
            homes = homes_of(records, self._source.layout)
            if len(homes) < len(records):
                homes = self._in_clauses(records) or homes
            self._homes.update(homes)
            self._lists[name] = list(homes.values())
            self._vote_columns(name, records)

    def _in_clauses(self, records: dict[str, list[tuple[Field, list[Candidate]]]]) -> dict[str, Home]:
        """Elements that share lines, each with its own stretch of them."""
        line_of = self._source.layout.line_of
        return {
            path: Home((line_of(first), line_of(end - 1) + 1), True, "clause", (first, end))
            for path, (first, end) in stretches_of(records, self._source.layout).items()
        }

    def _vote_columns(self, name: str, records: dict[str, list[tuple[Field, list[Candidate]]]]) -> None:
        """In which column each field of the elements stands, by where its values are found."""
        for path, leaves in records.items():
            home = self._homes.get(path)
            if home is None or home.kind not in ("row", "column"):
                continue
            track = self._line if home.band else self._column
            for field, candidates in leaves:
                inside = at_crossing(field, self._inside(candidates, home), home, self._homes, self._source.layout)
                votes = self._columns.setdefault((name, _leaf_name(field)), defaultdict(float))
                columns = {track(candidate) for candidate in inside}
                for column in columns:
                    votes[column] += 1 / len(columns)

    def _column(self, candidate: Candidate) -> int:
        """A number for the column in which a place stands: its heading's, else its rank from the right."""
        layout = self._source.layout
        number = layout.line_of(candidate.start)
        cell = layout.cell_of(candidate.start, number)
        if cell is None:
            return 99
        cells = layout.lines[number].cells
        head = self._source.contexts.columns.head_row(number)
        if head and len(head) >= len(cells) - 1:  # else it is the heading of another table
            owner = column_of(head, cell)
            return 99 if owner is None else owner
        return cells.index(cell) - len(cells)

    def _inside(self, candidates: list[Candidate], home: Home) -> list[Candidate]:
        if home.stretch is not None:
            return [c for c in candidates if home.stretch[0] <= c.start < home.stretch[1]]
        if home.band is not None:
            return inside_band(candidates, home, self._source.layout)
        first, last = home.lines
        return [c for c in candidates if first <= self._source.layout.line_of(c.start) < last]

    def _in_record(self, field: Field) -> list[Verdict]:
        home = self._homes.get(field.record)
        candidates = self._candidates[field.path]
        if home is None or not candidates:
            return []
        inside = self._inside(candidates, home)
        if not inside:
            return self._shared(field, candidates)
        inside = at_crossing(field, inside, home, self._homes, self._source.layout)
        if not inside:
            return []
        verdicts = self._among(field, inside, home)
        if not home.sure:
            return [Verdict(verdict.candidate, min(verdict.confidence, 0.4)) for verdict in verdicts]
        return verdicts

    def _shared(self, field: Field, candidates: list[Candidate]) -> list[Verdict]:
        """A value that is said once for all elements, outside the place of any of them."""
        layout = self._source.layout
        name = _list_of(field.record)
        lines = {line for home in self._lists[name] for line in range(*home.lines)}
        tables = {layout.tables[line] for line in lines} - {-1}
        free = []
        for candidate in candidates:
            line = layout.line_of(candidate.start)
            in_table = layout.tables[line] in tables or bool(self._source.contexts.columns.head_row(line))
            if line not in lines and not in_table:
                free.append(candidate)
        if any(candidate.kind in ("number", "money", "percent") for candidate in free):
            free = [candidate for candidate in free if self._judge.score(field, candidate) >= 0.75]
        return self._judge.decide(field, free)

    def _among(self, field: Field, inside: list[Candidate], home: Home) -> list[Verdict]:
        """The place within an element's own row or paragraph."""
        votes = self._columns.get((_list_of(field.record), _leaf_name(field)), {})
        if home.band is not None:
            return in_column(field, inside, votes, self._judge, self._source.layout)
        if home.kind != "row":
            return self._in_paragraph(field, inside, home)
        total = sum(votes.values()) or 1.0
        rated: list[tuple[float, float, Candidate]] = []
        for candidate in inside:
            label = self._judge.score(field, candidate)
            share = votes.get(self._column(candidate), 0.0) / total
            rated.append((label + 0.8 * share, label, candidate))
        rated.sort(key=lambda entry: (-entry[0], entry[2].start))
        best, label, candidate = rated[0]
        if self._judge.is_denied(field, candidate):
            return []
        if label < 0.45 and (self._is_elsewhere(field, candidate) or self._is_in_anothers_column(field, candidate)):
            return []
        if len(rated) > 1 and rated[1][0] > best - 0.12 and not _same_place(candidate, rated[1][2]):
            return [Verdict(entry[2], 0.42) for entry in rated[:2]]
        confidence = min(0.97, 0.62 + 0.35 * max(label, min(1.0, best)))
        if label < 0.3 and votes.get(self._column(candidate), 0.0) <= total / 2 and self._strays(field, candidate):
            confidence = 0.45
        return [Verdict(candidate, min(confidence, candidate.weight if candidate.weight < ACCEPTED else 1.0))]

    def _in_paragraph(self, field: Field, inside: list[Candidate], home: Home) -> list[Verdict]:
        """The place within an element's own paragraph; its only one needs less of a label."""
        verdicts = self._judge.decide(field, inside, home.lines)
        unsure = len(inside) == 1 and verdicts and verdicts[0].confidence < ACCEPTED <= inside[0].weight
        if unsure and (home.kind == "clause" or self._judge.score(field, inside[0]) >= 0.3):
            return [Verdict(inside[0], 0.65)]
        return verdicts

    def _is_elsewhere(self, field: Field, candidate: Candidate) -> bool:
        """Whether the field has a column of its own in this table, and the place is not in it."""
        layout = self._source.layout
        number = layout.line_of(candidate.start)
        head = self._source.contexts.columns.head_row(number)
        if not head:
            return False
        column = self._column(candidate)
        affinity = self._judge.affinity
        fits = [
            0.0 if affinity.owned_by_another(field, cell.text) else affinity.heading_match(field, cell.text)
            for cell in head
        ]
        best = max(fits, default=0.0)
        if best >= 0.6:
            return not (0 <= column < len(fits) and fits[column] > best - 0.1)
        return 0 <= column < len(head) and self._judge.affinity.owned_by_another(field, head[column].text)

    def _strays(self, field: Field, candidate: Candidate) -> bool:
        """Whether elements have this field in different columns of a table, and another field in this one."""
        name, mine, column = _list_of(field.record), _leaf_name(field), self._column(candidate)
        if len(self._columns.get((name, mine), {})) < 2 or not self._heads(candidate):
            return False
        return any(column in votes for (of, leaf), votes in self._columns.items() if of == name and leaf != mine)

    def _heads(self, candidate: Candidate) -> Sequence[Cell]:
        return self._source.contexts.columns.head_row(self._line(candidate)) or ()

    def _line(self, candidate: Candidate) -> int:
        return self._source.layout.line_of(candidate.start)

    def _is_in_anothers_column(self, field: Field, candidate: Candidate) -> bool:
        """Whether the other elements have this field in another column, and another field in this one."""
        name, mine, column = _list_of(field.record), _leaf_name(field), self._column(candidate)
        votes = self._columns.get((name, mine), {})
        here = votes.get(column, 0.0)
        if max(votes.values(), default=0.0) <= here:
            heads = enumerate(self._heads(candidate))
            fits = {rank: self._judge.affinity.heading_match(field, cell.text) for rank, cell in heads}
            return any(votes[other] >= here and fits.get(other, 0.0) > fits.get(column, 0.0) + 0.3 for other in votes)
        others = [told for (owner, leaf), told in self._columns.items() if owner == name and leaf != mine]
        return any(told.get(column, 0.0) > max(here, sum(told.values()) / 2) for told in others)

    def _boolean(self, field: Field) -> list[Verdict]:
        said = statements(field, self._source.phrases)
        said += self._answers(field)
        home = self._homes.get(field.record) if field.record else None
        if home is not None:
            first, last = home.lines
            said = [entry for entry in said if first <= self._source.layout.line_of(entry.start) < last]
        if not said:
            return []
        strongest = max(entry.strength for entry in said)
        top = [entry for entry in said if entry.strength >= strongest - 0.15]
        if any(entry.says != field.value for entry in top):
            return []
        confidence = min(0.95, 0.35 + 0.55 * strongest) if home is None or home.sure else 0.4
        first_said = max(top, key=lambda entry: (entry.strength, -entry.start))
        return [Verdict(Candidate(((first_said.start, first_said.end),), "text"), confidence)]

    def _answers(self, field: Field) -> list[Statement]:
        """Cells that are an answer by themselves, under or beside a label of the field."""
        found = []
        for cell, says in self._answer_cells:
            context = self._source.contexts.of(cell.start, cell.end)
            score = self._judge.affinity.score(field, context, "flag")
            if score >= 0.55:
                found.append(Statement(cell.start, cell.end, says, score + 0.2))
        return found

    @cached_property
    def _answer_cells(self) -> list[tuple[Cell, bool]]:
        lines = (line.cells for line in self._source.layout.lines)
        cells = (cell for row in lines for cell in row if len(row) > 1 or len(cell.text) <= _SHORT)
        answers = ((cell, cell_answer(cell.text)) for cell in cells if len(cell.text) <= _LONGEST_ANSWER)
        return [(cell, says) for cell, says in answers if says is not None]

    def _help_neighbours(self, found: dict[str, list[Verdict]]) -> None:
        """Of places that could not be told apart take the one near the other values of the same object."""
        layout = self._source.layout
        known: dict[str, list[int]] = defaultdict(list)
        for field in self._fields:
            verdicts = found[field.path]
            if verdicts and verdicts[0].confidence >= ACCEPTED and field.group:
                known[field.group].append(layout.line_of(verdicts[0].candidate.start))
        for field in self._fields:
            verdicts = found[field.path]
            near = known.get(field.group, [])
            if len(verdicts) < 2 or verdicts[0].confidence >= ACCEPTED or not near or field.record:
                continue
            close = [
                v for v in verdicts if min(abs(layout.line_of(v.candidate.start) - line) for line in near) <= _NEAR
            ]
            if len(close) == 1 and close[0].candidate.weight >= ACCEPTED:
                found[field.path] = [Verdict(close[0].candidate, 0.65)]

    def _help_from_provider(self, found: dict[str, list[Verdict]]) -> None:
        for path, verdicts in found.items():
            if len(verdicts) < 2 or verdicts[0].confidence >= ACCEPTED:
                continue
            inside = [
                verdict
                for verdict in verdicts
                if any(low <= verdict.candidate.start and verdict.candidate.end <= high for low, high in self._cited)
            ]
            if len(inside) == 1 and inside[0].candidate.weight >= ACCEPTED:
                found[path] = [Verdict(inside[0].candidate, 0.7)]


def _list_of(record: str) -> str:
    return record[: record.rindex("[")]


def _leaf_name(field: Field) -> str:
    return re.sub(r"\[\d+\]", "[]", field.path[len(field.record) :])


def _same_place(one: Candidate, other: Candidate) -> bool:
    return one.start < other.end and other.start < one.end

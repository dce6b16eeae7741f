"""Elements of a list that stand side by side in a table: which line of its column says a field, and lists within lists.

What headings of columns are to rows, the words at the left are here: they name what each line says. Where the elements
of one list are rows and those of the list inside it columns, or the other way round, a value stands at the crossing.
"""

import re
from collections.abc import Mapping

from batchwork.evidence.fields import Field
from batchwork.evidence.judge import ACCEPTED, Judge, Verdict
from batchwork.evidence.lists.bands import bands_of
from batchwork.evidence.lists.rows import Home
from batchwork.evidence.page.layout import Layout
from batchwork.evidence.source import Candidate

_OUTER = re.compile(r"(.*\])\.[^\]]*\[\d+\]")
_NAMED, _MEANT, _CLEAR, _UNSURE = 0.6, 0.45, 0.12, 0.42


def inside_band(candidates: list[Candidate], home: Home, layout: Layout) -> list[Candidate]:
    """The places in the column of an element."""
    return [candidate for candidate in candidates if bands_of(layout).at(candidate.start) == home.band]


def at_crossing(
    field: Field, inside: list[Candidate], home: Home, homes: Mapping[str, Home], layout: Layout
) -> list[Candidate]:
    """Of the places in an element's row or column those that are in the column or row of the element around it too."""
    outer = _OUTER.fullmatch(field.record)
    around = homes.get(outer[1]) if outer else None
    if around is None or not around.sure or (around.band is None) == (home.band is None):
        return inside
    bands = bands_of(layout)
    if around.band is not None:
        if not around.lines[0] <= home.lines[0] < around.lines[1]:
            return inside
        return [c for c in inside if bands.at(c.start) == around.band or bands.is_head(c.start)]
    if around.kind != "row" or not home.lines[0] <= around.lines[0] < home.lines[1]:
        return inside
    first, end = around.lines
    return [c for c in inside if first <= layout.line_of(c.start) < end or bands.is_head(c.start)]


def in_column(
    field: Field, inside: list[Candidate], votes: Mapping[int, float], judge: Judge, layout: Layout
) -> list[Verdict]:
    """The place within an element's column: by the words at the left, and by the line the other elements have it in."""
    total = sum(votes.values()) or 1.0
    rated: list[tuple[float, float, float, Candidate]] = []
    for candidate in inside:
        label = judge.score(field, candidate)
        share = votes.get(layout.line_of(candidate.start), 0.0) / total
        rated.append((label + 0.8 * share, label, share, candidate))
    rated.sort(key=lambda entry: (-entry[0], entry[3].start))
    best, label, share, candidate = rated[0]
    if judge.is_denied(field, candidate) or _is_named_elsewhere(field, candidate, label, judge, layout):
        return []
    if len(rated) > 1 and rated[1][0] > best - _CLEAR:
        return [Verdict(entry[3], _UNSURE) for entry in rated[:2]]
    if label < _MEANT and share <= 0.5:
        return [Verdict(candidate, _UNSURE)]
    confidence = min(0.97, 0.62 + 0.35 * max(label, share))
    return [Verdict(candidate, min(confidence, candidate.weight if candidate.weight < ACCEPTED else 1.0))]


def _is_named_elsewhere(field: Field, candidate: Candidate, label: float, judge: Judge, layout: Layout) -> bool:
    """Whether the words at the left of another line of the table are the field's, and those of this line are not."""
    number = layout.line_of(candidate.start)
    if label >= _NAMED:
        return False
    firsts = {
        other: judge.affinity.heading_match(field, layout.lines[other].cells[0].text)
        for other, table in enumerate(layout.tables)
        if table == layout.tables[number] and layout.lines[other].cells
    }
    return max(firsts.values(), default=0.0) >= max(_NAMED, firsts.get(number, 0.0) + _CLEAR)

"""Where the elements of a list live that share a line or a sentence: one after the other, each from its first word on.

"German (native); Polish (basic)" is two languages in one line. One field of the elements serves as their beginning: the
one whose values stand close together and leave the most of the other values to their own element. The order of the list
does not count.
"""

from collections.abc import Collection, Mapping, Sequence

from batchwork.evidence.fields import Field
from batchwork.evidence.page.layout import Layout
from batchwork.evidence.source import Candidate

Leaves = Sequence[tuple[Field, list[Candidate]]]
Stretch = tuple[int, int]

_APART = 200  # characters between the beginnings of two elements, on average and for the last one
_MOST = 30  # places of one value that are looked at
_ENOUGH = 1.0  # values of an element that stand in its stretch, less those that do not


def stretches_of(records: Mapping[str, Leaves], layout: Layout) -> dict[str, Stretch]:
    """For the elements of one list, by path, where each stands; empty when no field tells them apart."""
    best: dict[str, Stretch] = {}
    most = _ENOUGH
    names = dict.fromkeys(field.name for leaves in records.values() for field, _ in leaves)
    for name in names if len(records) > 1 else ():
        begins = _together({path: _starts(leaves, name, layout) for path, leaves in records.items()})
        if not begins:
            continue
        ordered = sorted(begins, key=begins.__getitem__)
        ends = [*(begins[path] for path in ordered[1:]), _end(layout, begins[ordered[-1]])]
        stretches = {path: (begins[path], end) for path, end in zip(ordered, ends, strict=True)}
        shown = sum(_shown(leaves, stretches[path]) for path, leaves in records.items()) / len(records)
        least = min(most, 0.0) if not best and _is_listed(begins.values(), layout) else most
        if shown >= least:
            best, most = stretches, max(shown, 0.0) + 1e-9
    return best


def _starts(leaves: Leaves, name: str, layout: Layout) -> list[int]:
    """Where a field's values stand that may begin an element; what is in brackets belongs to the words before them."""
    starts = sorted({c.start for field, candidates in leaves if field.name == name for c in candidates})[:_MOST]
    return [start for start in starts if not _is_bracketed(layout, start)]


def _is_listed(begins: Collection[int], layout: Layout) -> bool:
    """Whether the beginnings stand one behind the other in a line, each at its start or behind a mark."""
    lines = {layout.line_of(start) for start in begins}
    before = (layout.text[max(0, layout.lines[layout.line_of(start)].start - 1) : start] for start in begins)
    return len(lines) == 1 and all(not said.strip() or said.rstrip()[-1] in ":,;·•|/" for said in before)


def _is_bracketed(layout: Layout, start: int) -> bool:
    before = layout.text[layout.lines[layout.line_of(start)].start : start]
    return before.rfind("(") > before.rfind(")")


def _together(starts: Mapping[str, list[int]]) -> dict[str, int]:
    """A place for each, all different and close together: those nearest to some place of the first one."""
    if not all(starts.values()):
        return {}
    best: dict[str, int] = {}
    widest = _APART * len(starts)
    for pivot in next(iter(starts.values())):
        row = {path: min(places, key=lambda place: abs(place - pivot)) for path, places in starts.items()}
        width = max(row.values()) - min(row.values())
        if width < widest and len(set(row.values())) == len(row):
            best, widest = row, width
    return best


def _end(layout: Layout, start: int) -> int:
    """Where the last element ends: with its paragraph, or when it has gone on for long."""
    number = layout.line_of(start)
    while number + 1 < len(layout.lines) and layout.lines[number + 1].kind == "text":
        number += 1
    return min(layout.lines[number].end, start + _APART)


def _shown(leaves: Leaves, stretch: Stretch) -> float:
    """How many of an element's values stand in its stretch, less those that stand only elsewhere."""
    shown = 0.0
    for _, candidates in leaves:
        if candidates:
            shown += 1 if any(stretch[0] <= c.start < stretch[1] for c in candidates) else -1
    return shown

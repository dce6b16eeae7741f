"""Where the elements of a list live that share a line or a sentence: one after the other, each from its first word on.

"German (native); Polish (basic)" is two languages in one line. One field of the elements serves as their beginning: the
one whose values stand close together and leave the most of the other values to their own element. The order of the list
does not count.
"""

from collections.abc import Mapping, Sequence

from batchwork.evidence.fields import Field
from batchwork.evidence.layout import Layout
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
        begins = _together({path: _starts(leaves, name) for path, leaves in records.items()})
        if not begins:
            continue
        ordered = sorted(begins, key=begins.__getitem__)
        ends = [*(begins[path] for path in ordered[1:]), _end(layout, begins[ordered[-1]])]
        stretches = {path: (begins[path], end) for path, end in zip(ordered, ends, strict=True)}
        shown = sum(_shown(leaves, stretches[path]) for path, leaves in records.items()) / len(records)
        if shown >= most:
            best, most = stretches, shown + 1e-9
    return best


def _starts(leaves: Leaves, name: str) -> list[int]:
    return sorted({c.start for field, candidates in leaves if field.name == name for c in candidates})[:_MOST]


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

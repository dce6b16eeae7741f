"""Which part of the text each element of a list speaks of: a row, a paragraph, a section, or a stretch of a line.

An element is recognised by its own values: the unit where most of them stand together, the rare ones counting more.
Two elements that fit the same units equally well keep their order where there are as many units as elements; otherwise
they cannot be told apart.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from batchwork.evidence.fields import Field
from batchwork.evidence.layout import Layout
from batchwork.evidence.readers import Place

Leaves = Sequence[tuple[Field, list[Place]]]
Unit = tuple[int, int]  # offsets, from and to
_KINDS = {"row": 1.0, "pair": 0.97, "block": 0.9}  # the smaller, the surer
_REFRAIN = 0.95
_VALUE = re.compile(r"(?<=[:=>])\s*[^\s:{\[].*$")  # what stands behind a key or a tag
_DIGITS = re.compile(r"\d+")
_LEAST = 0.25  # of what an element could show; below this it was not recognised
_EQUAL = 0.05  # a unit that fits worse by less fits as well
_APART = 200  # characters between the beginnings of two elements in one line, on average
_STRETCH = 200  # elements of a list whose units are shared out together: bounds the work
_FLOWING = 38  # a line at least this long goes on in the next one


@dataclass(frozen=True, slots=True)
class Home:
    """Where an element of a list stands; `sure` is false when another unit fits as well."""

    start: int
    end: int
    sure: bool

    def __contains__(self, place: Place) -> bool:
        return self.start <= place.start < self.end


def homes_of(records: Mapping[str, Leaves], layout: Layout) -> dict[str, Home]:
    """For the elements of one list, by path, the unit of each that has one."""
    best: dict[str, Home] = {}
    most = 0.0
    possible = sum(_worth(field) for leaves in records.values() for field, places in leaves if places)
    for kind, worth in (*_KINDS.items(), *(dict.fromkeys(_refrains(layout, len(records)), _REFRAIN)).items()):
        if kind not in layout.units:
            layout.units[kind] = list(pairwise([*_starts(layout, kind), len(layout.text) + 1]))
        fits = {path: _fit(leaves, layout.units[kind]) for path, leaves in records.items()}
        found = _assigned({path: fit for path, (fit, _) in fits.items()})
        total = sum(fits[path][1][home.start, home.end] for path, home in found.items()) * worth
        if total > most + 1e-9:
            best, most = found, total
        if total >= possible - 1e-9:
            break  # no larger unit can show more
    if len(best) < len(records):
        return _stretches(records, layout) or best
    return best


def _starts(layout: Layout, kind: str) -> Iterator[int]:
    """Where the units of a kind begin: rows, rows with a line of figures below them, blocks between blank lines."""
    for number, line in enumerate(layout.lines):
        if kind == "block":
            begins = number == 0 or (bool(line.cells) and layout.lines[number - 1].kind == "blank")
        else:
            begins = not (number and (_goes_on(layout, number) or (kind == "pair" and _is_multiple(layout, number))))
        if begins:
            yield line.start


def _is_multiple(layout: Layout, number: int) -> bool:
    """Whether a line has figures only and the one above a name: "1 @ 2.49   2.49" under an item of a receipt."""
    line, above = layout.lines[number], layout.lines[number - 1]
    text = layout.text[line.start : line.end]
    figures = bool(line.cells) and not re.search(r"[^\W\d_]{3}", text) and any(map(str.isdigit, text))
    return figures and bool(above.cells) and above.cells[0].is_label


def _goes_on(layout: Layout, number: int) -> bool:
    """Whether a line is the rest of the row above: a wrapped cell, or a line of flowing prose."""
    line, above = layout.lines[number], layout.lines[number - 1]
    if above.kind != "text" or len(line.cells) != 1:
        return False
    cell = line.cells[0]
    if layout.tables[number] >= 0 and layout.tables[number] == layout.tables[number - 1]:
        return line.tabbed or cell.text[:1].islower() or cell.column > above.cells[0].column
    flows = len(above.cells) == 1 and above.end - above.start >= _FLOWING
    return flows and not cell.text.startswith(("-", "*", "•", "<", "{", "[")) and not re.match(r"\d\d?[.)]", cell.text)


def _refrains(layout: Layout, least: int) -> list[str]:
    """What the first lines of parts have in common that come back: a key, a tag, "Lot 41", a bracket.

    Of the lines of a part the first is taken: the earliest one among those that come back as often.
    """
    if not layout.refrains:
        lines: dict[str, list[int]] = defaultdict(list)
        for number, line in enumerate(layout.lines):
            if line.cells and len(line.cells) < 3:
                lines[_DIGITS.sub("#", _VALUE.sub("", layout.text[line.start : line.end]))[:60]].append(number)
        by_count: dict[int, str] = {1: ""}
        for skeleton, numbers in lines.items():
            if by_count.setdefault(len(numbers), skeleton) == skeleton:
                layout.units[skeleton] = list(_parts(layout, numbers))
        layout.refrains = {skeleton: count for count, skeleton in by_count.items()}
    return [skeleton for skeleton, count in layout.refrains.items() if count > 1 and least <= count <= 4 * least][:3]


def _parts(layout: Layout, firsts: list[int]) -> Iterator[Unit]:
    """From each of some lines to the next one; the last as far as it is indented, or as long as the longest before."""
    lines = layout.lines
    column = lines[firsts[0]].cells[0].column
    longest = max(two - one for one, two in pairwise(firsts))
    for first, last in pairwise([*firsts, min(len(lines), firsts[-1] + longest)]):
        until = first + 1
        while until < last and not (lines[until].cells and lines[until].cells[0].column < column):
            until += 1
        yield lines[first].start, lines[until - 1].end + 1


def _fit(leaves: Leaves, units: list[Unit]) -> tuple[dict[Unit, float], dict[Unit, float]]:
    """How well each unit fits an element, the rare values counting more; and how much of the element it shows."""
    fits: dict[Unit, float] = defaultdict(float)
    shown: dict[Unit, float] = defaultdict(float)
    total = 0.0
    for field, places in leaves:
        worth = _worth(field)
        total += worth
        inside = {unit for place in places if worth and (unit := _unit_at(units, place.start))}
        for unit in inside:
            fits[unit] += worth * (0.4 + 0.6 / len(inside))
            shown[unit] += worth
    return {unit: fit for unit, fit in fits.items() if fit >= _LEAST * total}, shown


def _unit_at(units: list[Unit], offset: int) -> Unit | None:
    at = bisect_right(units, (offset + 1,)) - 1
    return units[at] if at >= 0 and offset < units[at][1] else None


def _worth(field: Field) -> float:
    """What a value says about the unit of its element by standing there."""
    if field.value is None or isinstance(field.value, bool):
        return 0.0
    if isinstance(field.value, str):
        return 3.0 if field.is_telling else 0.8
    return 1.2 if field.is_telling else 0.7


def _assigned(fits: dict[str, dict[Unit, float]]) -> dict[str, Home]:
    """Each element its best unit, one element a unit; a long list is settled a stretch at a time."""
    homes: dict[str, Home] = {}
    taken: set[Unit] = set()
    paths = [path for path, fit in fits.items() if fit]
    for first in range(0, len(paths), _STRETCH):
        near = paths[first : first + _STRETCH]
        choices = sorted((-fit, rank, unit) for rank, path in enumerate(near) for unit, fit in fits[path].items())
        for score, rank, unit in choices:
            path, least = near[rank], -score - _EQUAL
            if path in homes or unit in taken:
                continue
            rivals = sum(fit >= least and other != unit and other not in taken for other, fit in fits[path].items())
            equals = sum(fits[p].get(unit, 0.0) >= least and p != path and p not in homes for p in near)
            homes[path] = Home(*unit, not rivals or rivals == equals)
            taken.add(unit)
    return homes


def _stretches(records: Mapping[str, Leaves], layout: Layout) -> dict[str, Home]:
    """Elements that share a line or a sentence: one field serves as the beginning of each."""
    best: dict[str, Home] = {}
    most = -0.5
    names = dict.fromkeys(field.name for leaves in records.values() for field, _ in leaves)
    for name in names if len(records) > 1 else ():
        begins = _together(
            {
                path: sorted({place.start for field, places in leaves if field.name == name for place in places})[:30]
                for path, leaves in records.items()
            }
        )
        if not begins:
            continue
        ordered = sorted(begins, key=begins.__getitem__)
        last = begins[ordered[-1]]
        paragraph = layout.text.find("\n\n", last)
        end = min(paragraph if paragraph >= 0 else len(layout.text), last + _APART)
        edges = pairwise([*(begins[path] for path in ordered), end])
        found = {path: Home(low, high, True) for path, (low, high) in zip(ordered, edges, strict=True)}
        shown = sum(_shown(leaves, found[path]) for path, leaves in records.items()) / len(records)
        if shown > most:
            best, most = found, shown
    return best


def _together(starts: Mapping[str, list[int]]) -> dict[str, int]:
    """A place for each, all different and close together: those nearest to some place of the first one."""
    best: dict[str, int] = {}
    widest = _APART * len(starts)
    if not all(starts.values()):
        return {}
    for pivot in next(iter(starts.values())):
        row = {path: min(places, key=lambda place: abs(place - pivot)) for path, places in starts.items()}
        width = max(row.values()) - min(row.values())
        if width < widest and len(set(row.values())) == len(row):
            best, widest = row, width
    return best


def _shown(leaves: Leaves, home: Home) -> int:
    """How many of an element's values stand in its stretch, less those that stand only elsewhere."""
    return sum(1 if any(place in home for place in places) else -1 for _, places in leaves if places)

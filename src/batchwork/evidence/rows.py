"""Which part of the text each element of a list speaks of: a row, a paragraph, a section, or a stretch of a line.

An element is recognised by its own values: the unit where most of them stand together, the rare ones counting more.
Two elements that fit the same units equally well keep their order where there are as many units as elements; otherwise
they cannot be told apart.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from batchwork.evidence.fields import Field
from batchwork.evidence.layout import Layout
from batchwork.evidence.readers import Place
from batchwork.evidence.words import concepts

Leaves = Sequence[tuple[Field, list[Place]]]
Unit = tuple[int, int]  # offsets, from and to
_KINDS = {"row": 1.0, "piece": 0.98, "pair": 0.97, "block": 0.9}  # the smaller, the surer
_REFRAIN = 0.95
_VALUE = re.compile(r"(?<=[:=>])\s*[^\s:{\[].*$")  # what stands behind a key or a tag
_OWN_SECTION = 3.0  # what a heading with the list's name over a unit counts: as much as a telling string
_MARK = re.compile(r"[;•▪]\s|\n")  # between two elements in one line
_DIGITS = re.compile(r"\d+")
_LEAST = 0.25  # of what an element could show; below this it was not recognised
_STRETCH = 200  # elements of a list whose units are shared out together


class Home(Struct, frozen=True, gc=False):
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
        units = layout.units.get(kind)
        if units is None:
            units = layout.units[kind] = list(_units(layout, kind))
        if not units:
            continue
        owner = _Owner(units)
        fits: dict[str, dict[Unit, float]] = {}
        shown: dict[str, dict[Unit, float]] = {}
        for path, leaves in records.items():
            fits[path], shown[path] = _fit(leaves, owner)
        own = _favour_own_section(fits, layout)
        found = _assigned(fits)
        total = sum(shown[path][home.start, home.end] for path, home in found.items()) * worth
        favoured = total + _OWN_SECTION * sum((home.start, home.end) in own for home in found.values())
        if favoured > most + 1e-9:
            best, most = found, favoured
        if total >= possible - 1e-9:
            break  # no larger unit can show more
    return best


class _Owner:
    """Which unit an offset lies in."""

    def __init__(self, units: list[Unit]) -> None:
        self._units = units
        self._starts = [unit[0] for unit in units]

    def at(self, offset: int) -> Unit | None:
        place = bisect_right(self._starts, offset) - 1
        return self._units[place] if place >= 0 and offset < self._units[place][1] else None


def _units(layout: Layout, kind: str) -> Iterator[Unit]:
    lines = layout.lines
    if kind == "piece":
        yield from pairwise([0, *(mark.end() for mark in _MARK.finditer(layout.text)), len(layout.text)])
        return
    starts = _starts(layout, kind)
    if not starts:
        return
    ends = [*starts[1:], len(lines)]
    for first, last in zip(starts, ends, strict=True):
        yield lines[first].start, lines[last - 1].end + 1


def _refrains(layout: Layout, least: int) -> list[str]:
    """What the first lines of parts have in common that come back: a key, a tag, "Lot 41", a bracket.

    Of the lines of a part the first is taken: the earliest one among those that come back as often.
    """
    if "refrains" not in layout.units:
        lines: dict[str, list[int]] = defaultdict(list)
        for number, line in enumerate(layout.lines):
            if line.cells and len(line.cells) < 3:
                lines[_DIGITS.sub("#", _VALUE.sub("", layout.text[line.start : line.end]))[:60]].append(number)
        by_count: dict[int, str] = {}
        for skeleton, numbers in lines.items():
            if len(numbers) > 1:
                by_count.setdefault(len(numbers), skeleton)
        layout.units["refrains"] = []
        for skeleton in by_count.values():
            layout.units[skeleton] = list(_parts(layout, lines[skeleton]))
        layout.refrains = {skeleton: count for count, skeleton in by_count.items()}
    return [skeleton for skeleton, count in layout.refrains.items() if least <= count <= 4 * least][:3]


def _parts(layout: Layout, firsts: list[int]) -> Iterator[Unit]:
    """From each of some lines to the next one; the last as far as it is indented, or as long as the longest before."""
    lines = layout.lines
    column = lines[firsts[0]].cells[0].column
    longest = max(two - one for one, two in pairwise(firsts))
    for first, last in zip(firsts, [*firsts[1:], min(len(lines), firsts[-1] + longest)], strict=True):
        until = first + 1
        while until < last and not (lines[until].cells and lines[until].cells[0].column < column):
            until += 1
        yield lines[first].start, lines[until - 1].end + 1


def _starts(layout: Layout, kind: str) -> list[int]:
    """The lines with which the units of a kind begin."""
    lines = layout.lines
    if kind == "block":
        return [n for n in range(len(lines)) if n == 0 or (lines[n].cells and lines[n - 1].kind == "blank")]
    return [n for n in range(len(lines)) if not (kind == "pair" and n and _is_multiple(layout, n))]


def _is_multiple(layout: Layout, number: int) -> bool:
    """Whether a line has figures only and the one above a name: "1 @ 2.49   2.49" under an item of a receipt."""
    line, above = layout.lines[number], layout.lines[number - 1]
    text = layout.text[line.start : line.end]
    words = re.findall(r"[^\W\d_]{3,}", text)
    return (
        bool(line.cells) and not words and any(map(str.isdigit, text)) and bool(above.cells) and above.cells[0].is_label
    )


def _fit(leaves: Leaves, owner: _Owner) -> tuple[dict[Unit, float], dict[Unit, float]]:
    """How well each unit fits an element, the rare values counting more; and how much of the element it shows."""
    fits: dict[Unit, float] = defaultdict(float)
    shown: dict[Unit, float] = defaultdict(float)
    total = 0.0
    for field, places in leaves:
        if field.value is None or isinstance(field.value, bool):
            continue
        worth = _worth(field)
        total += worth
        inside = {unit for place in places if (unit := owner.at(place.start))}
        for unit in inside:
            fits[unit] += worth * (0.4 + 0.6 / len(inside))
            shown[unit] += worth
    return {unit: fit for unit, fit in fits.items() if fit >= _LEAST * total}, shown


def _worth(field: Field) -> float:
    """What a value says about the unit of its element by standing there."""
    if field.value is None or isinstance(field.value, bool):
        return 0.0
    if isinstance(field.value, str):
        return 3.0 if field.is_telling else 0.8
    return 1.2 if field.is_telling else 0.7


def _favour_own_section(fits: Mapping[str, dict[Unit, float]], layout: Layout) -> set[Unit]:
    """The units under a heading that bears the list's name, which count more than those under another heading."""
    names = {name for path in fits for name in concepts(re.sub(r".*\.", "", path[: path.rindex("[")]))}
    own: set[Unit] = set()
    for fit in fits.values():
        for unit in fit:
            first = layout.line_of(unit[0])
            headings = (*layout.headings[first], first) if layout.opens(first) else layout.headings[first]
            if any(names.intersection(concepts(layout.lines[number].cells[0].text)) for number in headings):
                fit[unit] += _OWN_SECTION
                own.add(unit)
    return own


def _assigned(fits: dict[str, dict[Unit, float]]) -> dict[str, Home]:
    """Each element its best unit, one element a unit; a long list is settled a stretch at a time."""
    homes: dict[str, Home] = {}
    taken: set[Unit] = set()
    paths = [path for path, fit in fits.items() if fit]
    for first in range(0, len(paths), _STRETCH):
        open_paths = paths[first : first + _STRETCH]
        choices = sorted(
            ((-fit, rank, unit) for rank, path in enumerate(open_paths) for unit, fit in fits[path].items()),
        )
        done: set[int] = set()
        for score, rank, unit in choices:
            if rank in done or unit in taken:
                continue
            path = open_paths[rank]
            rivals = [u for u, fit in fits[path].items() if u != unit and u not in taken and fit >= -score - 0.05]
            equals = [
                p
                for r, p in enumerate(open_paths)
                if r != rank and r not in done and fits[p].get(unit, 0.0) >= -score - 0.05
            ]
            homes[path] = Home(*unit, not rivals or (bool(equals) and len(equals) == len(rivals)))
            taken.add(unit)
            done.add(rank)
    return homes

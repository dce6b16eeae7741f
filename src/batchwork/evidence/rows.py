"""Which part of the text each element of a list speaks of: a row, a paragraph, a section, or a stretch of a line.

An element is recognised by its own values: the unit where most of them stand together, the rare ones counting more.
Two elements that fit the same units equally well keep their order where there are as many units as elements; otherwise
they cannot be told apart.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from operator import itemgetter

from msgspec import Struct

from batchwork.evidence.fields import Field
from batchwork.evidence.layout import Layout
from batchwork.evidence.readers import Place
from batchwork.evidence.words import PATTERNS, concepts

Leaves = Sequence[tuple[Field, list[Place]]]
Unit = tuple[int, int]  # offsets, from and to
_ROW, _PIECE, _REFRAIN, _BLOCK = 1.0, 0.98, 0.95, 0.9  # what a kind of units is worth: the smaller, the surer
_FORMS = {name: re.compile(pattern) for name, pattern in PATTERNS["rows"].items()}
_OWN_SECTION = 3.0  # what a heading with the list's name over a unit counts: as much as a telling string
_HOUSED = 0.2  # what it counts that an element has a unit of its own
_MARK = re.compile(r"[;•▪]\s|\n")  # between two elements in one line
_START = itemgetter(0)
_LEAST = 0.25  # of what an element could show; below this it was not recognised
_STRETCH = 200  # elements of a list whose units are shared out together


class Home(Struct, frozen=True, gc=False):
    """Where an element of a list stands; `sure` is false when another unit fits as well."""

    start: int
    end: int
    sure: bool

    def __contains__(self, place: Place) -> bool:
        return self.start <= place.start < self.end


def homes_of(records: Mapping[str, Leaves], units: "Units") -> dict[str, Home]:
    """For the elements of one list, by path, the unit of each that has one."""
    best: dict[str, Home] = {}
    most = 0.0
    possible = sum(_worth(field) for leaves in records.values() for field, places in leaves if places)
    for worth, parts in units.of(len(records)):
        fits: dict[str, dict[Unit, float]] = {}
        shown: dict[str, dict[Unit, float]] = {}
        for path, leaves in records.items():
            fits[path], shown[path] = _fit(leaves, parts)
        own = _favour_own_section(fits, units.layout)
        found = _assigned(fits)
        total = sum(shown[path][home.start, home.end] for path, home in found.items()) * worth
        favoured = total + sum(_HOUSED + _OWN_SECTION * ((home.start, home.end) in own) for home in found.values())
        if favoured > most + 1e-9:
            best, most = found, favoured
        if total >= possible - 1e-9:
            break  # no larger unit can show more
    return best


class Units:
    """The parts of a text in which elements of a list may stand."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout

    def of(self, count: int) -> Iterator[tuple[float, list[Unit]]]:
        """The kinds of units for a list of so many elements, each with what it is worth."""
        yield _ROW, self._parts(range(len(self.layout.lines)))
        text = self.layout.text
        yield _PIECE, list(pairwise([0, *(mark.end() for mark in _MARK.finditer(text)), len(text)]))
        yield _BLOCK, self._blocks
        for firsts in [firsts for firsts in self._refrains if count <= len(firsts) <= 4 * count][:3]:
            yield _REFRAIN, self._parts(firsts)

    def _parts(self, firsts: Sequence[int]) -> list[Unit]:
        """From each of some lines to the next one."""
        lines = self.layout.lines
        ends = [*firsts[1:], len(lines)]
        return [(lines[first].start, lines[last - 1].end + 1) for first, last in zip(firsts, ends, strict=True)]

    @cached_property
    def _blocks(self) -> list[Unit]:
        lines = self.layout.lines
        firsts = (n for n, line in enumerate(lines) if n == 0 or (line.cells and lines[n - 1].kind == "blank"))
        return self._parts(list(firsts))

    @cached_property
    def _refrains(self) -> list[list[int]]:
        """The first lines of parts, by what they have in common: a key, a tag, "Lot 41", a bracket.

        Of the lines of a part the first is taken: the earliest one among those that come back as often.
        """
        alike: dict[str, list[int]] = defaultdict(list)
        for number, line in enumerate(self.layout.lines):
            if line.cells and len(line.cells) < 3:
                said = _FORMS["value"].sub("", self.layout.text[line.start : line.end])
                alike[_FORMS["digits"].sub("#", said)[:60]].append(number)
        by_count: dict[int, list[int]] = {}
        for numbers in alike.values():
            by_count.setdefault(len(numbers), numbers)
        return [numbers for count, numbers in by_count.items() if count > 1]


def _fit(leaves: Leaves, units: list[Unit]) -> tuple[dict[Unit, float], dict[Unit, float]]:
    """How well each unit fits an element, the rare values counting more; and how much of the element it shows."""
    fits: dict[Unit, float] = defaultdict(float)
    shown: dict[Unit, float] = defaultdict(float)
    total = 0.0
    for field, places in leaves:
        if field.value is None or isinstance(field.value, bool):
            continue
        worth = _worth(field)
        total += worth
        inside = {units[at] for place in places if (at := bisect_right(units, place.start, key=_START) - 1) >= 0}
        for unit in inside:
            fits[unit] += worth * (0.4 + 0.6 / len(inside))
            shown[unit] += worth
    return {unit: fit for unit, fit in fits.items() if fit >= _LEAST * total}, shown


def _worth(field: Field) -> float:
    """What a value says about the unit of its element by standing there."""
    return 3.0 if field.is_telling else 0.8


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
        choices = sorted((-fit, rank, unit) for rank, p in enumerate(open_paths) for unit, fit in fits[p].items())
        done: set[int] = set()
        for score, rank, unit in choices:
            if rank in done or unit in taken:
                continue
            path = open_paths[rank]
            rivals = [u for u, fit in fits[path].items() if u != unit and u not in taken and fit >= -score - 0.05]
            others = (p for r, p in enumerate(open_paths) if r != rank and r not in done)
            equals = [p for p in others if fits[p].get(unit, 0.0) >= -score - 0.05]
            homes[path] = Home(*unit, not rivals or (bool(equals) and len(equals) == len(rivals)))
            taken.add(unit)
            done.add(rank)
    return homes

"""Which part of the text each element of a list speaks of: a row, a paragraph or a section.

An element is recognised by its own values: the place where most of them stand together, the rare ones counting more.
Never by its rank in the list. Two elements that fit the same two places equally well are told to be ambiguous.
"""

import re
from collections import defaultdict
from dataclasses import dataclass

from batchwork.evidence.fields import Field
from batchwork.evidence.lists.bands import Band, bands_of
from batchwork.evidence.lists.multiples import side_of_item
from batchwork.evidence.page.layout import Layout
from batchwork.evidence.source import Candidate
from batchwork.evidence.vocabulary.words import concepts

Unit = tuple[int, ...]  # lines, from and to (exclusive); for a column of a table also where that begins and ends
_BULLETS = ("-", "*", "•", "<", "{", "[")
_TEXT, _FIGURE = 3.0, 1.2  # what a value says about the place by standing there
_OWN_SECTION = 1.5
# The smaller the place, the surer it is.
_KINDS = {"row": 1.0, "block": 0.9, "section": 0.8, "part": 0.8, "column": 0.8}
_ENTRY, _ENTRY_WORTH, _DEEPEST = "entry ", 0.95, 4  # elements in a dump, by their indentation
_NUMBERED = "numbered"
_COLUMN, _SIDE_BY_SIDE = "column", 2
_LEAST = 0.25  # of what an element could show; below this it was not recognised


@dataclass(frozen=True, slots=True)
class Home:
    """Where an element of a list lives; `sure` is false when another place fits as well."""

    lines: tuple[int, int]
    sure: bool
    kind: str  # row, block, section, part, entry, numbered, clause, column
    stretch: tuple[int, int] | None = None  # the characters that count, where several elements share the lines
    band: Band | None = None  # the column of a table, where elements stand side by side


_STRETCH = 200  # elements of a list whose places are shared out together


def homes_of(records: dict[str, list[tuple[Field, list[Candidate]]]], layout: Layout) -> dict[str, Home]:
    """For the elements of one list, by path, the place of each that has one."""
    best: dict[str, Home] = {}
    most = 0.0
    values = {path: [_value(field, candidates) for field, candidates in leaves] for path, leaves in records.items()}
    entries = {f"{_ENTRY}{column}": _ENTRY_WORTH for column in sorted(set(layout.entries.values()))[:_DEEPEST]}
    if layout.numbered_keys:
        entries[_NUMBERED] = _ENTRY_WORTH
    for kind, worth in {**_KINDS, **entries}.items():
        places = _places(values, layout, kind)
        if places is None:
            continue
        fits = {path: _fits(leaves) for path, leaves in places.items()}
        _favour_own_section(fits, layout)
        found = _assigned({path: fit for path, (fit, _) in fits.items()}, kind)
        shown = sum(fits[path][1][home.band or home.lines] for path, home in found.items()) * worth
        if shown > most + 1e-9:
            best, most = found, shown
    return best


def _favour_own_section(fits: dict[str, tuple[dict[Unit, float], dict[Unit, float]]], layout: Layout) -> None:
    """A place under a heading that bears the list's name counts more than one under another heading."""
    names = {name for path in fits for name in concepts(re.sub(r".*\.", "", path[: path.rindex("[")]))}
    own: dict[tuple[int, ...], bool] = {}
    for fit, shown in fits.values():
        for unit in fit:
            headings = layout.headings[unit[1] - 1]
            if headings not in own:
                own[headings] = any(names.intersection(concepts(layout.lines[n].cells[0].text)) for n in headings)
            if own[headings]:
                fit[unit] += _OWN_SECTION
                shown[unit] += _OWN_SECTION


def _units(layout: Layout, kind: str) -> list[Unit]:
    """Every line belongs to one unit of each kind."""
    units: list[Unit] = []
    start = 0
    for number in range(1, len(layout.lines) + 1):
        if number == len(layout.lines) or _starts_unit(layout, number, kind):
            units.append((start, number))
            start = number
    return units


def _starts_unit(layout: Layout, number: int, kind: str) -> bool:
    line, above = layout.lines[number], layout.lines[number - 1]
    if kind.startswith(_ENTRY):
        return bool(line.cells) and line.cells[0].column <= int(kind[len(_ENTRY) :])
    if kind == _NUMBERED:
        return layout.numbered_keys.get(number) != layout.numbered_keys.get(number - 1)
    if line.kind != "text":
        return kind == "row" or (kind == "block" and above.kind == "text")
    if kind == "block":
        return above.kind == "blank"
    if kind == "section":
        return number in layout.section_starts
    if kind == "part":
        return number in layout.part_starts
    side = side_of_item(layout, number)
    if side < 0 or side_of_item(layout, number - 1) > 0:
        return False
    if above.kind != "text" or len(line.cells) > 1 or side:
        return not _is_rest_of_row(layout, number)
    if layout.tables[number] >= 0 and layout.tables[number] == layout.tables[number - 1]:
        return False  # the rest of a wrapped cell
    text = line.cells[0].text
    flows = len(above.cells) == 1 and above.end - above.start >= 38 and not text.startswith(_BULLETS)
    return not flows or text[:2].rstrip(".)").isdigit()


def _is_rest_of_row(layout: Layout, number: int) -> bool:
    """Two or more wrapped cells: words only, in a table whose rows carry figures, with the row's first cell missing."""
    line, above = layout.lines[number], layout.lines[number - 1]
    if layout.tables[number] < 0 or above.kind != "text" or len(above.cells) < 3 or len(line.cells) >= len(above.cells):
        return False
    return all(cell.is_label and cell.text[:1].islower() for cell in line.cells)


def _value(field: Field, candidates: list[Candidate]) -> tuple[float, set[int]]:
    """What a value says about the place of its element, and where it stands."""
    if candidates:
        return _worth(candidates[0]), {candidate.start for candidate in candidates}
    if field.value is None or isinstance(field.value, bool):
        return 0.0, set()
    return _TEXT if isinstance(field.value, str) else _FIGURE, set()


def _places(
    values: dict[str, list[tuple[float, set[int]]]], layout: Layout, kind: str
) -> dict[str, list[tuple[float, set[Unit]]]] | None:
    """For every value what it says and the places of one kind it stands in; None when the text has none of them."""
    if kind == _COLUMN:
        return _in_columns(values, layout)
    owner = layout.units.get(kind)
    if owner is None:
        owner = {line: unit for unit in _units(layout, kind) for line in range(*unit)}
        layout.units[kind] = owner
    return {
        path: [(worth, {owner[layout.line_of(start)] for start in starts}) for worth, starts in leaves]
        for path, leaves in values.items()
    }


def _in_columns(
    values: dict[str, list[tuple[float, set[int]]]], layout: Layout
) -> dict[str, list[tuple[float, set[Unit]]]] | None:
    """Elements side by side: only where each of several shows more than one value in a column."""
    if len(values) < _SIDE_BY_SIDE:
        return None
    bands = bands_of(layout)
    found: dict[str, list[tuple[float, set[Unit]]]] = {}
    for path, leaves in values.items():
        found[path] = [(worth, {band for start in starts if (band := bands.at(start))}) for worth, starts in leaves]
        if sum(1 for _, units in found[path] if units) < _SIDE_BY_SIDE:
            return None
    return found


def _fits(values: list[tuple[float, set[Unit]]]) -> tuple[dict[Unit, float], dict[Unit, float]]:
    """How well each place fits an element, the rare values counting more; and how much of the element it shows."""
    fits: dict[Unit, float] = defaultdict(float)
    shown: dict[Unit, float] = defaultdict(float)
    for worth, inside in values:
        for unit in inside:
            fits[unit] += worth * (0.4 + 0.6 / len(inside))
            shown[unit] += worth
    least = _LEAST * sum(worth for worth, _ in values)
    return {unit: fit for unit, fit in fits.items() if fit >= least}, shown


def _worth(candidate: Candidate) -> float:
    if candidate.kind in ("text", "id"):
        return _TEXT if candidate.distinctive else 0.8
    return _FIGURE if candidate.distinctive or candidate.kind == "date" else 0.7


def _assigned(fits: dict[str, dict[Unit, float]], kind: str) -> dict[str, Home]:
    """Each element its best place, one element a place; what is left between equals is not sure.

    A long list is settled a stretch at a time, so that the work grows with its length and not with its square.
    """
    homes: dict[str, Home] = {}
    taken: set[Unit] = set()
    paths = [path for path, fit in fits.items() if fit]
    for first in range(0, len(paths), _STRETCH):
        _assign({path: fits[path] for path in paths[first : first + _STRETCH]}, kind, homes, taken)
    return homes


def _assign(fits: dict[str, dict[Unit, float]], kind: str, homes: dict[str, Home], taken: set[Unit]) -> None:
    ranked = {path: _Ranked(fit, taken) for path, fit in fits.items()}
    doubtful: set[str] = set()
    while ranked:
        choices = [(*best, path) for path, rank in ranked.items() if (best := rank.best()) is not None]
        if not choices:
            break
        clear = [choice for choice in choices if choice[0] > 0.05]
        if clear:
            _, _, unit, path = max(clear, key=lambda choice: (choice[1], choice[0]))
            homes[path] = _home(unit, path not in doubtful, kind)
        else:
            doubtful.update(choice[3] for choice in choices)  # whoever is left later was equal now
            _, fit, _, path = min(choices, key=lambda choice: choice[3])
            unit = min(unit for unit, other in fits[path].items() if unit not in taken and other >= fit - 0.05)
            homes[path] = _home(unit, False, kind)
        taken.add(unit)
        del ranked[path]


class _Ranked:
    """The places of one element, best first, without those that are taken meanwhile."""

    def __init__(self, fit: dict[Unit, float], taken: set[Unit]) -> None:
        self._order = sorted(((fit, unit) for unit, fit in fit.items() if unit not in taken))  # the best is the last
        self._taken = taken

    def best(self) -> tuple[float, float, Unit] | None:
        """By how much the best place that is free leads, its fit, and the place."""
        order = self._order
        while order and order[-1][1] in self._taken:
            order.pop()
        if not order:
            return None
        while len(order) > 1 and order[-2][1] in self._taken:
            del order[-2]
        fit, unit = order[-1]
        return fit - (order[-2][0] if len(order) > 1 else 0.0), fit, unit


def _home(unit: Unit, sure: bool, kind: str) -> Home:
    first, end, *column = unit
    return Home((first, end), sure, kind, band=(first, end, column[0], column[1]) if column else None)

"""Decide which numbers the cells of a column are: with marks (5%, $0.5), decimal commas, thousands, and stray words.

A column is read in one way. Where a comma could be either a decimal point or one between thousands, nothing is guessed.
"""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from batchwork.frame.samples import MISSING_WORDS

_MARK = re.compile(r"^([+-]?)\s*([%$€£¥])\s*(?=[\d.,+-])|(?<=[\d.,])\s*([%$€£¥])$")
_COMMA = re.compile(r"[+-]?\d+(,\d+)?$")
_POINTS_AND_COMMA = re.compile(r"[+-]?\d{1,3}(\.\d{3})*(,\d+)?$")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?$")
_FEWEST = 3  # numbers beside a stray word
_STRAY = 0.1  # the share of the cells that may be none


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """The numbers of a column (None: missing), the mark that all bear, and the places of cells that are no numbers."""

    numbers: list[Any]
    unit: str | None = None
    strays: tuple[int, ...] = ()


def numbers_of(texts: list[str], *, decimal_commas: bool) -> Cells | None:
    """The numbers that a column holds; None if it is no column of numbers."""
    cells = ["" if text.strip().lower() in MISSING_WORDS else text.strip() for text in texts]
    bare, unit = _without_mark(cells)
    plain = _with_points(bare, decimal_commas=decimal_commas)
    numbers = [_number(cell) for cell in plain]
    strays = tuple(place for place, cell in enumerate(plain) if cell and numbers[place] is None)
    good = sum(number is not None for number in numbers)
    if strays and (good < _FEWEST or len(strays) > _STRAY * (good + len(strays)) + 1 or _repeats(plain, strays)):
        return None
    if good == 0 and any(cells):
        return None
    return Cells(numbers=numbers, unit=unit, strays=strays)


def hint_about(texts: list[str]) -> str | None:
    """What to do about cells that are numbers with a comma that has two readings."""
    cells = [text.strip() for text in texts if text.strip().lower() not in MISSING_WORDS]
    with_commas = [cell for cell in cells if _THOUSANDS.match(cell)]
    if not with_commas or not all(_THOUSANDS.match(cell) or _number(cell) is not None for cell in cells):
        return None
    whole, point = (with_commas[0].replace(",", sign) for sign in ("", "."))
    return f"{with_commas[0]!r} may be {whole} or {point}: write it without the comma"


def _repeats(plain: list[str], strays: tuple[int, ...]) -> bool:
    """Whether the numbers are a few codes among others that are words."""
    kinds = Counter(cell for cell in plain if cell)
    return len(strays) > 1 and len(kinds) <= max(2, len(plain) // 10)


def _without_mark(cells: list[str]) -> tuple[list[str], str | None]:
    """The cells without the per cent or currency sign that all of them bear."""
    found = [_MARK.search(cell) for cell in cells]
    marks = {mark[2] or mark[3] for mark in found if mark is not None}
    if len(marks) != 1 or any(
        cell and mark is None and _number(cell) is not None for cell, mark in zip(cells, found, strict=True)
    ):
        return cells, None
    return [_MARK.sub(r"\1", cell).strip() for cell in cells], marks.pop()


def _with_points(cells: list[str], *, decimal_commas: bool) -> list[str]:
    """The cells with a decimal point and nothing between thousands."""
    commas = [cell for cell in cells if "," in cell]
    if not commas:
        return cells
    if all(map(_COMMA.match, commas)) and (decimal_commas or not all(map(_THOUSANDS.match, commas))):
        if not any("." in cell and _number(cell) is not None for cell in cells):
            return [cell.replace(",", ".") for cell in cells]
        return cells
    dotted = [cell for cell in cells if "." in cell]
    if dotted and all(map(_POINTS_AND_COMMA.match, commas)) and all(map(_POINTS_AND_COMMA.match, dotted)):
        return [cell.replace(".", "").replace(",", ".") for cell in cells]
    if all(map(_THOUSANDS.match, commas)) and any("." in cell or cell.count(",") > 1 for cell in commas):
        return [cell.replace(",", "") for cell in cells]
    return cells


def is_number(text: str) -> bool:
    """Whether a text is a number as Python writes them."""
    return _number(text.strip()) is not None


def _number(cell: str) -> int | float | None:
    if "_" in cell or not cell:
        return None
    try:
        return int(cell) if cell.lstrip("+-").isdecimal() else float(cell)
    except ValueError:
        return None

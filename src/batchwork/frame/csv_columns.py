"""Decide what a CSV file holds: its columns by name, as numbers where they are, and as text where not."""

import csv
import itertools
from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batchwork.frame.cells import hint_about, is_number, numbers_of
from batchwork.frame.samples import FrameError
from batchwork.frame.timestamps import doubt_about, timestamps_of


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvFile:
    """The columns of a file by name, with the units that numbers bear, words about them, and why others are none."""

    columns: dict[str, list[Any]]
    units: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)


def read_csv(path: str | Path, encoding: str | None = None) -> CsvFile:
    """The columns of a CSV file, UTF-8 unless an encoding is named; a first line of numbers is data, not names.

    Row numbers under no name, as pandas writes its index, are no column. Lines count from 1, as an editor counts them.
    """
    rows, lines, delimiter = _rows(path, encoding)
    names = [name.strip() for name in rows[0]]
    bare = all(is_number(name) for name in names)
    body, lines = (rows, lines) if bare else (rows[1:], lines[1:])
    if not body:
        raise FrameError(f"{path} has a header ({', '.join(names)[:200]}) and no rows below it")
    for line, row in zip(lines, body, strict=True):
        if len(row) > len(names):
            raise FrameError(f"{path} line {line} has {len(row)} fields, the first line {len(names)}")
    found = CsvFile(columns={})
    for index, name in enumerate(names):
        texts = [row[index] if index < len(row) else "" for row in body]
        label = _unique(f"column {index}" if bare or not name else name, found.columns)
        _add(found, label, texts, lines, decimal_commas=delimiter == ";")
        if index == 0 and not name and len(names) > 1 and found.columns[label] == list(range(len(body))):
            del found.columns[label]
    return found


def _rows(path: str | Path, encoding: str | None) -> tuple[list[list[str]], list[int], str]:
    """The rows that hold something, the line at which each ends, and what parts their fields."""
    rows, lines = [], []
    try:
        with Path(path).open(newline="", encoding=encoding or "utf-8-sig") as handle:
            start = handle.read(4096)
            handle.seek(0)
            delimiter = _delimiter(start)
            reader = csv.reader(handle, delimiter=delimiter)
            for row in reader:
                if row:
                    rows.append(row)
                    lines.append(reader.line_num)
    except LookupError as error:
        raise FrameError(
            f"there is no encoding {encoding!r}; known are, for example, cp1252, latin-1, utf-16"
        ) from error
    except UnicodeError as error:
        remedy = "name its encoding, for example encoding='cp1252'" if encoding is None else "name another encoding"
        raise FrameError(f"{path} is not {encoding or 'UTF-8'} text: {remedy}, or save it as UTF-8") from error
    except csv.Error as error:
        raise FrameError(f"{path} is no CSV file: {error}") from error
    if not rows:
        raise FrameError(f"{path} is empty")
    return rows, lines, delimiter


def _add(found: CsvFile, name: str, texts: list[str], lines: list[int], *, decimal_commas: bool) -> None:
    """Put a column among the others: numbers, or the texts with the reason why they are none."""
    cells = None if doubt_about(texts, name) else numbers_of(texts, decimal_commas=decimal_commas)
    if cells is None:
        found.columns[name] = texts
        if timestamps_of(texts, name) is None:
            found.reasons[name] = _reason(texts, lines)
        return
    found.columns[name] = cells.numbers
    if cells.unit is not None:
        found.units[name] = cells.unit
    if cells.strays:
        first = cells.strays[0]
        cell = texts[first].strip()[:30]
        many = "1 cell is" if len(cells.strays) == 1 else f"{len(cells.strays)} cells are"
        found.notes[name] = f"{many} no number and taken as missing (first {cell!r} in line {lines[first]})"


def _reason(texts: list[str], lines: list[int]) -> str:
    """Why a column is none of numbers, with the first cell that is not."""
    hint = hint_about(texts)
    if hint is not None:
        return hint
    odd = (place for place, text in enumerate(texts) if text.strip() and not is_number(text))
    first = next(odd, 0)
    return f"line {lines[first]} is the text {texts[first].strip()[:40]!r}, not a number"


def _delimiter(start: str) -> str:
    return max(",;\t", key=start.partition("\n")[0].count)


def _unique(name: str, taken: Container[str]) -> str:
    """The name, with a number behind it if an earlier column has it."""
    names = itertools.chain([name], (f"{name} ({count})" for count in itertools.count(2)))
    return next(free for free in names if free not in taken)

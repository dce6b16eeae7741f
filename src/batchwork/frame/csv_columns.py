"""Decide what a CSV file holds: its columns by name, as numbers where all of one are, and as text where not."""

import csv
import itertools
import re
from collections.abc import Container
from pathlib import Path
from typing import Any

from batchwork.frame.samples import MISSING_WORDS, FrameError

_DECIMAL_COMMA = re.compile(r"^(\s*[+-]?\d+),(\d+\s*)$")  # in a file whose columns are not parted by commas


def read_columns(path: str | Path) -> dict[str, list[Any]]:
    """The columns of a CSV file; a first line that is all numbers is data, not names.

    Row numbers under no name, as pandas writes its index, are no column.
    """
    with Path(path).open(newline="", encoding="utf-8-sig") as handle:
        start = handle.read(4096)
        handle.seek(0)
        delimiter = _delimiter(start)
        rows = [row for row in csv.reader(handle, delimiter=delimiter) if row]
    if not rows:
        raise FrameError(f"{path} is empty")
    names = [name.strip() for name in rows[0]]
    bare = all(_is_number(name) for name in names)
    body = rows if bare else rows[1:]
    if not body:
        raise FrameError(f"{path} has a header ({', '.join(names)[:200]}) and no rows below it")
    for number, row in enumerate(body, start=1 if bare else 2):
        if len(row) > len(names):
            raise FrameError(f"{path} row {number} has {len(row)} fields, the header {len(names)}")
    columns: dict[str, list[Any]] = {}
    for index, name in enumerate(names):
        texts = [row[index] if index < len(row) else "" for row in body]
        column = (
            _numbers(texts if delimiter == "," else [_DECIMAL_COMMA.sub(r"\1.\2", text) for text in texts]) or texts
        )
        is_index = index == 0 and not name and len(names) > 1 and column == list(range(len(body)))
        if not is_index:
            columns[_unique(f"column {index}" if bare or not name else name, columns)] = column
    return columns


def _delimiter(start: str) -> str:
    first = start.partition("\n")[0]
    return max(",;\t", key=first.count)


def _unique(name: str, taken: Container[str]) -> str:
    """The name, with a number behind it if an earlier column has it."""
    names = itertools.chain([name], (f"{name} ({count})" for count in itertools.count(2)))
    return next(free for free in names if free not in taken)


def _numbers(texts: list[str]) -> list[Any] | None:
    """The numbers that the texts are, None for missing ones; None if one is no number."""
    numbers: list[Any] = []
    for text in texts:
        if text.strip().lower() in MISSING_WORDS:
            numbers.append(None)
        elif _is_number(text):
            numbers.append(int(text) if text.strip().lstrip("+-").isdecimal() else float(text))
        else:
            return None
    return numbers


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text

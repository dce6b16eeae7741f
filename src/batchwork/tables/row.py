"""One row of an input table: what it says, where it stood, and why it cannot be used if it cannot."""

from typing import Any

import msgspec

_LONGEST_RAW = 1_000


class Row(msgspec.Struct, frozen=True, gc=False):
    """One input row.

    A struct and not a dataclass because a million of them are made while a run is resumed: this one costs a tenth.
    """

    number: int
    """From 1: the line of a JSONL file, the first line of a CSV record (the header is line 1), the row in Parquet."""
    columns: dict[str, Any]
    """Column name to JSON value; empty when the row cannot be used."""
    problem: str | None = None
    """Why the row cannot be used, with its line number; None for a good row."""
    raw: str | None = None
    """The beginning of the text of a row that cannot be used."""


def bad_row(number: int, problem: str, raw: bytes | str) -> Row:
    """The row that stands for a line nobody can read, so that it fails alone and is still counted."""
    if isinstance(raw, bytes):
        raw = raw[: 4 * _LONGEST_RAW].decode("utf-8", "replace")
    else:
        raw = raw[:_LONGEST_RAW].encode("utf-8", "replace").decode("utf-8")
    return Row(number, {}, problem, raw[:_LONGEST_RAW].rstrip("\r\n"))

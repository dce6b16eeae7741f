"""What a value of a foreign table is as JSON, the same whatever library it comes from.

Dates and times become ISO text, decimals and other exact things text, bytes their UTF-8 text or else base64; what a
library calls missing (NaN, NaT, NA, null) is None, sets are lists in order, and numpy's numbers plain ones.
"""

import math
from base64 import b64encode
from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal
from typing import Any

from batchwork.tables.cells import cell_text
from batchwork.tables.table import TableRow, bad_row

_ALREADY_JSON = frozenset({bool, int, str, type(None)})
_MISSING = frozenset({"NAType", "NaTType"})  # pandas; by name, because nothing here imports it
# What a foreign object can raise while it is looked at
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
_MOMENTS = frozenset({"datetime64", "timedelta64"})  # numpy's own would become whole numbers


def plain_row(number: int, names: Iterable[object], values: Iterable[Any]) -> TableRow:
    """One row of a foreign table; a value that cannot be read is that row's problem."""
    try:
        columns = {str(name): plain(value) for name, value in zip(names, values, strict=True)}
    except _UNREADABLE as error:
        return bad_row(number, f"a value cannot be read: {type(error).__name__}: {error}", "")
    return TableRow(number, columns)


def plain(value: Any) -> Any:
    """The value as JSON knows it."""
    kind = type(value)
    if kind in _ALREADY_JSON:
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        return None if math.isnan(value) else str(float(value))
    if isinstance(value, str):  # an enum that is text, for one
        return str.__str__(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if kind in (list, tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):  # a set has no order of its own, and an item must be found again
        return sorted(map(plain, value), key=cell_text)
    if isinstance(value, bytes | bytearray | memoryview):
        return _bytes_text(bytes(value))
    return _foreign(value, kind.__name__)


def _foreign(value: Any, kind: str) -> Any:
    if kind in _MISSING:
        return None
    if isinstance(value, Decimal):
        return None if value.is_nan() else str(value)
    if isinstance(value, timedelta):  # one of pandas would read otherwise
        return str(timedelta(days=value.days, seconds=value.seconds, microseconds=value.microseconds))
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if kind in _MOMENTS:
        text = str(value)
        return None if text == "NaT" else text
    if hasattr(value, "tolist"):  # numpy: an array, or one number
        return plain(list(value) if getattr(value, "ndim", 0) else value.tolist())
    return str(value)


def _bytes_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return b64encode(value).decode()

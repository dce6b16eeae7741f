"""What a value of a foreign table is as JSON, the same whatever library it comes from.

Dates and times become ISO text, decimals and other exact things text, bytes their UTF-8 text or else base64; what a
library calls missing (NaN, NaT, NA, null) is None, sets are lists in order, and numpy's numbers plain ones.
"""

import math
from base64 import b64encode
from typing import Any

from batchwork.tables.cells import cell_text

_ALREADY_JSON = frozenset({bool, int, str, type(None)})
_MISSING = frozenset({"NAType", "NaTType"})  # pandas; by name, because nothing here imports it
_MOMENTS = frozenset({"datetime64", "timedelta64"})  # numpy's own would become whole numbers


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

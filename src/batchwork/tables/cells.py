"""How a value reads as text, in a prompt and in a CSV cell, and as a JSON line.

The same everywhere: text as it is, None as nothing, true and false, numbers as JSON writes them, objects and lists as
JSON. Half a surrogate pair cannot be stored as UTF-8 by anybody and becomes U+FFFD.
"""

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import msgspec

_DEEPEST = 100
# What begins a formula, also behind blanks and in the wide forms that some spreadsheets take for the narrow ones.
_FORMULA = re.compile(r"[\s\0\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n\0]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_encode = msgspec.json.Encoder(decimal_format="number", enc_hook=str).encode


def cell_text(value: Any) -> str:
    """The value as text."""
    text_of = _TEXT_OF.get(type(value))
    if text_of is not None:
        return text_of(value)
    if isinstance(value, str):  # an enum that is text, for one
        return str.__str__(value)
    if isinstance(value, dict | list | tuple):
        return _nested(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _nested(value: Any) -> str:
    return _json(value).decode()


def clean_text(text: str) -> str:
    """The text with every half of a surrogate pair replaced by U+FFFD; whole pairs are joined."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def harmless_text(text: str) -> str:
    """The text with a quote before it where a spreadsheet would take it for a formula; a plain number is none."""
    if not text or not _FORMULA.match(text) or _NUMBER.fullmatch(text):
        return text
    return f"'{text}"


def json_line(row: dict[str, Any]) -> bytes:
    """The row as one line of JSON, whatever is in it."""
    return _json(row) + b"\n"


def _json(value: Any) -> bytes:
    try:
        return _encode(value)
    except (RecursionError, OverflowError, TypeError, ValueError):  # half a surrogate pair is a ValueError
        return _encode(_storable(value))


def _storable(value: Any, depth: int = 0) -> Any:
    """The value with what JSON or UTF-8 cannot hold replaced: half surrogates, NaN, a nest without end."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return value if value.is_finite() else None
    if isinstance(value, int) or value is None:
        return value
    if depth > _DEEPEST:
        return "(nested too deeply to be written)"
    if isinstance(value, dict):
        return {clean_text(str(key)): _storable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item, depth + 1) for item in value]
    return clean_text(cell_text(value))


_TEXT_OF: dict[type, Callable[[Any], str]] = {
    str: str,
    int: str,
    float: str,
    bool: lambda value: "true" if value else "false",
    type(None): lambda _: "",
    dict: _nested,
    list: _nested,
}

"""Schemas of requests, checked once each: a thousand prompts with one schema cost one check."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from batchwork.core.request import Schema
from batchwork.schema import SchemaError, check_schema

_KEPT = 128


def usable_schema(body: dict[str, Any] | bool, name: str) -> Schema:
    """The schema, known to be usable.

    Raises:
        SchemaError: it cannot be used; its `place` says where.
    """
    try:
        written = msgspec.msgpack.encode(body)
    except (RecursionError, OverflowError, UnicodeEncodeError, TypeError, ValueError) as error:
        check_schema(body)  # its own words for what is wrong, when it has any
        raise SchemaError("", f"cannot be read: {error}") from None
    return _checked(written, name)


@lru_cache(maxsize=_KEPT)
def _checked(written: bytes, name: str) -> Schema:
    body = msgspec.msgpack.decode(written)
    check_schema(body)
    return Schema.of(body, name=name)

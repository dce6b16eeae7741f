"""Schemas of requests, checked once each: a thousand prompts with one schema cost one check."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, cast

import msgspec

from batchwork.core.request import Schema
from batchwork.schema import SchemaError, check_schema, compile_for

_KEPT = 128
_DIALECTS = ("anthropic", "openai")  # providers that take less than all of JSON Schema


def usable_schema(body: dict[str, Any] | bool, name: str, provider: str | None = None) -> Schema:
    """The schema, known to be usable, and to be sendable to the provider.

    Raises:
        SchemaError: it cannot be used; its `place` says where.
    """
    try:
        written = msgspec.msgpack.encode(body)
    except (RecursionError, OverflowError, UnicodeEncodeError, TypeError, ValueError) as error:
        check_schema(body)  # its own words for what is wrong, when it has any
        raise SchemaError("", f"cannot be read: {error}") from None
    return _checked(written, name, provider)


@lru_cache(maxsize=_KEPT)
def _checked(written: bytes, name: str, provider: str | None) -> Schema:
    body = msgspec.msgpack.decode(written)
    checked = check_schema(body)
    if provider in _DIALECTS:
        compile_for(cast("Literal['anthropic', 'openai']", provider), checked)
    return Schema.of(body, name=name)

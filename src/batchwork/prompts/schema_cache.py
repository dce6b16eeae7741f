"""Schemas of requests, checked once each: a thousand prompts with one schema cost one check."""

from __future__ import annotations

from typing import Any, Literal, cast

import msgspec

from batchwork.core.request import Schema
from batchwork.core.weighed import WeighedCache
from batchwork.schema import DEFAULT_LIMITS, Limits, SchemaError, checker_of, keep_wire_schema, weigh, wire_schema_of

_KNOWN_BYTES = 4 * 2**20
_DIALECTS = ("anthropic", "openai")  # providers that take less than all of JSON Schema
_LARGE_US = 4_000.0  # to check and compile; what takes longer is better done by another process
_Key = tuple[bytes, str, str | None]
_known: WeighedCache[_Key, Schema | SchemaError] = WeighedCache(_KNOWN_BYTES)


def usable_schema(
    body: dict[str, Any] | bool, name: str, provider: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> Schema:
    """The schema, known to be usable, and to be sendable to the provider.

    Raises:
        SchemaError: it cannot be used; its `place` says where.
    """
    key = (_written(body, limits), name, provider)
    found = _known.get(key)
    if found is None:
        try:
            found = _checked(key, limits)
        except SchemaError as error:
            found = error
        _known.put(key, found, len(key[0]))
    if isinstance(found, SchemaError):
        raise SchemaError(found.place, found.problem)
    return found


def is_large(body: dict[str, Any] | bool, name: str, provider: str | None, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Whether the schema is not known yet, and so large that somebody else should look at it first.

    Raises:
        SchemaError: it is too large for everybody.
    """
    return is_long_work(body, limits) and _known.get((_written(body, limits), name, provider)) is None


def is_long_work(body: dict[str, Any] | bool, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Whether checking and compiling the schema takes longer than a turn of an event loop should.

    Raises:
        SchemaError: it is too large for everybody.
    """
    return weigh(body, limits).preparing_us > _LARGE_US


def keep_schema(
    body: dict[str, Any] | bool,
    name: str,
    provider: str | None,
    *,
    made: dict[str, Any] | None = None,
    problem: SchemaError | None = None,
) -> None:
    """Remember what somebody else has found out: it is usable (as the provider takes it: `made`), or not."""
    key = (_written(body, DEFAULT_LIMITS), name, provider)
    schema = Schema.of(msgspec.msgpack.decode(key[0]), name=name)
    if made is not None and provider in _DIALECTS:
        keep_wire_schema(cast("Literal['anthropic', 'openai']", provider), schema, made, weight=4 * len(key[0]))
    _known.put(key, schema if problem is None else problem, len(key[0]))


def _written(body: dict[str, Any] | bool, limits: Limits) -> bytes:
    try:
        return msgspec.msgpack.encode(body)
    except (RecursionError, OverflowError, UnicodeEncodeError, TypeError, ValueError) as error:
        weigh(body, limits)  # its own words for what is wrong, when it has any
        raise SchemaError("", f"cannot be read: {error}") from None


def _checked(key: _Key, limits: Limits) -> Schema:
    written, name, provider = key
    body = msgspec.msgpack.decode(written)
    schema = Schema.of(body, name=name)
    checker_of(schema, limits, copy=False)
    if provider in _DIALECTS:
        wire_schema_of(cast("Literal['anthropic', 'openai']", provider), schema)
    return schema

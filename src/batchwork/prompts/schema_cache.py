"""Schemas of requests, checked once each: a thousand prompts with one schema cost one check."""

from typing import Any, cast

import msgspec

from batchwork.core.request import Schema
from batchwork.core.weighed import WeighedCache
from batchwork.schema import DEFAULT_LIMITS, Limits, SchemaError, checker_of, keep_wire_schema, weigh, wire_schema_of
from batchwork.schema.dialects import DIALECTS
from batchwork.schema.wire import Provider

_KNOWN_BYTES = 4 * 2**20
_LARGE_US = 4_000.0  # to check and compile; what takes longer is better done by another process
Body = dict[str, Any] | bool
_known: WeighedCache[tuple[bytes, str, str | None], Schema | SchemaError] = WeighedCache(_KNOWN_BYTES)


def usable_schema(body: Body, name: str, provider: str | None = None, limits: Limits = DEFAULT_LIMITS) -> Schema:
    """The schema, known to be usable and sendable to the provider. Raises SchemaError where it is not."""
    encoded = _encoded(body, limits)
    found = _known.get((encoded, name, provider))
    if found is None:
        found = Schema.of(msgspec.msgpack.decode(encoded), name=name)
        try:
            compiled_schema(found, provider, limits)
        except SchemaError as error:
            found = error
        _known.put((encoded, name, provider), found, len(encoded))
    if isinstance(found, SchemaError):
        raise SchemaError(found.place, found.problem)
    return found


def compiled_schema(schema: Schema, provider: str | None, limits: Limits) -> dict[str, Any] | None:
    """The schema as the provider takes it; None where that is all of JSON Schema. Raises SchemaError."""
    checker_of(schema, limits, copy=False)
    return wire_schema_of(cast("Provider", provider), schema) if provider in DIALECTS else None


def is_large(body: Body, name: str, provider: str | None, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Whether the schema is not known yet, and so large that another process should check it first."""
    return is_long_work(body, limits) and _known.get((_encoded(body, limits), name, provider)) is None


def is_long_work(body: Body, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Whether checking it takes longer than a turn of an event loop should. SchemaError: it is too large at all."""
    return weigh(body, limits).preparing_us > _LARGE_US


def keep_schema(
    body: Body,
    name: str,
    provider: str | None,
    *,
    compiled: dict[str, Any] | None = None,
    problem: SchemaError | None = None,
) -> None:
    """Remember what another process has found out: the schema as the provider takes it, or its problem."""
    encoded = _encoded(body, DEFAULT_LIMITS)
    schema = Schema.of(msgspec.msgpack.decode(encoded), name=name)
    if compiled is not None:
        keep_wire_schema(cast("Provider", provider), schema, compiled, weight=4 * len(encoded))
    _known.put((encoded, name, provider), problem or schema, len(encoded))


def _encoded(body: Body, limits: Limits) -> bytes:
    try:
        return msgspec.msgpack.encode(body)
    except (RecursionError, OverflowError, UnicodeEncodeError, TypeError, ValueError) as error:
        weigh(body, limits)  # its own words for what is wrong, when it has any
        raise SchemaError("", f"cannot be read: {error}") from None

"""What every HTTP backend does to a body: the schema in the provider's subset, and the user's own fields on top."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from batchwork.backends._refusing import bad_input
from batchwork.core.request import Schema
from batchwork.core.weighed import WeighedCache

# What batchwork itself decides: changing these behind its back would break its price, its bound or its reader.
_OURS = frozenset({"model", "messages", "max_tokens", "max_completion_tokens", "stream", "n"})
_ENCODED_BYTES = 16 * 2**20


class WireSchemas:
    """User schemas as a provider takes them, each compiled and encoded once while it is in use."""

    __slots__ = ("_compile", "_encoded")

    def __init__(self, compile_schema: Callable[[Schema], Any]) -> None:
        self._compile = compile_schema
        self._encoded: WeighedCache[bytes, msgspec.Raw] = WeighedCache(_ENCODED_BYTES)

    def of(self, schema: Schema) -> msgspec.Raw:
        """The encoded wire schema."""
        encoded = self._encoded.get(schema.digest)
        if encoded is None:
            written = msgspec.json.encode(self._compile(schema))
            encoded = msgspec.Raw(written)
            self._encoded.put(schema.digest, encoded, len(written))
        return encoded


def add_extra(body: dict[str, Any], extra: Mapping[str, Any]) -> None:
    """Put the user's fields on top: objects are merged one level deep, None takes a field out.

    Raises:
        BackendError: a field that batchwork decides itself.
    """
    for name, value in extra.items():
        if name in _OURS:
            bad_input(f"extra_body cannot set {name!r}: batchwork does, from the request itself")
        ours = body.get(name)
        if value is None:
            body.pop(name, None)
        elif isinstance(ours, dict) and isinstance(value, dict):
            body[name] = {**ours, **value}
        else:
            body[name] = value

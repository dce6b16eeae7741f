"""What every wire does to a body: the schema in the provider's subset, the user's own fields on top."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

import msgspec

from batchwork.backends._failures import bad_input
from batchwork.core.request import Schema
from batchwork.core.weighed import WeighedCache
from batchwork.schema import SchemaError, wire_schema_of

# What batchwork itself decides: changing these behind its back would break its price, its bound or its reader.
_OURS = frozenset({"model", "messages", "max_tokens", "max_completion_tokens", "stream", "n"})
_ENCODED_BYTES = 16 * 2**20


class WireSchemas:
    """User schemas as a provider takes them, each compiled and encoded once while it is in use."""

    __slots__ = ("_compile", "_encoded")

    def __init__(self, compile_schema: Callable[[Schema], Any]) -> None:
        self._compile = compile_schema
        self._encoded: WeighedCache[bytes, msgspec.Raw] = WeighedCache(_ENCODED_BYTES)

    @classmethod
    def of(cls, provider: Literal["anthropic", "openai"]) -> WireSchemas:
        """In the subset that a provider takes; a schema that it cannot be given is a `BackendError`."""

        def compiled(schema: Schema) -> Any:
            try:
                return wire_schema_of(provider, schema)
            except SchemaError as error:
                bad_input(str(error))

        return cls(compiled)

    def encoded(self, schema: Schema) -> msgspec.Raw:
        """The encoded wire schema."""
        encoded = self._encoded.get(schema.digest)
        if encoded is None:
            written = msgspec.json.encode(self._compile(schema))
            encoded = msgspec.Raw(written)
            self._encoded.put(schema.digest, encoded, len(written))
        return encoded


def check_sampling(sampling: Mapping[str, Any], taken: Collection[str], who: str) -> None:
    """Refuse sampling parameters that the API does not take.

    Raises:
        BackendError: one of them is not taken.
    """
    unknown = [name for name in sampling if name not in taken]
    if unknown:
        takes = f"it takes {', '.join(sorted(taken))}" if taken else "it takes none: leave them out"
        bad_input(f"{who} does not take the sampling parameter {unknown[0]!r}; {takes}")


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

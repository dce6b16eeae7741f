"""The seam to the schema room: a user's schema in the subset that a provider takes."""

from __future__ import annotations

from typing import Any, Literal

from batchwork.backends._refusing import bad_input
from batchwork.core.request import Schema
from batchwork.schema import SchemaError, wire_schema_of


def wire_schema(provider: Literal["anthropic", "openai"], schema: Schema) -> Any:
    """The schema to send to this provider.

    Raises:
        BackendError: the provider cannot be told this schema.
    """
    try:
        return wire_schema_of(provider, schema)
    except SchemaError as error:
        bad_input(str(error))

"""The seam to the schema room: a user's schema in the subset that a provider takes."""

from __future__ import annotations

from typing import Any, Literal

from batchwork.backends._refusing import bad_input
from batchwork.schema import SchemaError, compile_for


def wire_schema(provider: Literal["anthropic", "openai"], body: Any) -> Any:
    """The schema to send to this provider.

    Raises:
        BackendError: the provider cannot be told this schema.
    """
    try:
        return compile_for(provider, body)
    except SchemaError as error:
        bad_input(str(error))

"""JSON Schema: what can be used, what providers take of it, whether an answer fits, and Pydantic models from it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from batchwork.core.errors import SchemaError
from batchwork.schema.answer_text import NoJson, json_in, syntax_problem, whole_json_in
from batchwork.schema.checked_schema import CheckedSchema, check_schema
from batchwork.schema.checker import (
    Accepted,
    AnswerChecker,
    Rejected,
    SchemaChecker,
    checker_of,
    known_checker,
    reask_message,
    rejected,
)
from batchwork.schema.dialects import ANY_SERVER
from batchwork.schema.limits import DEFAULT_LIMITS, Limits, Weight, values_at_most, weigh
from batchwork.schema.quoted import QuotedChecker, answer_schema, is_quoted, quoted_schema, quotes_in
from batchwork.schema.wire import compile_for, keep_wire_schema, wire_schema_of

if TYPE_CHECKING:
    from batchwork.schema.instances import ModelChecker, schema_from_model, typed
    from batchwork.schema.models import response_model_from_schema

# Pydantic takes longer to import than the rest of a command takes to run; these bring it in when they are used.
_WITH_PYDANTIC = {
    "ModelChecker": "instances",
    "response_model_from_schema": "models",
    "schema_from_model": "instances",
    "typed": "instances",
}


def __getattr__(name: str) -> Any:
    module = _WITH_PYDANTIC.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)

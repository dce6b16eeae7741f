"""Converts between JSON values, Python values and the user's own Pydantic models."""

import datetime as dt
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Any, TypeVar
from uuid import UUID

import msgspec
from pydantic import BaseModel, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from batchwork.core.errors import SchemaError
from batchwork.schema.checked_schema import CheckedSchema, check_schema
from batchwork.schema.checker import Accepted, Rejected, SchemaChecker
from batchwork.schema.explanation import MOST_ERRORS, located
from batchwork.schema.repair import repaired

SOURCE = "__json_schema_source__"  # the attribute of a model that holds the schema it was made from

_Model = TypeVar("_Model", bound=BaseModel)
_BOUNDS = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}


class _ForAnswers(GenerateJsonSchema):
    """A decimal is asked for as a number: Pydantic's own wording, a number or text of a pattern, costs a union each."""

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        bounds = {_BOUNDS[key]: float(held) for key, held in schema.items() if key in _BOUNDS and held is not None}  # type: ignore[arg-type]
        return {"type": "number", **bounds}


def schema_from_model(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema that answers for the model must fit; for a model made from a schema, that schema."""
    source = model.__dict__.get(SOURCE)
    if isinstance(source, dict):
        return dict(source)
    try:
        return model.model_json_schema(schema_generator=_ForAnswers)
    except PydanticInvalidForJsonSchema as error:
        raise SchemaError("", f"{model.__name__} cannot be asked for: {error}") from error


def typed(value: Any, model: type[_Model]) -> _Model:
    """The JSON value as an instance of the model: decimals, dates, and enums in any case."""
    schema = _schema_of(model)
    if not schema.validator.is_valid(value):
        value = repaired(schema, value)
    # as JSON, because a strict model takes a date as text only there
    return model.model_validate_json(msgspec.json.encode(value))


class ModelChecker(SchemaChecker):
    """Checks answers against a Pydantic model: its schema first, then its own validators."""

    def __init__(self, model: type[BaseModel]) -> None:
        """Compile the model's schema; a SchemaError when it cannot be used."""
        super().__init__(schema_from_model(model))
        self._model = model

    def check_value(self, value: Any) -> Accepted | Rejected:
        """Whether a JSON value fits; what is accepted is still JSON, `typed` makes the instance of it."""
        verdict = super().check_value(value)
        if isinstance(verdict, Accepted):
            try:
                typed(verdict.value, self._model)
            except ValidationError as error:
                return Rejected(tuple(located(one["loc"], one["msg"]) for one in error.errors()[:MOST_ERRORS]))
        return verdict


@lru_cache(maxsize=256)
def _schema_of(model: type[BaseModel]) -> CheckedSchema:
    return check_schema(schema_from_model(model))


def as_json(value: Any) -> Any:
    """The JSON value that a Python value stands for; what is JSON already stays the same object."""
    if isinstance(value, Enum):
        return as_json(value.value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dict):
        return {key: as_json(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(held) for held in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return str(value) if isinstance(value, UUID) else value


def same_json(one: Any, other: Any) -> bool:
    """Equality as JSON has it: 1 is 1.0 and true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(one[key], other[key]) for key in one)
    return bool(one == other)

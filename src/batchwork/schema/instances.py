"""Between JSON values and the user's own Pydantic models."""

from functools import lru_cache
from typing import Any, TypeVar

import msgspec
from pydantic import BaseModel, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import ErrorDetails, core_schema

from batchwork.schema.checked import Schema, check_schema
from batchwork.schema.checker import Accepted, Rejected, SchemaChecker
from batchwork.schema.errors import SchemaError
from batchwork.schema.explaining import MOST_ERRORS
from batchwork.schema.mending import mended
from batchwork.schema.models import SOURCE

_Model = TypeVar("_Model", bound=BaseModel)
_BOUNDS = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}


class _ForAnswers(GenerateJsonSchema):
    """A decimal is asked for as a number: Pydantic's own wording, a number or text of a pattern, costs a union each."""

    def decimal_schema(self, schema: core_schema.DecimalSchema) -> JsonSchemaValue:
        bounds = {_BOUNDS[key]: float(held) for key, held in schema.items() if key in _BOUNDS and held is not None}  # type: ignore[arg-type]
        return {"type": "number", **bounds}


def schema_from_model(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema that answers for the model must fit; for a model made from a schema, that schema.

    Raises:
        SchemaError: a field's type has no JSON schema.
    """
    source = model.__dict__.get(SOURCE)
    if isinstance(source, dict):
        return dict(source)
    try:
        return model.model_json_schema(schema_generator=_ForAnswers)
    except PydanticInvalidForJsonSchema as error:
        raise SchemaError("", f"{model.__name__} cannot be asked for: {error}") from error


def typed(value: Any, model: type[_Model]) -> _Model:
    """The JSON value as an instance of the model: decimals, dates, and enums in any case.

    Raises:
        pydantic.ValidationError: the value does not fit the model.
    """
    schema = _schema_of(model)
    if not schema.validator.is_valid(value):
        value = mended(schema, value)
    # as JSON, because a strict model takes a date as text only there
    return model.model_validate_json(msgspec.json.encode(value))


class ModelChecker(SchemaChecker):
    """Checks answers against a Pydantic model: its schema first, then its own validators."""

    def __init__(self, model: type[BaseModel]) -> None:
        """Compile the model's schema.

        Raises:
            SchemaError: it cannot be used.
        """
        super().__init__(schema_from_model(model))
        self._model = model

    def check_value(self, value: Any) -> Accepted | Rejected:
        """Whether a JSON value fits; what is accepted is still JSON, `typed` makes the instance of it."""
        verdict = super().check_value(value)
        if isinstance(verdict, Accepted):
            try:
                typed(verdict.value, self._model)
            except ValidationError as error:
                return Rejected(tuple(_sentence(one) for one in error.errors()[:MOST_ERRORS]))
        return verdict


def _sentence(error: ErrorDetails) -> str:
    steps = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in error["loc"])
    path = "".join(steps).removeprefix(".")
    return f"{path}: {error['msg']}" if path else error["msg"]


@lru_cache(maxsize=256)
def _schema_of(model: type[BaseModel]) -> Schema:
    return check_schema(schema_from_model(model))

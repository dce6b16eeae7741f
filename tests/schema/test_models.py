"""Pydantic models from a JSON schema."""

import datetime as dt
from typing import Any
from uuid import UUID

import pytest
from pydantic import RootModel, ValidationError

from batchwork.schema import (
    response_model_from_schema,
    schema_from_model,
)

_SCHEMA: dict[str, Any] = {
    "title": "invoice",
    "type": "object",
    "properties": {
        "number": {"type": "string", "pattern": "^R-"},
        "day": {"type": "string", "format": "date"},
        "id": {"type": "string", "format": "uuid"},
        "kind": {"enum": ["Invoice", 1, None]},
        "class": {"type": "boolean"},
        "items": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/item"}},
        "count": {"type": "integer", "default": 3},
        "tree": {"$ref": "#/$defs/tree"},
    },
    "required": ["number", "items"],
    "additionalProperties": False,
    "$defs": {
        "item": {"type": "object", "properties": {"price": {"type": "number", "minimum": 0}}, "required": ["price"]},
        "tree": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}},
    },
}


def test_a_schema_becomes_nested_models_with_python_types() -> None:
    model: Any = response_model_from_schema(_SCHEMA)
    text = "0e3d4f6a-1111-4222-8333-444455556666"
    value = model.model_validate(
        {"number": "R-1", "day": "2026-01-02", "id": text, "class": True, "items": [{"price": 2, "more": "x"}]}
        | {"kind": 1.0, "tree": {"kids": [{"kids": []}]}}
    )
    assert model.__name__ == "Invoice"
    assert value.day == dt.date(2026, 1, 2)
    assert value.id == UUID(text)
    assert value.field_class is True
    assert value.items[0].price == 2
    assert value.items[0].more == "x"
    assert value.kind == 1
    assert value.count == 3
    assert type(value.tree.kids[0]) is type(value.tree)
    assert model.model_validate({"number": "R-1", "items": [{"price": 0}]}).day is None


@pytest.mark.parametrize(
    ("change", "loc", "problem"),
    [
        ({"number": "X"}, ("number",), "does not match"),
        ({"number": None}, ("number",), "not of type"),
        ({"items": []}, ("items",), "less than 1 item"),
        ({"items": [{"price": -1}]}, ("items",), "[0].price: -1 is less than"),
        ({"day": None}, ("day",), "not of type"),
        ({"day": "02.01.2026"}, ("day",), "date"),
        ({"class": "yes"}, ("class",), "not of type"),
        ({"count": "3"}, ("count",), "not of type"),
        ({"count": True}, ("count",), "not of type"),
        ({"kind": "invoice"}, ("kind",), "not one of"),
        ({"other": 1}, ("other",), "not permitted"),
        ({"tree": {"kids": [5]}}, ("tree", "kids", 0), "valid dictionary"),
    ],
)
def test_every_promise_of_the_schema_is_kept_by_the_model(change: Any, loc: tuple[Any, ...], problem: str) -> None:
    with pytest.raises(ValidationError) as caught:
        response_model_from_schema(_SCHEMA).model_validate({"number": "R-1", "items": [{"price": 1}]} | change)
    (error,) = caught.value.errors()
    assert error["loc"] == loc
    assert problem in error["msg"]


def test_a_model_from_a_schema_knows_its_schema() -> None:
    assert schema_from_model(response_model_from_schema(_SCHEMA)) == _SCHEMA


def test_a_root_that_is_no_object_is_a_root_model() -> None:
    model = response_model_from_schema({"type": "array", "items": {"type": "integer"}})
    assert issubclass(model, RootModel)
    assert model.model_validate([1, 2.0]).model_dump() == [1, 2]


def test_definitions_that_recurse_without_an_object_work() -> None:
    schema = {"$ref": "#/$defs/j", "$defs": {"j": {"type": ["array", "integer"], "items": {"$ref": "#/$defs/j"}}}}
    model = response_model_from_schema(schema)
    assert model.model_validate([1, [2, []]]).model_dump() == [1, [2, []]]
    with pytest.raises(ValidationError):
        model.model_validate([1, ["x"]])


def test_extra_properties_are_typed_where_the_schema_says_so() -> None:
    model: Any = response_model_from_schema(
        {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "string", "format": "date"}}
    )
    assert model.model_validate({"a": 1, "b": "2026-01-02"}).b == dt.date(2026, 1, 2)
    with pytest.raises(ValidationError):
        model.model_validate({"b": 5})

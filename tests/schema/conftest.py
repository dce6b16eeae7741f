"""A checker of a schema that has something of everything."""

from typing import Any

import pytest

from batchwork.schema import SchemaChecker

_INVOICE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["Invoice", "Receipt"]},
        "note": {"type": "string"},
        "paid": {"type": ["boolean", "null"]},
        "items": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/item"}},
        "payer": {"anyOf": [{"$ref": "#/$defs/person"}, {"type": "string"}]},
    },
    "required": ["kind", "items"],
    "additionalProperties": False,
    "$defs": {
        "item": {
            "type": "object",
            "properties": {"price": {"type": "number", "minimum": 0}, "unit": {"type": "string"}},
            "required": ["price"],
        },
        "person": {
            "type": "object",
            "properties": {"type": {"const": "Person"}, "born": {"type": "string", "format": "date"}},
            "required": ["type"],
        },
    },
}


@pytest.fixture(scope="module")
def checker() -> SchemaChecker:
    return SchemaChecker(_INVOICE)

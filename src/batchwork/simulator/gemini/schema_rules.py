"""Decide whether a schema is in the subset the provider takes; and its older form, OpenAPI's, as JSON Schema."""

from typing import Any

from batchwork.simulator.errors import refuse_if
from batchwork.simulator.providers import GEMINI
from batchwork.simulator.schema_nodes import nodes

_FORMATS = frozenset({"date-time", "date", "time", "duration", "enum", "float", "double", "int32", "int64"})


def check_schema(schema: Any) -> None:
    """Refuse what is not taken."""
    refuse_if(not isinstance(schema, dict), "response_json_schema: must be an object")
    for path, node in nodes(schema):
        where = ".".join(("response_json_schema", *path))
        for word in GEMINI.schema_refused:
            refuse_if(word in node, f"{where}: '{word}' is not supported")
        for value in node.get("enum", ()):
            plain = isinstance(value, str | int | float) and not isinstance(value, bool)
            refuse_if(not plain, f"{where}.enum: only strings and numbers are supported")
        wrong = node.get("format") not in (None, *_FORMATS)
        refuse_if(wrong, f"{where}.format: only 'enum' and 'date-time' are supported for STRING type")


def from_openapi(schema: Any) -> dict[str, Any]:
    """A schema in the older form, whose types are in capitals, as JSON Schema."""
    if not isinstance(schema, dict):
        return {}
    made: dict[str, Any] = {}
    for name, value in schema.items():
        if name == "type" and isinstance(value, str):
            made["type"] = value.lower()
        elif name == "properties":
            made[name] = {key: from_openapi(child) for key, child in value.items()}
        elif name == "items":
            made[name] = from_openapi(value)
        elif name == "anyOf":
            made[name] = [from_openapi(child) for child in value]
        elif name not in ("nullable", "propertyOrdering", "example"):
            made[name] = value
    if schema.get("nullable") and isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
    return made

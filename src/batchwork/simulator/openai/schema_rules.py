"""Decide whether a strict schema is in the subset the provider takes, and say what is wrong with it."""

from typing import Any

from batchwork.simulator.errors import Refused
from batchwork.simulator.providers import OPENAI
from batchwork.simulator.schema_nodes import nodes

_MOST_PROPERTIES = 5000
_MOST_ENUM_VALUES = 1000
_DEEPEST = 10


def check_schema(schema: Any, name: str, where: str, *, strict: bool) -> None:
    """Refuse what strict mode does not take; without strict anything that is an object goes."""
    if not isinstance(schema, dict):
        message = f"Invalid schema for {where} '{name}': expected an object."
        raise Refused(400, message, param=where, code="invalid_json_schema")
    if not strict:
        return
    if schema.get("type") != "object" or "anyOf" in schema:
        raise _wrong(name, where, (), "schema must be a JSON Schema of 'type: \"object\"', without a root anyOf")
    properties = values = 0
    for path, node in nodes(schema):
        if path.count("properties") > _DEEPEST:
            raise _wrong(name, where, path, f"more than {_DEEPEST} levels of nesting")
        for word in OPENAI.schema_refused:
            if word in node:
                raise _wrong(name, where, path, f"'{word}' is not permitted")
        if node.get("type") == "object" or "properties" in node:
            if node.get("additionalProperties") is not False:
                raise _wrong(name, where, path, "'additionalProperties' is required to be supplied and to be false")
            missing = sorted(set(node.get("properties", {})) - set(node.get("required", ())))
            if missing:
                raise _wrong(
                    name, where, path,
                    "'required' is required to be supplied and to be an array including every key in properties. "
                    f"Missing '{missing[0]}'",
                )  # fmt: skip
        properties += len(node.get("properties", {}))
        values += len(node.get("enum", ()))
    if properties > _MOST_PROPERTIES:
        raise _wrong(name, where, (), f"more than {_MOST_PROPERTIES} properties")
    if values > _MOST_ENUM_VALUES:
        raise _wrong(name, where, (), f"more than {_MOST_ENUM_VALUES} enum values")


def _wrong(name: str, where: str, path: tuple[str, ...], what: str) -> Refused:
    message = f"Invalid schema for {where} '{name}': In context={path!r}, {what}."
    return Refused(400, message, param=where, code="invalid_json_schema")

"""Where a JSON schema has schemas inside, and how places in it are written.

Knows draft 2020-12 and the older spellings of the same things (`definitions`, `items` as a list, `dependencies`).
"""

from collections.abc import Iterator
from typing import Any

_PYTHON: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "null": type(None),
    "integer": int | float,
    "number": int | float,
}
Node = dict[str, Any] | bool

IN_PLACE_ONE = ("not", "if", "then", "else")
IN_PLACE_LIST = ("allOf", "anyOf", "oneOf")
IN_PLACE_MAP = ("dependentSchemas", "dependencies")
INWARD_ONE = (
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "items",
    "additionalItems",
    "contains",
    "unevaluatedItems",
)
INWARD_LIST = ("prefixItems", "items")
INWARD_MAP = ("properties", "patternProperties")
STORES = ("$defs", "definitions")

_IN_PLACE = frozenset((*IN_PLACE_ONE, *IN_PLACE_LIST, *IN_PLACE_MAP))
_ONE = frozenset((*IN_PLACE_ONE, *INWARD_ONE))
_LIST = frozenset((*IN_PLACE_LIST, *INWARD_LIST))
_MAP = frozenset((*IN_PLACE_MAP, *INWARD_MAP, *STORES))
_BRANCHING = frozenset(
    {
        *("allOf", "anyOf", "oneOf", "not", "if", "contains", "uniqueItems", "patternProperties", "propertyNames"),
        *("dependentSchemas", "dependencies", "unevaluatedProperties", "unevaluatedItems"),
    }
)


def branches(node: dict[str, Any]) -> bool:
    """Whether a value, or one inside of it, may be held against more than one schema for what stands here."""
    return not _BRANCHING.isdisjoint(node) or node.get("format") == "regex"


def is_schema(node: object) -> bool:
    """Whether something can be a schema at all."""
    return isinstance(node, dict | bool)


def children(node: Node, place: str) -> Iterator[tuple[str, str, Node]]:
    """The schemas directly inside a schema: the keyword that holds each, its place, and the schema."""
    if isinstance(node, bool):
        return
    for keyword, held in node.items():
        if isinstance(held, dict | bool) and keyword in _ONE:
            yield keyword, f"{place}/{keyword}", held
        elif isinstance(held, list) and keyword in _LIST:
            for index, part in enumerate(held):
                if isinstance(part, dict | bool):
                    yield keyword, f"{place}/{keyword}/{index}", part
        elif isinstance(held, dict) and keyword in _MAP:
            here = f"{place}/{keyword}"
            for name, part in held.items():
                if isinstance(part, dict | bool):
                    yield keyword, step(here, name), part


def is_in_place(keyword: str) -> bool:
    """Whether the keyword's schemas look at the same value as the schema they stand in."""
    return keyword in _IN_PLACE


def step(place: str, key: str | int) -> str:
    """The JSON pointer one step further in."""
    if isinstance(key, str) and ("/" in key or "~" in key):
        key = key.replace("~", "~0").replace("/", "~1")
    return f"{place}/{key}"


def types_of(node: dict[str, Any]) -> tuple[str, ...]:
    """The types the schema names, none when it names none."""
    named = node.get("type")
    if isinstance(named, str):
        return (named,)
    return tuple(named) if isinstance(named, list) else ()


def type_fits(node: dict[str, Any], value: Any) -> bool:
    """Whether the value is of a type that the schema names; anything is when it names none."""
    named = types_of(node)
    if not named:
        return True
    if isinstance(value, bool):
        return "boolean" in named
    return any(isinstance(value, _PYTHON.get(name, object)) for name in named if name != "boolean")

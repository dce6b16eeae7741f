"""What each provider takes of JSON Schema, as a table (`dialects.json`), and a compiled schema brought within it."""

from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from batchwork.core.errors import SchemaError

# The one property of the object that a root which is no object is sent in, where a provider wants an object
WRAP_KEY = "value"
# The rules of a server that is not OpenAI and speaks its wire: OpenAI's where they can be kept, else its own.
ANY_SERVER = "chat"


class Dialect(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One provider's subset; facts of its documentation."""

    name: str
    keeps: frozenset[str]  # keywords with a plain value that may stay; the others are told in the description
    formats: frozenset[str]
    all_required: bool  # every property must be required; an optional one may be null instead
    object_root: bool  # the root must be an object and no union
    recursion: bool
    enum_types: frozenset[str] | None = None  # the types that an enum may list, and then no `const`; None: any, and it
    most_min_items: int | None = None
    look_around: bool = True  # whether patterns may look around, refer back or ask for word boundaries
    most_optional: int | None = None
    most_unions: int | None = None
    most_properties: int | None = None
    most_levels: int | None = None
    most_enum_values: int | None = None


DIALECTS: Mapping[str, Dialect] = msgspec.json.decode(
    Path(__file__).with_name("dialects.json").read_bytes(), type=dict[str, Dialect]
)


def nullable(node: dict[str, Any]) -> dict[str, Any]:
    """The compiled schema, null allowed."""
    named = node.get("type")
    names = [named] if isinstance(named, str) else list(named or ())
    if "null" in names or {"type": "null"} in node.get("anyOf", ()):
        return node
    if "anyOf" in node:
        return {**node, "anyOf": [*node["anyOf"], {"type": "null"}]}
    if "enum" in node:
        return {**node, "type": [*names, "null"], "enum": [*node["enum"], None]}
    if "$ref" in node or "const" in node or named in ("object", "array"):
        return {"anyOf": [node, {"type": "null"}]}
    return {**node, "type": [*names, "null"]}


def enforce_limits(root: dict[str, Any], dialect: Dialect) -> None:
    """Bring a compiled schema within the provider's limits, by the provider's own counts, or raise a SchemaError.

    Where only so many properties may be optional, the ones beyond are made required and nullable, as far as unions
    are allowed; the checker takes a null for absent there too.
    """
    nodes = list(_nodes(root))
    if dialect.most_optional is not None:
        _require_surplus(nodes, dialect.most_optional)
    properties = [part for node in nodes for part in node.get("properties", {}).values()]
    unions = sum("anyOf" in part or isinstance(part.get("type"), list) for part in properties)
    for count, most, what in (
        (unions, dialect.most_unions, "properties of several types"),
        (len(properties), dialect.most_properties, "properties"),
        (sum(len(node.get("enum", ())) for node in nodes), dialect.most_enum_values, "allowed values"),
    ):
        if most is not None and count > most:
            raise _too_complex(dialect, count, what, most)
    if dialect.most_levels is not None:
        _check_levels(root, dialect, dialect.most_levels)


def _require_surplus(nodes: list[dict[str, Any]], most: int) -> None:
    optional = 0
    for node in nodes:
        for name, part in node.get("properties", {}).items():
            if name in node["required"]:
                continue
            optional += 1
            if optional > most:
                node["properties"][name] = nullable(part)
                node["required"].append(name)


def _nodes(root: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every schema in a compiled schema, each definition once."""
    waiting = deque([root])
    while waiting:
        node = waiting.popleft()
        yield node
        waiting += [*_inner(node), *node.get("$defs", {}).values()]


def _inner(node: dict[str, Any]) -> list[dict[str, Any]]:
    items = [node["items"]] if "items" in node else []
    return [*node.get("properties", {}).values(), *node.get("anyOf", ()), *items]


def _check_levels(root: dict[str, Any], dialect: Dialect, most: int) -> None:
    """Count how deep objects stand in one another, a recursive definition once."""
    deepest: dict[int, int] = {}
    waiting: list[tuple[dict[str, Any], int, frozenset[str]]] = [(root, 0, frozenset())]
    while waiting:
        node, level, inside = waiting.pop()
        level += "properties" in node
        if deepest.get(id(node), -1) >= level:
            continue
        deepest[id(node)] = level
        if level > most:
            raise _too_complex(dialect, level, "levels of nesting", most)
        waiting += [(part, level, inside) for part in _inner(node)]
        name = node.get("$ref", "").rpartition("/")[2]
        if name and name not in inside:
            waiting.append((root["$defs"][name], level, inside | {name}))


def _too_complex(dialect: Dialect, count: int, what: str, most: int) -> SchemaError:
    return SchemaError("", f"too complex for {dialect.name}: {count} {what}, at most {most} are taken")

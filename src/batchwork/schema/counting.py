"""How large a compiled schema is by the providers' own counts, and what to do when that is too much."""

from collections import deque
from collections.abc import Iterator
from typing import Any

from batchwork.schema.dialects import Dialect
from batchwork.schema.errors import SchemaError
from batchwork.schema.phrasing import nullable


def enforce_limits(root: dict[str, Any], dialect: Dialect) -> None:
    """Bring a compiled schema within the provider's limits.

    Where only so many properties may be optional, the ones beyond are made required and nullable, as far as unions
    are allowed; the checker takes a null for absent there too.

    Raises:
        SchemaError: it cannot be done.
    """
    nodes = list(_nodes(root))
    if dialect.most_optional is not None:
        _require_surplus([node for node in nodes if "properties" in node], dialect)
    unions = sum(_is_union(part) for node in nodes for part in node.get("properties", {}).values())
    if dialect.most_unions is not None and unions > dialect.most_unions:
        raise _too_complex(dialect, unions, "properties of several types", dialect.most_unions)
    if dialect.most_properties is not None:
        properties = sum(len(node.get("properties", ())) for node in nodes)
        if properties > dialect.most_properties:
            raise _too_complex(dialect, properties, "properties", dialect.most_properties)
    if dialect.most_enum_values is not None:
        values = sum(len(node.get("enum", ())) for node in nodes)
        if values > dialect.most_enum_values:
            raise _too_complex(dialect, values, "allowed values", dialect.most_enum_values)
    if dialect.most_levels is not None:
        _check_levels(root, dialect, dialect.most_levels)


def _require_surplus(objects: list[dict[str, Any]], dialect: Dialect) -> None:
    assert dialect.most_optional is not None
    optional = 0
    for node in objects:
        for name, part in node["properties"].items():
            if name in node["required"]:
                continue
            optional += 1
            if optional > dialect.most_optional:
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


def _is_union(node: dict[str, Any]) -> bool:
    return "anyOf" in node or isinstance(node.get("type"), list)


def _too_complex(dialect: Dialect, count: int, what: str, most: int) -> SchemaError:
    return SchemaError("", f"too complex for {dialect.name}: {count} {what}, at most {most} are taken")

"""Decide whether a schema can be compiled for structured output, and say what is wrong with it."""

import re
from collections.abc import Iterator
from typing import Any

from batchwork.simulator.errors import Refused


def _words(text: str) -> list[str]:
    return text.split()


_MOST_OPTIONAL = 24
_MOST_UNIONS = 16
_MOST_STRICT_TOOLS = 20
_BOUNDS = _words(
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems "
    "uniqueItems minProperties maxProperties contains oneOf not if then else patternProperties "
    "prefixItems"
)
_FORMATS = frozenset(_words("date-time time date duration email hostname uri ipv4 ipv6 uuid"))
_BAD_PATTERN = re.compile(r"\\[1-9]|\(\?[=!<]|\\b|\\B")


def check_schema(schema: Any, where: str) -> None:
    """Refuse what cannot be compiled.

    Raises:
        Refused: 400, naming the first thing that is not supported.
    """
    if not isinstance(schema, dict):
        raise Refused(400, f"{where}: Input should be a valid dictionary")
    optional = unions = 0
    for path, node in _nodes(schema, where):
        _check_node(node, path, schema)
        properties = node.get("properties", {})
        optional += len(set(properties) - set(node.get("required", ())))
        unions += sum(_is_union(child) for child in properties.values())
    if _recursive(schema):
        raise Refused(400, f"{where}: recursive schemas are not supported")
    if optional > _MOST_OPTIONAL or unions > _MOST_UNIONS:
        raise Refused(400, "Schema is too complex for compilation.")


def check_strict_tools(tools: list[Any]) -> None:
    """Refuse too many strict tools, and strict tools whose schema cannot be compiled.

    Raises:
        Refused: 400.
    """
    strict = [tool for tool in tools if isinstance(tool, dict) and tool.get("strict")]
    if len(strict) > _MOST_STRICT_TOOLS:
        raise Refused(400, f"tools: at most {_MOST_STRICT_TOOLS} strict tools are supported, got {len(strict)}")
    for number, tool in enumerate(strict):
        check_schema(tool.get("input_schema"), f"tools.{number}.input_schema")


def _is_union(node: Any) -> bool:
    return isinstance(node, dict) and ("anyOf" in node or isinstance(node.get("type"), list))


def _nodes(node: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(node, dict):
        return
    yield path, node
    for word in ("properties", "$defs", "definitions"):
        for name, child in node.get(word, {}).items():
            yield from _nodes(child, f"{path}.{word}.{name}")
    for word in ("anyOf", "allOf"):
        for number, child in enumerate(node.get(word, ())):
            yield from _nodes(child, f"{path}.{word}.{number}")
    yield from _nodes(node.get("items"), f"{path}.items")


def _check_node(node: dict[str, Any], path: str, root: dict[str, Any]) -> None:
    for word in _BOUNDS:
        if word in node:
            raise Refused(400, f"{path}: For '{node.get('type', 'any')}' type, property '{word}' is not supported")
    if (node.get("type") == "object" or "properties" in node) and node.get("additionalProperties") is not False:
        raise Refused(400, f"{path}: For 'object' type, 'additionalProperties' must be explicitly set to false")
    if node.get("minItems", 0) not in (0, 1):
        raise Refused(400, f"{path}: For 'array' type, 'minItems' values other than 0 or 1 are not supported")
    if "format" in node and node["format"] not in _FORMATS:
        raise Refused(400, f"{path}: format '{node['format']}' is not supported")
    if any(isinstance(value, dict | list) for value in node.get("enum", ())):
        raise Refused(400, f"{path}: enum values must be scalars")
    if "pattern" in node and _BAD_PATTERN.search(node["pattern"]):
        raise Refused(400, f"{path}: pattern uses a feature that is not supported")
    if "allOf" in node and any("$ref" in part for part in node["allOf"] if isinstance(part, dict)):
        raise Refused(400, f"{path}: 'allOf' with '$ref' is not supported")
    if "$ref" in node and _target(root, node["$ref"]) is None:
        raise Refused(400, f"{path}: cannot resolve $ref '{node['$ref']}'; external references are not supported")


def _target(root: dict[str, Any], ref: Any) -> Any:
    if not isinstance(ref, str) or not ref.startswith("#"):
        return None
    node: Any = root
    for step in filter(None, ref[1:].split("/")):
        node = node.get(step) if isinstance(node, dict) else None
    return node


def _recursive(root: dict[str, Any]) -> bool:
    edges: dict[str, set[str]] = {}
    definitions = {
        f"#/{word}/{name}": child for word in ("$defs", "definitions") for name, child in root.get(word, {}).items()
    }
    for name, child in definitions.items():
        edges[name] = {node["$ref"] for _, node in _nodes(child, "") if "$ref" in node}
    outside = {key: value for key, value in root.items() if key not in ("$defs", "definitions")}
    if any(node.get("$ref") == "#" for _, node in _nodes(root, "")):
        return True
    reached = {node["$ref"] for _, node in _nodes(outside, "") if "$ref" in node}
    return any(_reaches(edges, start, start) for start in _closure(edges, reached))


def _closure(edges: dict[str, set[str]], start: set[str]) -> set[str]:
    seen: set[str] = set()
    todo = list(start)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo.extend(edges.get(name, ()))
    return seen


def _reaches(edges: dict[str, set[str]], start: str, goal: str) -> bool:
    return goal in _closure(edges, edges.get(start, set()))

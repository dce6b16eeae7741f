"""Decide whether a schema can be compiled for structured output, and say what is wrong with it."""

import re
from collections.abc import Iterable
from typing import Any

from batchwork.simulator.errors import Refused, refuse_if
from batchwork.simulator.providers import ANTHROPIC
from batchwork.simulator.schema_nodes import nodes, resolved

_MOST_OPTIONAL = 24
_MOST_UNIONS = 16
_MOST_STRICT_TOOLS = 20
_FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")
_BAD_PATTERN = re.compile(r"\\[1-9]|\(\?[=!<]|\\b|\\B")


def check_schema(schema: Any, where: str) -> None:
    """Refuse what cannot be compiled."""
    if not isinstance(schema, dict):
        raise Refused(400, f"{where}: Input should be a valid dictionary")
    optional = unions = 0
    for path, node in nodes(schema):
        _check_node(node, ".".join((where, *path)), schema)
        properties = node.get("properties", {})
        optional += len(set(properties) - set(node.get("required", ())))
        unions += sum(_is_union(child) for child in properties.values())
    refuse_if(_recursive(schema), f"{where}: recursive schemas are not supported")
    refuse_if(optional > _MOST_OPTIONAL or unions > _MOST_UNIONS, "Schema is too complex for compilation.")


def check_strict_tools(tools: list[Any]) -> None:
    """Refuse too many strict tools, and strict tools whose schema cannot be compiled."""
    strict = [tool for tool in tools if isinstance(tool, dict) and tool.get("strict")]
    message = f"tools: at most {_MOST_STRICT_TOOLS} strict tools are supported, got {len(strict)}"
    refuse_if(len(strict) > _MOST_STRICT_TOOLS, message)
    for number, tool in enumerate(strict):
        check_schema(tool.get("input_schema"), f"tools.{number}.input_schema")


def _is_union(node: Any) -> bool:
    return isinstance(node, dict) and ("anyOf" in node or isinstance(node.get("type"), list))


def _check_node(node: dict[str, Any], path: str, root: dict[str, Any]) -> None:
    for word in ANTHROPIC.schema_refused:
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
    if any("$ref" in part for part in node.get("allOf", ()) if isinstance(part, dict)):
        raise Refused(400, f"{path}: 'allOf' with '$ref' is not supported")
    if "$ref" in node and resolved(root, node["$ref"]) is None:
        raise Refused(400, f"{path}: cannot resolve $ref '{node['$ref']}'; external references are not supported")


def _recursive(root: dict[str, Any]) -> bool:
    """Whether a definition that is used leads back to itself."""
    edges = {
        f"#/{word}/{name}": _references(child)
        for word in ("$defs", "definitions")
        for name, child in root.get(word, {}).items()
    }
    used = _reached(edges, _references({key: root[key] for key in root.keys() - {"$defs", "definitions"}}))
    return "#" in _references(root) or any(name in _reached(edges, edges.get(name, ())) for name in used)


def _references(schema: Any) -> set[str]:
    return {node["$ref"] for _, node in nodes(schema) if "$ref" in node}


def _reached(edges: dict[str, set[str]], start: Iterable[str]) -> set[str]:
    reached: set[str] = set()
    todo = set(start)
    while todo:
        reached |= todo
        todo = {target for name in todo for target in edges.get(name, ())} - reached
    return reached

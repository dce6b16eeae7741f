"""Makes one plain schema of `allOf`, and of a reference with other keywords beside it: no provider takes these whole.

A value that fits the result fits all parts, as far as one schema can say that; what cannot be combined is set aside as
a hint. The answer is checked against the user's schema anyhow.
"""

from typing import Any

from batchwork.core.errors import SchemaError
from batchwork.schema.checked_schema import CheckedSchema
from batchwork.schema.keywords import ANNOTATIONS, SILENT, Node, types_of

HINTS = "\0hints"  # no keyword can be called that: where what could not be combined waits for the description
_HIGHEST = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_LOWEST = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})


def flattened(schema: CheckedSchema, node: Node, place: str, inside: frozenset[str] = frozenset()) -> Node:
    """The schema without `allOf`, and with `$ref` only when it stands alone.

    `inside` are the references being followed, so that a recursive one stays a reference.
    """
    if isinstance(node, bool):
        return node
    own = {key: held for key, held in node.items() if key not in ("allOf", "$ref", HINTS) and key not in SILENT}
    target = schema.target(node, place)
    if target is not None and "allOf" not in node and not own.keys() - {"default", "examples", "title"}:
        return {"$ref": node["$ref"]}
    parts: list[Node] = [own]
    if target is not None:
        if target in inside:
            return {"$ref": node["$ref"]}
        parts.append(flattened(schema, schema.places[target], target, inside | {target}))
    for index, part in enumerate(node.get("allOf", ())):
        parts.append(flattened(schema, part, f"{place}/allOf/{index}", inside))
    return _whole(schema, [part for part in parts if part not in (True, {})], place, inside)


def _whole(schema: CheckedSchema, parts: list[Node], place: str, inside: frozenset[str]) -> Node:
    if len(parts) == 1:
        return parts[0]
    result: dict[str, Any] = {}
    for part in parts:
        if part is False:
            raise SchemaError(place, "nothing can ever fit here")
        assert isinstance(part, dict)
        if "$ref" in part:
            target, there = schema.referred(part, place)
            if target in inside:
                return {"$ref": part["$ref"]}  # looser than it was, and the only way to end
            part = flattened(schema, there, target, inside | {target})  # noqa: PLW2901
            if not isinstance(part, dict) or "$ref" in part:
                raise SchemaError(place, "this combination of references cannot be made one schema")
        result = merged(result, part, place)
    return result


def merged(one: dict[str, Any], other: dict[str, Any], place: str) -> dict[str, Any]:
    """One schema that says what both say; a SchemaError when they contradict each other."""
    result = dict(one)
    for keyword, held in other.items():
        if keyword not in result:
            result[keyword] = held
        elif result[keyword] != held:
            _combine(result, keyword, held, place)
    return result


def _combine(result: dict[str, Any], keyword: str, held: Any, place: str) -> None:
    mine = result[keyword]
    if keyword == "type":
        both = [name for name in _widened(result) if name in _widened({"type": held})]
        narrow = [name for name in both if not (name == "number" and "integer" in both)]
        if not narrow:
            raise SchemaError(place, f"the parts of allOf contradict each other: {mine!r} and {held!r}")
        result["type"] = narrow[0] if len(narrow) == 1 else narrow
    elif keyword == "properties":
        result[keyword] = mine | {
            name: {"allOf": [mine[name], part]} if name in mine and mine[name] != part else part
            for name, part in held.items()
        }
    elif keyword == "items" and isinstance(mine, dict) and isinstance(held, dict):
        result[keyword] = {"allOf": [mine, held]}
    elif keyword == "required":
        result[keyword] = list(dict.fromkeys([*mine, *held]))
    elif keyword == "enum":
        result[keyword] = [option for option in mine if option in held]
        if not result[keyword]:
            raise SchemaError(place, "the parts of allOf have no allowed value in common")
    elif keyword in _HIGHEST and _are_numbers(mine, held):
        result[keyword] = max(mine, held)
    elif keyword in _LOWEST and _are_numbers(mine, held):
        result[keyword] = min(mine, held)
    elif keyword == "description":
        result[keyword] = f"{mine} {held}"
    elif keyword == "additionalProperties":
        result[keyword] = False if False in (mine, held) else mine if held is True else held
    elif keyword not in ANNOTATIONS:
        result[HINTS] = [*result.get(HINTS, ()), (keyword, held)]


def _widened(node: dict[str, Any]) -> list[str]:
    """The types of a schema, `integer` being a `number` too, so that the two have something in common."""
    named = list(types_of(node))
    return ["integer", *named] if "number" in named and "integer" not in named else named


def _are_numbers(*values: object) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)

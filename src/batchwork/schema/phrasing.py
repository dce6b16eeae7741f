"""Small turns of phrase for wire schemas: what applies to which type, how a rule reads as a hint, what may be null."""

from collections.abc import Collection
from typing import Any

import msgspec

_LONGEST_HINT = 200
_OF: dict[str, frozenset[str]] = {
    "string": frozenset({"minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
    "array": frozenset(
        {"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains"}
        | {"unevaluatedItems", "additionalItems"}
    ),
    "object": frozenset(
        {"properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties"}
        | {"maxProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties"}
    ),
}
_GUESSED_FROM: dict[str, Collection[str]] = {
    "object": ("properties",),
    "array": ("items", "prefixItems"),
    "string": _OF["string"],
    "number": _OF["number"],
}


def applies(keyword: str, types: tuple[str, ...]) -> bool:
    """Whether the keyword says anything about values of these types; unknown ones may."""
    owner = next((name for name, keywords in _OF.items() if keyword in keywords), None)
    return owner is None or owner in types or (owner == "number" and "integer" in types)


def guessed(node: dict[str, Any]) -> tuple[str, ...]:
    """The type of a schema that names none, from what it says; none when that could be several."""
    found = [name for name, keywords in _GUESSED_FROM.items() if any(keyword in node for keyword in keywords)]
    return (found[0],) if len(found) == 1 else ()


def type_names(value: Any) -> set[str]:
    """The types a plain value is of."""
    if value is None:
        return {"null"}
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, str):
        return {"string"}
    return {"integer", "number"} if isinstance(value, int) or value.is_integer() else {"number"}


def narrow_type(value: Any, named: tuple[str, ...]) -> str:
    """The one type to state for a plain value: one that was named, if any."""
    names = type_names(value)
    stated = [name for name in named if name in names]
    if stated:
        return stated[0]
    return "integer" if isinstance(value, int) and not isinstance(value, bool) else min(names - {"integer"} or names)


def hint(told: list[tuple[str, Any]]) -> str:
    """Rules as a note for the model: `{minimum: 1, maxLength: 20}`."""
    return "{" + ", ".join(f"{keyword}: {_short(held)}" for keyword, held in told) + "}"


def _short(held: Any) -> str:
    text = msgspec.json.encode(held).decode()
    return text if len(text) <= _LONGEST_HINT else text[: _LONGEST_HINT - 3] + "..."


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


def is_simple_pattern(pattern: str) -> bool:
    """Whether a pattern needs no looking around, no referring back and no word boundaries."""
    at = 0
    while at < len(pattern):
        if pattern[at] == "\\":
            if pattern[at + 1 : at + 2] in tuple("123456789kbB"):
                return False
            at += 2
            continue
        if pattern.startswith(("(?=", "(?!", "(?<=", "(?<!"), at):
            return False
        at += 1
    return True

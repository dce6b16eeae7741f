"""Requests that make the preparation, the check or the extraction of an answer expensive, in two sizes."""

import json
from collections.abc import Callable
from typing import Any

Request = tuple[str, dict[str, Any]]


def one(answer: Any, schema: Any = None, **fields: Any) -> Request:
    """A prompt whose echo is the answer."""
    body: dict[str, Any] = {"prompt": answer if isinstance(answer, str) else json.dumps(answer), **fields}
    if schema is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": {"schema": schema}}
    return "/api/v1/prompt", body


def many(requests: list[Request]) -> Request:
    return "/api/v1/prompts", {"prompts": [body for _, body in requests]}


def own_schema(number: int, fields: int = 20) -> dict[str, Any]:
    """An ordinary schema that nobody else has."""
    names = [f"f{number}_{n}" for n in range(fields)]
    kinds = [{"type": "string", "description": "the value of it"}, {"type": "number", "minimum": 0}]
    return {
        "type": "object",
        "properties": {name: kinds[n % 2] for n, name in enumerate(names)},
        "required": names,
        "additionalProperties": False,
    }


def own_answer(number: int, fields: int = 20) -> dict[str, Any]:
    return {f"f{number}_{n}": n if n % 2 else "x" for n in range(fields)}


def ordinary(count: int) -> Request:
    return many([one(own_answer(n), own_schema(n)) for n in range(count)])


def _refs(alternatives: int, fields: int) -> dict[str, Any]:
    names = [f"p{n}" for n in range(fields)]
    wanted = {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names}
    return {
        "items": {"anyOf": [{"$ref": f"#/$defs/d{n}"} for n in range(alternatives)]},
        "$defs": {f"d{n}": wanted for n in range(alternatives)},
    }


def _recursive_union(depth: int) -> Request:
    parts = [{"properties": {"x": {"$ref": "#/$defs/n"}}, "required": [f"y{n}"]} for n in range(3)]
    answer: Any = 2
    for _ in range(depth):
        answer = {"x": answer}
    return one(answer, {"$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [*parts, {"const": 1}]}}})


def _deep_mistake(depth: int, patterns: int) -> Request:
    schema: Any = {"properties": {f"p{k}": {"pattern": f"[a-z]{{3}}{k}"} for k in range(patterns)}}
    answer: Any = {"p0": "?"}
    for _ in range(depth):
        schema, answer = {"properties": {"x": schema}}, {"x": answer}
    return one(answer, schema)


def attacks(size: float) -> dict[str, Callable[[], Request]]:
    """Every attack by what is done, made when it is called; 1.0 is the size that the largest body just takes."""

    def n(count: int) -> int:
        return max(2, int(count * size))

    looks_around = [{"pattern": rf"^(?!b)(a|a|{'b' * k})*$"} for k in range(n(150))]
    thrashing = [{"pattern": f"(a|b)*a(a|b){{15}}c{k}"} for k in range(n(200))]
    return {
        "patterns that repeat much": lambda: one(
            "x", {"anyOf": [{"pattern": f"a{{900}}b{{{k}}}[^c]{{800}}"} for k in range(80)]}
        ),
        "patterns in patterns": lambda: one("x", {"pattern": "((((a{20}){20}){20}){20}){20}"}),
        "classes of Unicode": lambda: one(
            "x", {"patternProperties": {rf"\p{{L}}{{{k + 9}}}": True for k in range(20)}}
        ),
        "patterns that look around": lambda: one("a" * 50 + "!", {"allOf": looks_around}),
        "wide classes behind a look-ahead": lambda: one(
            "x", {"anyOf": [{"pattern": rf"(?=a)\w{{2}}\d{{9}}{k}"} for k in range(n(22))]}
        ),
        "many small patterns": lambda: one(
            '{"p0": ""}', {"properties": {f"p{k}": {"pattern": rf"\d+{k}"} for k in range(n(200))}}
        ),
        "a mistake deep inside": lambda: _deep_mistake(28, n(60)),
        "patterns that thrash": lambda: one("ab" * n(2000), {"allOf": thrashing}),
        "a pattern on a long text": lambda: one(json.dumps("ab" * n(1_000_000)), {"pattern": "(a|b)*a(a|b){15}c"}),
        "patterns for properties": lambda: one(
            {f"k{k}": 1 for k in range(n(5000))}, {"patternProperties": {f"^k.*{k}$": False for k in range(n(200))}}
        ),
        "a union of failing references": lambda: one([{"a": k} for k in range(n(200))], _refs(n(200), 20)),
        "a union that recurses": lambda: _recursive_union(30),
        "wrong elements": lambda: one([1] * n(300_000), {"items": {"type": "string"}}),
        "unique elements": lambda: one([[k] for k in range(n(300_000))], {"uniqueItems": True}),
        "contains": lambda: one(
            [{"a": 1}] * n(50_000), {"contains": {"anyOf": [{"required": [f"x{k}"]} for k in range(n(500))]}}
        ),
        "a chain of references": lambda: one(
            [1] * n(2000),
            {"items": {"$ref": "#/$defs/d0"}}
            | {"$defs": {f"d{k}": {"$ref": f"#/$defs/d{k + 1}"} for k in range(n(3000))} | {f"d{n(3000)}": {}}},
        ),
        "a long enumeration": lambda: one(
            [f"x{k}" for k in range(n(1000))], {"items": {"enum": [f"v{k}" for k in range(19_000)]}}
        ),
        "exact fractions": lambda: one([1e308] * n(5000), {"items": {"multipleOf": 1e-300}}),
        "unevaluated properties": lambda: one(
            {f"k{k}": 1 for k in range(n(3000))},
            {"allOf": [{"properties": {f"k{k}": True}} for k in range(n(1500))], "unevaluatedProperties": False},
        ),
        "a format of formats": lambda: one(
            [rf"\p{{L}}{{40}}{k}" for k in range(n(300))], {"items": {"format": "regex"}}
        ),
        "a large schema": lambda: one("{}", own_schema(0, n(3000))),
        "a schema beyond all limits": lambda: one("x", {"enum": ["a"] * n(1_500_000)}),
        "every element of every element": lambda: one([[[1] * 10] * 100] * n(700), extract_field_path="[*][*][*]"),
        "a field of a large answer": lambda: one("[" + ",".join(["[]"] * n(2_500_000)) + "]", extract_field_path="[0]"),
        "brackets without end": lambda: one("[ " * n(3_000_000), {"type": "array"}),
        "nearly JSON, again and again": lambda: one(("[" + "1," * 8000) * n(60), {"type": "array"}),
        "very many content blocks": lambda: (
            "/api/v1/prompt",
            {"messages": [{"role": "user", "content": [{"type": "text", "text": ""}] * n(200_000)}]},
        ),
        "a schema for each of a thousand prompts": lambda: many(
            [
                one("{}", {"properties": {f"p{k}_{m}": {"type": "string"} for m in range(n(200))}})
                for k in range(n(1000))
            ]
        ),
        "wrong answers to a thousand prompts": lambda: many(
            [one("[" + "[]," * 300 + "[]]", {"items": False})] * n(1000)
        ),
    }

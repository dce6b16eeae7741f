"""An answer with quotes: its schema, and what of it is judged."""

import json
from typing import Any

import pytest

from batchwork.core.request import Schema
from batchwork.schema import (
    Accepted,
    QuotedChecker,
    Rejected,
    answer_schema,
    check_schema,
    compile_for,
    is_quoted,
    quoted_schema,
    quotes_in,
)
from batchwork.schema.checker import SchemaChecker

_CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_TREE = {"type": "object", "properties": {"name": {"type": "string"}, "parts": {"type": "array", "items": {}}}}
_SCHEMAS: dict[str, Any] = {
    "plain": _CITY,
    "a list": {"type": "array", "items": {"type": "integer"}},
    "definitions": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/n"}, "b": {"$ref": "#/%24defs/n"}, "c": {"$ref": "#/properties/a"}},
        "required": ["a"],
        "$defs": {"n": {"type": "integer", "description": "a number"}},
    },
    "recursive definition": {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "n": {"type": "integer"},
                    "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
                },
                "required": ["n"],
            }
        },
    },
    "recursive root": {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "next": {"$ref": "#"}, "$ref": {"const": "#"}},
        "required": ["n"],
    },
    "anchor": {
        "type": "object",
        "properties": {"a": {"$anchor": "here", "type": "integer"}, "b": {"$ref": "#here"}},
        "required": ["a", "b"],
    },
}
_VALUES = {
    "plain": ({"city": "Oslo"}, {"city": 1}),
    "a list": ([1, 2], ["x"]),
    "definitions": ({"a": 1, "b": 2, "c": 3}, {"a": 1, "c": "x"}),
    "recursive definition": ({"n": 1, "next": {"n": 2}}, {"n": 1, "next": {"n": "x"}}),
    "recursive root": ({"n": 1, "next": {"n": 2}}, {"n": 1, "next": {"n": "x"}}),
    "anchor": ({"a": 1, "b": 2}, {"a": 1, "b": "x"}),
}


@pytest.mark.parametrize("name", _SCHEMAS)
def test_references_lead_inside_the_frame_where_they_led_before(name: str) -> None:
    user = Schema.of(_SCHEMAS[name])
    framed = quoted_schema(user)
    good, bad = _VALUES[name]
    validator = check_schema(framed.body).validator
    assert validator.is_valid({"answer": good, "quotes": [{"field": "a", "quote": "b"}]})
    assert not validator.is_valid({"answer": bad, "quotes": []})
    assert not validator.is_valid({"answer": good})
    assert answer_schema(framed).body == user.body
    assert list(framed.body["properties"]) == ["answer", "quotes"]
    assert is_quoted(framed)
    assert not is_quoted(user)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_the_frame_is_taken_by_every_provider_that_takes_the_users_schema(provider: Any) -> None:
    for name in ("plain", "a list", "definitions", *(["recursive definition"] if provider == "openai" else [])):
        compile_for(provider, _SCHEMAS[name])
        made = compile_for(provider, quoted_schema(Schema.of(_SCHEMAS[name])).body)
        assert list(made["properties"]) == ["answer", "quotes"]
        assert made["required"] == ["answer", "quotes"]


_WHOLE = (
    '{"answer": {"city": "Oslo"}, "quotes": [{"field": "city", "quote": "City: Oslo"}, {"field": "x", "quote": "y"}]}'
)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (_WHOLE, 2),
        (f"```json\n{_WHOLE}\n```", 2),
        (_WHOLE[:-20], 1),
        (_WHOLE[:60], 0),
        (_WHOLE[:30], 0),
        (_WHOLE[:27], 0),
        ('{"answer": {"city": "Oslo"}}', 0),
        ('{"answer": {"city": "Oslo"}, "quotes": null}', 0),
        ('{"answer": {"city": "Oslo"}, "quotes": [3, {"field": 1, "quote": "x"}, {"quote": "x"}]}', 0),
        (
            '{"answer": {"city": "Oslo"}, "quotes": [{"field": "a", "quote": "b"}, {"field": "c", "quote": "a "x""}]}',
            1,
        ),
        ('{"city": "Oslo"}', 0),
    ],
)
@pytest.mark.parametrize("truncated", [False, True])
def test_a_valid_answer_is_accepted_whatever_became_of_its_quotes(text: str, count: int, truncated: bool) -> None:
    judged = QuotedChecker(SchemaChecker(_CITY)).check(text, truncated=truncated)
    assert judged == Accepted({"city": "Oslo"})
    assert len(quotes_in(text)) == count


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": {"city": "Os',
        '{"answer": {"city": 7}, "quotes": []}',
        '{"answer": {"city": 7}, "quotes": [{"field"',
        '{"quotes": []}',
        '{"answer": {"city": "Oslo"}, "quotes": []} {"answer": {"city": "Rome"}, "quotes": []}',
        "",
        "Oslo",
    ],
)
def test_an_answer_that_does_not_fit_or_is_cut_off_itself_is_not(text: str) -> None:
    assert isinstance(QuotedChecker(SchemaChecker(_CITY)).check(text), Rejected)


def test_a_number_at_the_cut_is_not_taken_for_whole() -> None:
    checker = QuotedChecker(SchemaChecker({"type": "integer"}))
    assert isinstance(checker.check('{"answer": 12', truncated=True), Rejected)
    assert checker.check('{"answer": 12, "quo', truncated=True) == Accepted(12)


def test_a_schema_of_the_user_may_have_the_same_names() -> None:
    schema = {"type": "object", "properties": {"answer": {"type": "string"}, "quotes": {"type": "array"}}}
    checker = QuotedChecker(SchemaChecker(schema | {"required": ["answer"]}))
    assert checker.check('{"answer": {"answer": "x", "quotes": [1]}, "quotes": []}') == Accepted(
        {"answer": "x", "quotes": [1]}
    )
    assert checker.check('{"answer": "x"}') == Accepted({"answer": "x"})


def test_the_cut_of_an_answer_is_read_in_one_pass() -> None:
    listed = [{"field": f"items[{n}]", "quote": "x" * 50} for n in range(2_000)]
    text = json.dumps({"answer": {"city": "Oslo"}, "quotes": listed})
    assert len(quotes_in(text[:-10])) == 1_999

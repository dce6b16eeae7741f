import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from batchwork.core.errors import ConfigError
from batchwork.schema import Limits, SchemaChecker, SchemaError, check_schema, compile_for, response_model_from_schema


def _doubling(levels: int) -> dict[str, Any]:
    """Each definition uses the next one twice: short to write, two to the power of `levels` when unfolded."""
    definitions: dict[str, Any] = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]} for n in range(levels)
    }
    return {"$ref": "#/$defs/d0", "$defs": definitions | {f"d{levels}": {"type": "string"}}}


def _nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"not": schema}
    return schema


@pytest.mark.parametrize(
    ("schema", "place", "problem"),
    [
        (None, "", "not null"),
        ([], "", "not a list"),
        ("object", "", "not text"),
        (17, "", "not a int"),
        ({"properties": {"a": {"type": "strin"}}}, "/properties/a/type", "no type"),
        ({"properties": {"a": {"minimum": "x"}}}, "/properties/a/minimum", 'not of type "number"'),
        ({"properties": {"a/b": 5}}, "/properties/a~1b", "not of types"),
        ({"$ref": "https://example.com/s.json"}, "/$ref", "leads out"),
        ({"items": {"$ref": "file:///etc/passwd"}}, "/items/$ref", "leads out"),
        ({"$ref": "other.json#/a"}, "/$ref", "leads out"),
        ({"$ref": "#/$defs/gone"}, "/$ref", "leads nowhere"),
        ({"$ref": "#gone"}, "/$ref", "leads nowhere"),
        ({"$ref": "#/enum/0", "enum": [5]}, "/$ref", "leads nowhere"),
        ({"$ref": 5}, "/$ref", "must be text"),
        ({"$ref": "#"}, "", "refers to itself"),
        ({"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}}, "/$defs/a", "itself"),
        ({"$dynamicRef": "#x"}, "/$dynamicRef", "not supported"),
        ({"properties": {"a": {"$id": "https://example.com/"}}}, "/properties/a/$id", "address of its own"),
        ({"$schema": "urn:unheard-of"}, "", "urn:unheard-of"),
        ({"pattern": "("}, "/pattern", "regex"),
        ({"pattern": "(a{1000}){1000}"}, "/pattern", "regex"),
        ({"pattern": "a" * 3000}, "/pattern", "longer than 2000"),
        ({"patternProperties": {f"p{n}": {} for n in range(300)}}, "", "patterns"),
        ({"const": float("nan")}, "/const", "not JSON"),
        ({"enum": [{1, 2}]}, "/enum/0", "not JSON"),
        ({5: {}}, "", "not text"),
        ({"title": "\ud800"}, "/title", "surrogate"),
        ({"enum": list(range(30_000))}, "", "too large"),
        ({"description": "x" * 600_000}, "", "too large"),
        (_nested(70), "/not" * 64, "64 levels"),
        (_doubling(40), "", "unfold"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_with_the_place(schema: Any, place: str, problem: str) -> None:
    with pytest.raises(SchemaError) as caught:
        check_schema(schema)
    assert caught.value.place[: len(place) or None] == place[:200]
    assert problem in str(caught.value)
    assert isinstance(caught.value, ConfigError)


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {"$id": "https://example.com/s", "$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
        {
            "$ref": "#/components/schemas/a",
            "components": {"schemas": {"a": {"items": {"$ref": "#/components/b"}}}, "b": {}},
        },
        {"$ref": "#here", "$defs": {"a": {"$anchor": "here", "type": "string"}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {}}, "items": [{}, {}]},
        {"properties": {"next": {"$ref": "#"}}},
        {"pattern": r"^(?=.*\d).{8,}$"},
        {"unknown keyword": {"type": 5}},
        {"properties": {"$ref": {"type": "string"}}},
        {"$ref": "#/$defs/a%20b", "$defs": {"a b": {}}},
    ],
)
def test_a_schema_that_can_be_used_is_taken(schema: Any) -> None:
    assert "" in check_schema(schema).places, "the whole of it can be walked"


def test_a_checked_schema_passes_as_it_is_and_does_not_change_with_the_callers() -> None:
    mine: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    checked = check_schema(mine)
    mine["properties"]["a"]["type"] = "integer"
    assert check_schema(checked) is checked
    assert checked.validator.is_valid({"a": "text"})


def test_limits_can_be_set() -> None:
    with pytest.raises(SchemaError, match="too large: more than 3 values"):
        check_schema({"type": "object", "properties": {"a": {}}}, limits=Limits(max_nodes=3))


@pytest.mark.parametrize("pattern", ["(a+)+$", "^(a|a)*$", "^(?=(a+)+$)x", r"^(\w+\s?)*$"])
def test_a_hostile_pattern_costs_little(pattern: str) -> None:
    checker = SchemaChecker({"type": "string", "pattern": pattern})
    began = time.process_time()
    checker.check_value("a" * 100_000 + "!")
    assert time.process_time() - began < 1


def test_a_long_chain_of_references_ends_in_an_answer_or_a_clear_error() -> None:
    chain: dict[str, Any] = {
        f"d{n}": {"type": "object", "properties": {"x": {"$ref": f"#/$defs/d{n + 1}"}}} for n in range(2_000)
    }
    schema = {"$ref": "#/$defs/d0", "$defs": chain | {"d2000": {"type": "string"}}}
    check_schema(schema)
    for build in (lambda: compile_for("openai", schema), lambda: response_model_from_schema(schema)):
        with pytest.raises(SchemaError, match="too"):
            build()


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
_KEYWORDS = st.sampled_from(
    ["type", "properties", "items", "$ref", "$defs", "enum", "const", "anyOf", "oneOf", "allOf"]
)
_MORE = st.sampled_from(
    ["not", "required", "additionalProperties", "pattern", "format", "minimum", "default", "prefixItems"]
)
_WORDS = st.sampled_from(["object", "string", "array", "#", "#/$defs/a", "#/properties/a", "a", "date", "("])
_NEARLY = st.recursive(
    _JSON | _WORDS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(_KEYWORDS | _MORE | st.just("a"), inner, max_size=4)
        | st.dictionaries(st.just("a"), inner, max_size=1)
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(_JSON | _NEARLY, _JSON)
def test_anything_at_all_as_a_schema_is_used_or_refused(schema: Any, value: Any) -> None:
    try:
        checked = check_schema(schema)
    except SchemaError:
        return
    SchemaChecker(checked).check_value(value) if _is_json(value) else None
    with suppress(SchemaError):
        compile_for("anthropic", checked)
    with suppress(SchemaError):
        compile_for("openai", checked)
    assert issubclass(response_model_from_schema(checked), BaseModel)


def _is_json(value: Any) -> bool:
    if isinstance(value, float):
        return value == value and abs(value) != float("inf")
    if isinstance(value, dict | list):
        return all(map(_is_json, value.values() if isinstance(value, dict) else value))
    return True

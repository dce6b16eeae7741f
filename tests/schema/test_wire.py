"""The schema as each provider takes it."""

from typing import Any

import pytest

from batchwork.schema import SchemaError, compile_for


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _closed(**properties: Any) -> dict[str, Any]:
    return {**_object(**properties), "additionalProperties": False}


def test_what_anthropic_does_not_take_is_told_in_the_description() -> None:
    schema = _object(
        n={"type": "integer", "minimum": 1, "description": "how many"},
        s={"type": "string", "maxLength": 5, "pattern": r"^\d+$", "format": "date"},
        p={"type": "string", "pattern": r"(?=a)b"},
        l={"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 3},
        m={"type": "array", "items": {"type": "string"}, "minItems": 1},
        d={"type": "string", "default": "x", "format": "made-up"},
    )
    assert compile_for("anthropic", schema)["properties"] == {
        "n": {"type": "integer", "description": "how many\n{minimum: 1}"},
        "s": {"type": "string", "pattern": r"^\d+$", "format": "date", "description": "{maxLength: 5}"},
        "p": {"type": "string", "description": '{pattern: "(?=a)b"}'},
        "l": {"type": "array", "items": {"type": "string"}, "description": "{minItems: 2, maxItems: 3}"},
        "m": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "d": {"type": "string", "default": "x", "description": '{format: "made-up"}'},
    }


def test_openai_takes_bounds_and_wants_every_property() -> None:
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 1},
            "s": {"type": "string", "minLength": 2},
            "e": {"enum": ["a", "b"]},
            "c": {"const": 1},
            "o": _object(x={"type": "string"}),
            "r": {"$ref": "#/$defs/r"},
            "z": {"type": ["string", "null"]},
        },
        "required": ["n"],
        "$defs": {"r": {"type": "boolean"}},
    }
    null = {"type": "null"}
    assert compile_for("openai", schema) == {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 1},
            "s": {"type": ["string", "null"], "description": "{minLength: 2}"},
            "e": {"type": ["string", "null"], "enum": ["a", "b", None]},
            "c": {"anyOf": [{"type": "integer", "const": 1}, null]},
            "o": {"anyOf": [_closed(x={"type": "string"}), null]},
            "r": {"anyOf": [{"$ref": "#/$defs/r"}, null]},
            "z": {"type": ["string", "null"]},
        },
        "required": ["n", "s", "e", "c", "o", "r", "z"],
        "additionalProperties": False,
        "$defs": {"r": {"type": "boolean"}},
    }


@pytest.mark.parametrize("schema", [{"type": "array", "items": {"type": "string"}}, {"enum": ["a", "b"]}])
def test_a_root_that_is_no_object_is_wrapped_for_openai_alone(schema: dict[str, Any]) -> None:
    wrapped = compile_for("openai", schema)
    assert list(wrapped["properties"]) == ["value"]
    assert wrapped["properties"]["value"] == compile_for("anthropic", schema)


def test_a_union_at_the_root_is_wrapped_too() -> None:
    schema = {"anyOf": [_object(a={"type": "string"}), _object(b={"type": "string"})]}
    assert len(compile_for("openai", schema)["properties"]["value"]["anyOf"]) == 2


def test_recursion_is_kept_for_openai_and_refused_for_anthropic() -> None:
    schema = {"type": "array", "items": {"$ref": "#/$defs/node"}, "$defs": {"node": _object(kids={"$ref": "#"})}}
    wire = compile_for("openai", schema)
    assert wire["properties"]["value"]["items"] == {"$ref": "#/$defs/node"}
    assert wire["$defs"]["node"]["properties"]["kids"] == {"$ref": "#/$defs/root"}
    with pytest.raises(SchemaError, match="recursive") as caught:
        compile_for("anthropic", schema)
    assert caught.value.place in ("", "/$defs/node")


def test_unions_are_anyof_and_what_stands_beside_them_goes_into_each() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        "description": "one or the other",
    }
    wire = compile_for("anthropic", schema)
    assert wire["description"] == "one or the other"
    assert [branch["required"] for branch in wire["anyOf"]] == [["a"], ["b"]]
    assert all(branch["properties"].keys() == {"a", "b"} for branch in wire["anyOf"])


def test_a_tuple_is_a_list_of_either_with_a_hint() -> None:
    schema = _object(t={"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]})
    compiled = compile_for("anthropic", schema)["properties"]["t"]
    assert compiled["items"] == {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    assert "prefixItems" in compiled["description"]


@pytest.mark.parametrize(
    ("schema", "place", "problem"),
    [
        (True, "", "needs to know the type"),
        (_object(a={}), "/properties/a", "needs to know the type"),
        (_object(a={"description": "anything"}), "/properties/a", "needs to know the type"),
        ({"type": "object"}, "", "an object of any keys"),
        (_object(a={"type": "object", "additionalProperties": {"type": "string"}}), "/properties/a", "of any keys"),
        (_object(a={"type": "array"}), "/properties/a", "what the items are"),
        (_object(a={"enum": [{"b": 1}]}), "/properties/a/enum", "only plain values"),
        ({**_object(a={"type": "string"}), "required": ["b"]}, "/required", "'b' is required"),
        (_object(a={"allOf": [{"type": "string"}, {"type": "integer"}]}), "/properties/a", "contradict"),
        (_object(a={"anyOf": [False]}), "/properties/a", "nothing can ever fit"),
    ],
)
@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_what_a_provider_cannot_express_is_an_error_with_its_place(
    provider: Any, schema: Any, place: str, problem: str
) -> None:
    with pytest.raises(SchemaError, match=problem) as caught:
        compile_for(provider, schema)
    assert caught.value.place == place


def test_unions_beside_unions_do_not_multiply_without_end() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(6):
        schema = {"anyOf": [{"title": f"t{n}"} for n in range(8)], "oneOf": [_object(a=schema), _object(b=schema)]}
    with pytest.raises(SchemaError, match="too complex"):
        compile_for("openai", schema)

"""One schema of several."""

from typing import Any

from batchwork.schema import compile_for


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def test_the_parts_of_allof_become_one() -> None:
    schema = {
        "allOf": [
            {"$ref": "#/$defs/base"},
            {"properties": {"n": {"minimum": 3}, "x": {"type": "string"}}, "required": ["x"]},
        ],
        "$defs": {"base": _object(n={"type": "number", "minimum": 1})},
    }
    wire = compile_for("openai", schema)
    assert wire["properties"] == {"n": {"type": "number", "minimum": 3}, "x": {"type": "string"}}
    assert wire["required"] == ["n", "x"]


def test_a_description_beside_a_reference_survives() -> None:
    schema = _object(a={"$ref": "#/$defs/s", "description": "mine"})
    schema["$defs"] = {"s": {"type": "string", "description": "theirs"}}
    for provider in ("anthropic", "openai"):
        assert compile_for(provider, schema)["properties"]["a"]["description"] == "mine theirs"  # type: ignore[arg-type]

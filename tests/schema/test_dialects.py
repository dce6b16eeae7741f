"""The providers' own limits."""

from typing import Any

import pytest

from batchwork.core.errors import ConfigError
from batchwork.schema import Accepted, SchemaChecker, SchemaError, compile_for


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def test_optional_properties_beyond_anthropics_count_become_nullable_and_still_count_as_absent() -> None:
    schema = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(30)}}
    wire = compile_for("anthropic", schema)
    assert len(wire["required"]) == 6
    assert wire["properties"]["p29"] == {"type": ["string", "null"]}
    assert SchemaChecker(schema).check('{"p0": "a", "p29": null}') == Accepted({"p0": "a"})
    with pytest.raises(SchemaError, match="too complex for anthropic"):
        compile_for("anthropic", {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(50)}})


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        (_object(**{f"p{n}": {"enum": [f"{n}-{m}" for m in range(20)]} for n in range(60)}), "allowed values"),
        (_object(**{f"p{n}": {"type": "string"} for n in range(5_001)}), "properties"),
    ],
)
def test_openais_counts_are_kept(schema: Any, problem: str) -> None:
    with pytest.raises(SchemaError, match=f"too complex for openai: .* {problem}"):
        compile_for("openai", schema)


def test_openai_takes_ten_levels_and_no_more() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(10):
        schema = _object(a=schema)
    compile_for("openai", schema)
    with pytest.raises(SchemaError, match="levels"):
        compile_for("openai", _object(a=schema))


def test_a_provider_nobody_knows_is_named_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="'acme'; known are anthropic, gemini, openai"):
        compile_for("acme", {"type": "string"})  # type: ignore[arg-type]

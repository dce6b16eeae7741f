"""Schemas of requests, checked once each."""

from typing import Any

import pytest

from batchwork.prompts.schema_cache import is_large, keep_schema, usable_schema
from batchwork.schema import SchemaError


def wide(name: str) -> dict[str, Any]:
    """A schema so large that another process should check it; `name` makes it one of a kind."""
    return {"type": "object", "properties": {f"{name}{n}": {"type": "string"} for n in range(3000)}}


def test_the_same_schema_is_made_once_however_often_it_comes() -> None:
    body = {"type": "object", "properties": {"once": {"type": "integer"}}}
    assert usable_schema(body, "answer") is usable_schema(dict(body), "answer")
    assert usable_schema(body, "other").name == "other"


def test_a_schema_that_cannot_be_used_is_refused_every_time_at_its_place() -> None:
    for _ in range(2):
        with pytest.raises(SchemaError) as wrong:
            usable_schema({"properties": {"a": {"type": "nothing"}}}, "answer")
        assert wrong.value.place == "/properties/a/type"


def test_what_another_process_has_found_out_is_not_checked_again() -> None:
    good, bad = wide("good"), wide("bad")
    assert is_large(good, "answer", "mock")
    keep_schema(good, "answer", "mock")
    keep_schema(bad, "answer", "mock", problem=SchemaError("/x", "no"))
    assert not is_large(good, "answer", "mock")
    assert usable_schema(good, "answer", "mock").body == good
    with pytest.raises(SchemaError, match="no"):
        usable_schema(bad, "answer", "mock")


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(SchemaError):
        usable_schema({"const": object()}, "answer")

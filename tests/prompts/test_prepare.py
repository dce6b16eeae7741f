"""The first phase: pure, and before any call."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batchwork.core.request import Message
from batchwork.prompts import PromptDefaults, PromptItem, prepare_all, prepare_prompt_request
from batchwork.prompts.prepare import is_large, keep_schema, usable_schema
from batchwork.schema import ANY_SERVER, SchemaError

DEFAULTS = PromptDefaults(model="mock:echo", models={"mock:echo": "mock", "strict": "anthropic"}, system="be brief")


def schema_of(body: Any, name: str = "answer") -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": body}}


def test_what_the_caller_leaves_out_is_filled_in() -> None:
    prepared = prepare_prompt_request("hello", DEFAULTS, index=3)
    assert prepared.index == 3
    assert prepared.request is not None
    assert prepared.request.messages == (Message("user", "hello"),)
    assert (prepared.request.model, prepared.request.system, prepared.request.max_tokens) == (
        "mock:echo",
        "be brief",
        1024,
    )


def test_a_dict_and_an_item_of_the_same_fields_are_the_same() -> None:
    fields: dict[str, Any] = {"prompt": "x", "system": "y", "max_tokens": 7, "id": "a"}
    assert prepare_prompt_request(fields, DEFAULTS) == prepare_prompt_request(PromptItem(**fields), DEFAULTS)


def test_the_schema_is_out_of_the_request_and_checked_before_any_call() -> None:
    body = {"type": "object", "properties": {"a": {"type": "integer"}}}
    prepared = prepare_prompt_request({"prompt": "x", "response_format": schema_of(body, "thing")}, DEFAULTS)
    assert prepared.request is not None
    assert prepared.request.schema is not None
    assert (prepared.request.schema.body, prepared.request.schema.name) == (body, "thing")


@pytest.mark.parametrize(
    ("item", "code", "where"),
    [
        ({"prompt": "x", "response_format": schema_of({"type": "x"})}, "invalid_schema", "/schema/type"),
        ({"prompt": "x", "extract_field_path": "a.."}, "invalid_path", "/extract_field_path"),
        ({"prompt": "x", "model": "no"}, "unknown_model", "/model"),
        ({"prompt": "x", "messages": []}, "invalid_request", ""),
        ({"messages": [{"role": "user", "content": [{"text": "x"}]}]}, "invalid_request", "/messages/0/content"),
        ({}, "invalid_request", ""),
        ({"prompt": 1}, "invalid_request", ""),
        ({"prompt": "x", "more": 1}, "invalid_request", ""),
        ({"prompt": "\ud800"}, "invalid_request", ""),
        ({"prompt": "x", "system": "\udfff"}, "invalid_request", ""),
        ({"prompt": "x", 1: 2}, "invalid_request", ""),
        ({"prompt": "x", "sampling": {1: 2}}, "invalid_request", "/sampling"),
        ({"prompt": "x", "sampling": {"a": object()}}, "invalid_request", "/sampling"),
        (17, "invalid_request", ""),
        (None, "invalid_request", ""),
    ],
)
def test_what_cannot_be_asked_is_that_items_problem(item: Any, code: str, where: str) -> None:
    prepared = prepare_prompt_request(item, DEFAULTS)
    assert prepared.request is None
    assert prepared.problem is not None
    assert prepared.problem.code == code
    assert prepared.problem.where.endswith(where)
    assert prepared.problem.message


def test_a_schema_that_its_provider_cannot_take_is_refused_before_it_costs() -> None:
    recursive = {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False}
    asked = {"prompt": "x", "response_format": schema_of(recursive)}
    assert prepare_prompt_request(asked, DEFAULTS).problem is None
    problem = prepare_prompt_request({**asked, "model": "strict"}, DEFAULTS).problem
    assert problem is not None
    assert "recursive" in problem.message


def test_deep_content_is_refused() -> None:
    block: Any = {"type": "x"}
    for _ in range(100):
        block = {"type": "x", "inner": block}
    problem = prepare_prompt_request({"messages": [{"role": "user", "content": [block]}]}, DEFAULTS).problem
    assert problem is not None
    assert "deep" in problem.message


def test_all_are_prepared_in_order() -> None:
    assert [p.index for p in prepare_all(["a", {}, "c"], DEFAULTS)] == [0, 1, 2]


_json = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-5, 5),
        st.floats(),
        st.sampled_from(["string", "object", "#", "#/a", "("]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "items",
                    "$ref",
                    "$defs",
                    "a",
                    "enum",
                    "anyOf",
                    "allOf",
                    "not",
                    "required",
                    "pattern",
                    "minimum",
                    "maxLength",
                    "additionalProperties",
                    "format",
                    "const",
                    "prefixItems",
                    "if",
                ]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=15,
)


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.one_of(st.dictionaries(st.sampled_from(["type", "properties", "$ref", "$defs", "anyOf", "enum"]), _json), _json)
)
def test_any_schema_is_used_or_refused_and_never_breaks_anything(body: Any) -> None:
    for model in ("mock:echo", "strict"):
        prepared = prepare_prompt_request({"prompt": "x", "model": model, "response_format": schema_of(body)}, DEFAULTS)
        assert (prepared.request is None) != (prepared.problem is None)
        if prepared.problem is not None:
            assert prepared.problem.code in ("invalid_schema", "invalid_request")


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


@pytest.mark.parametrize("schema", [{"type": "object"}, {"type": "array"}])
def test_a_schema_that_openai_refuses_is_refused_there_alone(schema: Any) -> None:
    defaults = PromptDefaults(model="openai", models={"openai": "openai", "other": ANY_SERVER})
    asked = {"prompt": "x", "response_format": schema_of(schema)}
    assert prepare_prompt_request({**asked, "model": "other"}, defaults).problem is None
    problem = prepare_prompt_request(asked, defaults).problem
    assert problem is not None
    assert problem.code == "invalid_schema"

"""OpenAI's 400s, in the provider's shape."""

import pytest

from tests.simulator.wire import OPENAI, ask_openai, chat, send

OBJECT = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def with_schema(schema, name="n", strict=True):
    return chat(
        response_format={"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": strict}}
    )


REFUSED = {
    "no model": ({"messages": []}, None, "model"),
    "no messages": ({"model": "m"}, "missing_required_parameter", "messages"),
    "an unknown argument": (chat(bogus=1), "unknown_parameter", "bogus"),
    "an unknown role": ({**chat(), "messages": [{"role": "bot", "content": "x"}]}, "invalid_value", "bot"),
    "max_tokens on a reasoning model": (chat(max_tokens=5), "unsupported_parameter", "max_completion_tokens"),
    "a limit of zero": (chat(max_completion_tokens=0), "invalid_value", "0"),
    "a schema name with a blank": (with_schema(OBJECT, name="a b"), "invalid_value", "name"),
    "a root that is no object": (with_schema({"type": "array"}), "invalid_json_schema", "object"),
    "a property that is not required": (
        with_schema({**OBJECT, "properties": {"a": {"type": "string"}}}),
        "invalid_json_schema",
        "Missing 'a'",
    ),
    "an object that may have more": (
        with_schema({"type": "object", "properties": {}}),
        "invalid_json_schema",
        "additionalProperties",
    ),
    "allOf": (
        with_schema({**OBJECT, "properties": {"a": {"allOf": []}}, "required": ["a"]}),
        "invalid_json_schema",
        "allOf",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_400(sim, name):
    body, code, says = REFUSED[name]
    got = ask_openai(sim, body)
    assert got.status == 400
    assert set(got.json["error"]) == {"message", "type", "param", "code"}
    assert says in got.json["error"]["message"]
    assert code is None or got.json["error"]["code"] == code
    assert got.headers["x-request-id"].startswith("req_")


def test_recursion_and_bounds_pass_in_strict_mode(sim):
    node = {**OBJECT, "properties": {"n": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}, "required": ["n"]}
    schema = {
        **OBJECT,
        "properties": {"n": {"$ref": "#/$defs/node"}, "i": {"type": "integer", "minimum": 3, "maximum": 5}},
        "required": ["n", "i"],
        "$defs": {"node": node},
    }
    assert ask_openai(sim, with_schema(schema)).status == 200


def test_without_strict_any_object_schema_passes(sim):
    assert ask_openai(sim, with_schema({"type": "object"}, strict=False)).status == 200


def test_a_missing_key_is_401(sim):
    got = send(sim, "POST", "/v1/chat/completions", chat())
    assert (got.status, got.json["error"]["type"]) == (401, "invalid_request_error")


def test_an_unknown_path_is_404(sim):
    assert send(sim, "GET", "/v1/nothing", None, OPENAI).status == 404


def test_the_path_prefixes_of_compatible_providers_are_accepted(sim):
    assert send(sim, "POST", "/openai/v1/chat/completions", chat(), OPENAI).status == 200

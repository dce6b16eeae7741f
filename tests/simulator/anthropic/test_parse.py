"""Every 400 of the fact sheet, in the provider's shape."""

import pytest

from tests.simulator.wire import ANTHROPIC, ask_anthropic, message, send

OBJECT = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
DOCUMENT = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "A fact."}}
CITED = {**DOCUMENT, "citations": {"enabled": True}}
QUESTION = {"type": "text", "text": "What?"}


def with_schema(schema, **more):
    return message(output_config={"format": {"type": "json_schema", "schema": schema}}, **more)


def with_property(node):
    return with_schema({**OBJECT, "properties": {"x": node}, "required": ["x"]})


def user(*blocks):
    return {**message(), "messages": [{"role": "user", "content": list(blocks)}]}


REFUSED = {
    "a body that is no object": ([], "dictionary"),
    "no model": ({"max_tokens": 5, "messages": []}, "model: Field required"),
    "no max_tokens": ({"model": "m", "messages": []}, "max_tokens: Field required"),
    "no messages": ({"model": "m", "max_tokens": 5}, "messages: Field required"),
    "an empty list of messages": ({"model": "m", "max_tokens": 5, "messages": []}, "at least one message"),
    "an unknown role": ({**message(), "messages": [{"role": "bot", "content": "x"}]}, "messages.0.role"),
    "an unknown field": (message(max_completion_tokens=5), "max_completion_tokens: Extra inputs are not permitted"),
    "temperature": (message(temperature=1.0), "temperature: Extra inputs are not permitted"),
    "top_p": (message(top_p=0.9), "top_p: Extra inputs are not permitted"),
    "top_k": (message(top_k=5), "top_k: Extra inputs are not permitted"),
    "citations with structured output": (
        {**user(CITED, QUESTION), "output_config": {"format": {"type": "json_schema", "schema": OBJECT}}},
        "citations",
    ),
    "citations on some documents only": (user(CITED, DOCUMENT, QUESTION), "all or none"),
    "a document said by the assistant": (
        {**message(), "messages": [{"role": "assistant", "content": [DOCUMENT]}, {"role": "user", "content": "x"}]},
        "assistant",
    ),
    "citations on a text of the user": (
        user({**QUESTION, "citations": [{"type": "char_location"}]}),
        "citations",
    ),
    "an empty text block": (user({"type": "text", "text": ""}), "non-empty"),
    "an unknown block": (user({"type": "song"}), "song"),
    "prefill on a new model": (
        {**message(), "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "{"}]},
        "prefill",
    ),
    "minimum in a schema": (with_property({"type": "integer", "minimum": 1}), "minimum"),
    "maxLength in a schema": (with_property({"type": "string", "maxLength": 3}), "maxLength"),
    "minItems above one": (with_property({"type": "array", "items": {"type": "string"}, "minItems": 2}), "minItems"),
    "an unknown format": (with_property({"type": "string", "format": "color"}), "color"),
    "look-around in a pattern": (with_property({"type": "string", "pattern": "(?=a)a"}), "pattern"),
    "an object that may have more": (with_schema({"type": "object", "properties": {}}), "additionalProperties"),
    "an external reference": (with_property({"$ref": "https://example.com/x"}), "$ref"),
    "recursion": (
        with_schema(
            {
                **OBJECT,
                "properties": {"x": {"$ref": "#/$defs/n"}},
                "required": ["x"],
                "$defs": {"n": {**OBJECT, "properties": {"n": {"$ref": "#/$defs/n"}}, "required": ["n"]}},
            }
        ),
        "recursive",
    ),
    "25 optional properties": (
        with_schema({**OBJECT, "properties": {f"p{n}": {"type": "string"} for n in range(25)}}),
        "too complex",
    ),
    "17 unions": (
        with_schema(
            {
                **OBJECT,
                "properties": {f"p{n}": {"type": ["string", "null"]} for n in range(17)},
                "required": [f"p{n}" for n in range(17)],
            }
        ),
        "too complex",
    ),
    "21 strict tools": (
        message(tools=[{"name": f"t{n}", "strict": True, "input_schema": OBJECT} for n in range(21)]),
        "strict tools",
    ),
    "a budget for thinking below 1024": (
        {**message(thinking={"type": "enabled", "budget_tokens": 5}), "model": "claude-sonnet-4-5"},
        "1024",
    ),
    "enabled thinking on a new model": (
        {
            **message(thinking={"type": "enabled", "budget_tokens": 2000}),
            "model": "claude-sonnet-5",
            "max_tokens": 4000,
        },
        "adaptive",
    ),
    "disabled thinking on Fable": ({**message(thinking={"type": "disabled"}), "model": "claude-fable-5"}, "disabled"),
    "five cache marks": (
        user(*[{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}} for _ in range(5)]),
        "maximum of 4",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_400(sim, name):
    body, says = REFUSED[name]
    got = ask_anthropic(sim, body)
    assert got.status == 400
    assert got.json["type"] == "error"
    assert got.json["error"]["type"] == "invalid_request_error"
    assert says in got.json["error"]["message"]
    assert got.json["request_id"] == got.headers["request-id"]
    assert sim.log()["total"]["received"] == 0


def test_what_is_supported_in_a_schema_passes(sim):
    schema = {
        **OBJECT,
        "properties": {
            "a": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
            "b": {"type": "array", "items": {"$ref": "#/$defs/leaf"}, "minItems": 1},
            "c": {"enum": ["x", "y"]},
        },
        "required": ["a", "b", "c"],
        "$defs": {"leaf": {"type": "string", "pattern": "^[a-z]{2}$"}},
    }
    assert ask_anthropic(sim, with_schema(schema)).status == 200


def test_the_old_version_takes_sampling_from_old_models_only(sim):
    old = {"anthropic-version": "2023-06-01"}
    body = message(temperature=0.2)
    assert ask_anthropic(sim, {**body, "model": "claude-haiku-4-5"}, **old).status == 200
    assert ask_anthropic(sim, {**body, "model": "claude-sonnet-5"}, **old).status == 400


def test_prefill_is_taken_from_an_old_model(sim):
    turns = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "{"}]
    assert ask_anthropic(sim, {**message(), "model": "claude-haiku-4-5", "messages": turns}).status == 200


def test_a_missing_key_is_401_and_a_missing_version_400(sim):
    assert send(sim, "POST", "/v1/messages", message(), {"anthropic-version": "2026-10-21"}).status == 401
    assert send(sim, "POST", "/v1/messages", message(), {"x-api-key": "k"}).status == 400
    assert (
        send(sim, "POST", "/v1/messages", message(), {"x-api-key": "k", "anthropic-version": "1999-01-01"}).status
        == 400
    )


def test_a_request_above_the_size_limit_is_413(start):
    sim = start(max_request_bytes=500)
    got = ask_anthropic(sim, message("x" * 500))
    assert (got.status, got.json["error"]["type"]) == (413, "request_too_large")


def test_broken_json_and_unknown_paths_are_told_apart(sim):
    assert ask_anthropic(sim, b"{").status == 400
    got = send(sim, "GET", "/v1/nothing", None, ANTHROPIC)
    assert (got.status, got.json["error"]["type"]) == (404, "not_found_error")

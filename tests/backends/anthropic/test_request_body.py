import base64

import pytest

from batchwork.core.failure import FailureKind
from batchwork.core.request import Attachment, Message, Request, Schema

MODEL = "anthropic:claude-haiku-5-5"


def blocks_of(exchanged):
    return exchanged.body["messages"][0]["content"]


def doc(**fields):
    return Attachment(digest=b"0" * 16, **fields)


def test_a_prompt_becomes_one_user_message_and_nothing_else_but_thinking_off(exchange):
    assert exchange(MODEL, request=Request.ask("Is it?", max_tokens=50)).body == {
        "model": "claude-haiku-5-5",
        "max_tokens": 50,
        "messages": [{"role": "user", "content": "Is it?"}],
        "thinking": {"type": "disabled"},
    }


def test_the_key_goes_as_a_bearer_under_the_current_version(exchange):
    asked = exchange(MODEL).asked[0]
    assert asked.path == "/v1/messages"
    assert asked.headers["authorization"] == "Bearer sk-the-secret-key"
    assert asked.headers["anthropic-version"] == "2026-10-21"
    assert asked.headers["content-type"] == "application/json"
    assert "x-api-key" not in asked.headers
    assert "cookie" not in asked.headers


@pytest.mark.parametrize(
    ("model", "thinking"),
    [
        ("claude-haiku-5-5", {"type": "disabled"}),
        ("claude-sonnet-5", {"type": "disabled"}),
        ("claude-opus-5-5", {"type": "disabled"}),
        ("claude-opus-4-8", None),  # thinks only when asked to
        ("claude-haiku-4-5", None),
        ("claude-fable-5-1", None),  # refuses to have it switched off
        ("claude-mythos-5", None),
        ("claude-unheard-of-9", None),
    ],
)
def test_thinking_is_off_unless_asked_for_where_the_model_allows_it(exchange, model, thinking):
    assert exchange(f"anthropic:{model}").body.get("thinking") == thinking


def test_asking_for_thinking_gives_it(exchange):
    request = Request.ask("Is it?", extra_body={"thinking": {"type": "adaptive"}})
    assert exchange(MODEL, request=request).body["thinking"]["type"] == "adaptive"


def test_a_none_in_extra_body_takes_a_field_out(exchange):
    request = Request.ask("Is it?", extra_body={"thinking": None})
    assert "thinking" not in exchange(MODEL, request=request).body


def test_the_system_prompt_is_a_field_of_its_own(exchange):
    assert exchange(MODEL, request=Request.ask("Is it?", system="Be brief.")).body["system"] == "Be brief."


def test_system_turns_at_the_start_join_the_system_prompt(exchange):
    request = Request(messages=(Message("system", "Be brief."), Message("user", "Is it?")), system="Be kind.")
    body = exchange(MODEL, request=request).body
    assert body["system"] == "Be kind.\n\nBe brief."
    assert body["messages"] == [{"role": "user", "content": "Is it?"}]


def test_a_conversation_goes_turn_by_turn(exchange):
    turns = (Message("user", "a"), Message("assistant", "b"), Message("user", "c"))
    sent = exchange(MODEL, request=Request(messages=turns)).body["messages"]
    assert [(t["role"], t["content"]) for t in sent] == [("user", "a"), ("assistant", "b"), ("user", "c")]


def test_neutral_blocks_become_anthropics(exchange):
    content = [
        {"type": "text", "text": "Look:"},
        {"type": "image", "media_type": "image/png", "data": b"png"},
        {"type": "image", "url": "https://example.org/a.png"},
        {"type": "document", "media_type": "application/pdf", "data": b"%PDF", "title": "Bill"},
        {"type": "document", "text": "some words"},
    ]
    sent = blocks_of(exchange(MODEL, request=Request(messages=(Message("user", content),))))
    assert sent == [
        {"type": "text", "text": "Look:"},
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(b"png").decode()},
        },
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": base64.b64encode(b"%PDF").decode()},
            "title": "Bill",
        },
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "some words"}},
    ]


def test_blocks_in_the_providers_own_form_pass_as_they_are(exchange):
    content = [
        {"type": "document", "source": {"type": "file", "file_id": "file_1"}, "cache_control": {"type": "ephemeral"}},
        {"type": "search_result", "source": "s", "title": "t", "content": []},
        {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}},
    ]
    assert blocks_of(exchange(MODEL, request=Request(messages=(Message("user", content),)))) == content


def test_attachments_go_before_the_first_question(exchange):
    documents = (doc(media_type="text/plain", text="Total: 5", title="Bill", citations=True),)
    sent = blocks_of(exchange(MODEL, request=Request.ask("The total?", documents=documents)))
    assert sent == [
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "Total: 5"},
            "title": "Bill",
            "citations": {"enabled": True},
        },
        {"type": "text", "text": "The total?"},
    ]


def test_an_attached_picture_is_an_image_and_an_attached_text_file_its_text(exchange):
    documents = (doc(media_type="image/jpeg", data=b"jpg"), doc(media_type="text/csv", data="a,ä".encode()))
    image, table, _ = blocks_of(exchange(MODEL, request=Request.ask("?", documents=documents)))
    assert image["source"]["media_type"] == "image/jpeg"
    assert table["source"]["data"] == "a,ä"


def test_a_schema_goes_into_output_config_beside_what_the_user_puts_there(exchange):
    schema = Schema.of(
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
    )
    request = Request.ask("?", schema=schema, extra_body={"output_config": {"effort": "low"}})
    config = exchange(MODEL, request=request).body["output_config"]
    assert config["format"]["type"] == "json_schema"
    assert config["format"]["schema"]["properties"]["a"]["type"] == "string"
    assert config["effort"] == "low"


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Request.ask("?", sampling={"temperature": 0.2}), "temperature"),
        (Request.ask("?", extra_body={"stream": True}), "stream"),
        (Request.ask("?", extra_body={"max_tokens": 5}), "max_tokens"),
        (Request.ask("?", model="claude-opus-5-5"), "a run of its own"),
        (Request.ask("?", documents=(doc(media_type="application/msword", data=b"x"),)), "msword"),
        (Request.ask("?", documents=(doc(media_type="text/plain", data=b"\xff"),)), "UTF-8"),
        (Request(messages=(Message("user", [{"type": "image", "data": b"x"}]),)), "media_type"),
        (Request(messages=(Message("system", "only this"),)), "system"),
        (
            Request.ask(
                "?",
                schema=Schema.of({"type": "object"}),
                documents=(doc(media_type="text/plain", text="x", citations=True),),
            ),
            "citations",
        ),
        (
            Request.ask(
                "?",
                documents=(
                    doc(media_type="text/plain", text="x", citations=True),
                    doc(media_type="text/plain", text="y"),
                ),
            ),
            "all documents",
        ),
    ],
)
def test_what_the_api_would_refuse_anyway_is_not_sent(exchange, request_, words):
    exchanged = exchange(MODEL, request=request_)
    assert exchanged.failure.kind is FailureKind.BAD_INPUT
    assert words in exchanged.failure.message
    assert not exchanged.failure.unconfirmed
    assert exchanged.asked == []


def test_a_large_body_arrives_whole(exchange):
    text = "word " * 400_000
    assert blocks_of(exchange(MODEL, request=Request.ask(text))) == text

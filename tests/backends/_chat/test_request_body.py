import base64

import pytest

from batchwork.backends import Setup, open_backend
from batchwork.clock import SystemClock
from batchwork.core.errors import BackendError
from batchwork.core.failure import FailureKind as K
from batchwork.core.request import Attachment, Message, Request, Schema
from batchwork.settings import Settings

MODEL = "openai:gpt-6-luna"


def doc(**fields):
    return Attachment(digest=b"0" * 16, **fields)


def test_a_prompt_becomes_one_user_message_with_reasoning_off(exchange):
    exchanged = exchange(MODEL, request=Request.ask("Is it?", max_tokens=50))
    assert exchanged.body == {
        "model": "gpt-6-luna",
        "messages": [{"role": "user", "content": "Is it?"}],
        "max_completion_tokens": 50,
        "reasoning_effort": "none",
    }
    assert exchanged.asked[0].path == "/v1/chat/completions"
    assert exchanged.asked[0].headers["authorization"] == "Bearer sk-the-secret-key"


def test_the_system_prompt_is_the_first_message(exchange):
    turns = exchange(MODEL, request=Request.ask("Is it?", system="Be brief.")).body["messages"]
    assert turns == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is it?"}]


def test_sampling_goes_out_where_it_is_taken(exchange):
    request = Request.ask("?", sampling={"temperature": 0.2, "seed": 7})
    body = exchange(MODEL, request=request).body
    assert (body["temperature"], body["seed"]) == (0.2, 7)
    assert exchange("openai:qwen", request=Request.ask("?", sampling={"top_k": 5})).body["top_k"] == 5


def test_a_schema_is_the_response_format(exchange):
    body = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
    sent = exchange(MODEL, request=Request.ask("?", schema=Schema.of(body, name="my answer"))).body["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["name"] == "my_answer"
    assert sent["json_schema"]["strict"] is True
    assert sent["json_schema"]["schema"]["properties"]["a"]["type"] == "string"


FREE = [
    {"type": "object"},
    {"type": "object", "properties": {"a": {"type": "object"}}, "required": ["a"], "additionalProperties": False},
    {"type": "object", "additionalProperties": {"type": "number"}},
    {"type": "array"},
    {"enum": [{"a": 1}, [2]]},
    {"properties": {"a": {}}},
]


@pytest.mark.parametrize("schema", FREE)
def test_a_schema_that_openai_refuses_goes_to_other_servers_as_it_is(exchange, schema):
    for model in ("openai:qwen", MODEL):  # OpenAI's own model behind somebody's proxy: that is for the proxy to say
        sent = exchange(model, request=Request.ask("?", schema=Schema.of(schema))).body["response_format"]
        assert sent == {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}


@pytest.mark.parametrize("schema", FREE)
def test_a_schema_that_openai_refuses_is_not_sent_there(schema):
    setup = Setup(clock=SystemClock(), max_in_flight=1, settings=Settings(), api_key="sk-1")
    backend, _ = open_backend(MODEL, setup)
    with pytest.raises(BackendError) as caught:
        backend.batch_line("a", Request.ask("?", schema=Schema.of(schema)))
    assert caught.value.failure.kind is K.BAD_INPUT


def test_neutral_blocks_and_attachments_become_openais(exchange):
    content = [
        {"type": "image", "media_type": "image/png", "data": b"png"},
        {"type": "image", "url": "https://example.org/a.png"},
        {"type": "text", "text": "What is it?"},
    ]
    documents = (
        doc(media_type="text/plain", text="Total: 5", title="Bill"),
        doc(media_type="application/pdf", data=b"%PDF", title="Bill"),
    )
    request = Request(messages=(Message("user", content),), documents=documents)
    png, pdf = base64.b64encode(b"png").decode(), base64.b64encode(b"%PDF").decode()
    assert exchange(MODEL, request=request).body["messages"][0]["content"] == [
        {"type": "text", "text": '<document title="Bill">\nTotal: 5\n</document>'},
        {"type": "file", "file": {"filename": "Bill.pdf", "file_data": f"data:application/pdf;base64,{pdf}"}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png}"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "text", "text": "What is it?"},
    ]


def test_blocks_in_the_providers_own_form_pass_as_they_are(exchange):
    content = [{"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}}]
    assert exchange(MODEL, request=Request(messages=(Message("user", content),))).body["messages"][0]["content"] == (
        content
    )


@pytest.mark.parametrize(
    ("model", "request_", "words"),
    [
        (MODEL, Request.ask("?", sampling={"top_k": 5}), "top_k"),
        ("openai:o3", Request.ask("?", sampling={"temperature": 0}), "temperature"),
        (MODEL, Request.ask("?", extra_body={"n": 3}), "'n'"),
        (MODEL, Request.ask("?", documents=(doc(media_type="text/plain", text="x", citations=True),)), "citations"),
        (MODEL, Request(messages=(Message("user", [{"type": "document", "url": "https://x.org"}]),)), "address"),
        (MODEL, Request.ask("?", model="openai:gpt-5"), "a run of its own"),
    ],
)
def test_what_cannot_be_said_is_not_sent(exchange, model, request_, words):
    exchanged = exchange(model, request=request_)
    assert exchanged.failure.kind is K.BAD_INPUT
    assert words in exchanged.failure.message
    assert exchanged.asked == []

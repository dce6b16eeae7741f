import base64
import json

import pytest

from batchwork.backends import Setup, open_backend
from batchwork.backends.openai import describe
from batchwork.clock import SystemClock
from batchwork.core.failure import FailureKind as K
from batchwork.core.reply import Limit, Usage
from batchwork.core.request import Attachment, Message, Request, Schema
from batchwork.settings import Settings

MODEL = "openai:gpt-6-luna"


def doc(**fields):
    return Attachment(digest=b"0" * 16, **fields)


def error(kind, code=None, message="no"):
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


# -- asking -----------------------------------------------------------------------------------------


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


def test_another_servers_model_gets_max_tokens_and_no_word_about_reasoning(exchange):
    assert exchange("openai:qwen2.5:7b", request=Request.ask("Is it?", max_tokens=50)).body == {
        "model": "qwen2.5:7b",
        "messages": [{"role": "user", "content": "Is it?"}],
        "max_tokens": 50,
    }


@pytest.mark.parametrize(
    ("model", "effort"),
    [
        ("gpt-6.1-sol", "none"),
        ("gpt-5.4-mini", "none"),
        ("gpt-5-mini", "minimal"),
        ("o3", "low"),
        ("gpt-5.2-pro", None),
        ("gpt-4o-mini", None),
    ],
)
def test_reasoning_is_as_low_as_the_model_allows(exchange, model, effort):
    assert exchange(f"openai:{model}").body.get("reasoning_effort") == effort


def test_asking_for_reasoning_gives_it(exchange):
    request = Request.ask("?", extra_body={"reasoning_effort": "high"})
    assert exchange(MODEL, request=request).body["reasoning_effort"] == "high"


@pytest.mark.parametrize(
    ("base_url", "extra", "tier"),
    [
        (None, None, "default"),
        ("https://api.openai.com/v1", {"service_tier": "fast"}, "fast"),
        (None, {"service_tier": None}, None),
        ("http://127.0.0.1:9/v1", None, None),
    ],
)
def test_openais_own_host_is_told_the_tier_that_a_request_does_not_name(base_url, extra, tier):
    setup = Setup(clock=SystemClock(), max_in_flight=1, settings=Settings(), base_url=base_url, api_key="sk-1")
    backend, _ = open_backend(MODEL, setup)
    line = backend.batch_line("a", Request.ask("?", extra_body=extra))
    assert json.loads(line)["body"].get("service_tier") == tier


@pytest.mark.parametrize(
    ("said", "extra", "lane"),
    [
        ({}, None, None),
        ({"service_tier": "default"}, None, None),
        ({"service_tier": None}, None, None),
        ({"service_tier": {"odd": 1}}, None, None),
        ({"service_tier": "priority"}, {"service_tier": "fast"}, "priority"),
        ({"service_tier": "default"}, {"service_tier": "fast"}, None),
        ({}, {"service_tier": "fast"}, "fast"),
    ],
)
def test_a_reply_has_the_lane_that_served_it_where_it_is_not_the_default(exchange, completion, said, extra, lane):
    assert exchange(MODEL, {**completion(), **said}, Request.ask("?", extra_body=extra)).reply.lane == lane


@pytest.mark.parametrize(
    ("model", "base_url", "tokens"),
    [
        ("gpt-6-luna", None, None),
        ("gpt-5.4", None, None),
        ("gpt-4o-mini", None, 50_000),
        ("gpt-4.1-mini", None, 6_000),
        ("gpt-5", None, 6_000),
        ("o3", None, 6_000),
        ("qwen2.5-vl", "http://127.0.0.1:9/v1", None),
    ],
)
def test_images_have_a_most_where_the_model_scales_them_down(model, base_url, tokens):
    assert describe(model, base_url).image_tokens == tokens


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


# -- answering --------------------------------------------------------------------------------------


def test_an_answer_has_its_text_usage_stop_reason_and_request_id(exchange):
    reply = exchange(MODEL, x_request_id="req_7").reply
    assert (reply.text, reply.stop_reason, reply.truncated) == ("yes", "stop", False)
    assert reply.usage == Usage(input_tokens=12, output_tokens=3)
    assert reply.provider_id == "req_7"


def test_cached_tokens_are_part_of_the_input(exchange, completion):
    usage = {
        "prompt_tokens": 5000,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 4000, "cache_write_tokens": 500},
    }
    assert exchange(MODEL, completion(usage=usage)).reply.usage == Usage(
        input_tokens=5000, output_tokens=3, cache_read_tokens=4000, cache_write_tokens=500
    )


def test_a_server_that_does_not_say_what_it_used_is_not_given_a_usage(exchange, completion):
    assert exchange(MODEL, completion(usage=None)).reply.usage is None


def test_content_in_parts_is_joined(exchange, completion):
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "ye"}, {"type": "text", "text": "s"}]
    assert exchange(MODEL, completion(content=parts)).reply.text == "yes"


def test_a_tool_call_is_kept_as_a_block(exchange, completion):
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    reply = exchange(MODEL, completion(content=None, tool_calls=calls, finish="tool_calls")).reply
    assert (reply.text, reply.blocks) == ("", tuple(calls))


def test_an_answer_cut_off_by_max_tokens_says_so(exchange, completion):
    assert exchange(MODEL, completion(finish="length")).reply.truncated


def test_no_content_is_an_empty_answer(exchange, completion):
    assert exchange(MODEL, completion(content=None)).reply.text == ""


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"refusal": "I will not", "content": None}, K.REFUSED),
        ({"finish": "content_filter"}, K.REFUSED),
        ({"finish": "length", "content": ""}, K.TRUNCATED),
    ],
)
def test_an_unusable_answer_is_a_failure_that_was_paid_for(exchange, completion, fields, kind):
    failure = exchange(MODEL, completion(**fields)).failure
    assert failure.kind is kind
    assert failure.usage == Usage(input_tokens=12, output_tokens=3)
    assert failure.reply is not None
    assert not failure.unconfirmed


@pytest.mark.parametrize("body", [b"{}", b'{"choices": []}', b'{"choices": 5}', b'{"choices": [{"message": null}]}'])
def test_json_that_is_no_completion_may_have_been_billed_and_is_not_asked_for_again(exchange, body):
    failure = exchange(MODEL, body).failure
    assert (failure.kind, failure.unconfirmed) == (K.RESULT_LOST, True)


@pytest.mark.parametrize("body", [b"<html>", b""])
def test_a_page_of_somebody_in_between_may_have_been_billed_and_passes(exchange, body):
    failure = exchange(MODEL, body).failure
    assert (failure.kind, failure.unconfirmed) == (K.SERVER, True)


def test_an_error_with_a_good_status_is_that_error(exchange):
    failure = exchange("openai:x/y", {"error": {"code": 429, "message": "slow down"}}).failure
    assert (failure.kind, failure.message, failure.unconfirmed) == (K.RATE_LIMITED, "slow down", False)
    inner = {"choices": [{"error": {"code": 502, "message": "gone"}, "message": {"content": ""}}]}
    assert exchange("openai:x/y", inner).failure.kind is K.SERVER


def test_rate_limit_headers_come_with_the_answer(exchange):
    limits = exchange(
        MODEL,
        x_ratelimit_limit_requests="5000",
        x_ratelimit_remaining_requests="4999",
        x_ratelimit_reset_requests="12ms",
        x_ratelimit_limit_tokens="160000",
        x_ratelimit_remaining_tokens="159976",
        x_ratelimit_reset_tokens="6m0s",
    ).reply.limits
    assert limits.requests == Limit(per_minute=5000, remaining=4999, reset_s=0.012)
    assert limits.tokens == Limit(per_minute=160_000, remaining=159_976, reset_s=360)


# -- failing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, error("invalid_request_error"), K.REJECTED),
        (400, error("invalid_request_error", "context_length_exceeded"), K.TOO_LONG),
        (400, error("invalid_request_error", "unsupported_parameter"), K.REJECTED),
        (400, error("invalid_request_error", "content_filter"), K.REFUSED),
        (401, error("invalid_request_error", "invalid_api_key"), K.AUTH),
        (402, {"error": {"message": "credits", "code": 402}}, K.QUOTA),
        (403, b"", K.AUTH),
        (404, error("invalid_request_error", "model_not_found"), K.REJECTED),
        (408, b"", K.TIMEOUT),
        (409, b"", K.SERVER),
        (413, b"<html>", K.TOO_LONG),
        (422, {"detail": [{"loc": ["body"], "msg": "missing"}]}, K.REJECTED),
        (429, error("requests", "rate_limit_exceeded"), K.RATE_LIMITED),
        (429, error("insufficient_quota", "insufficient_quota"), K.QUOTA),
        (429, error("tokens"), K.RATE_LIMITED),
        (500, error("server_error"), K.SERVER),
        (502, b"Bad gateway", K.SERVER),
        (503, error("server_error"), K.OVERLOADED),
        (504, b"", K.TIMEOUT),
        (301, b"", K.REJECTED),
    ],
)
def test_every_error_has_one_kind_and_is_known_not_to_be_billed(exchange, status, body, kind):
    failure = exchange(MODEL, body, status=status).failure
    assert failure.kind is kind
    assert failure.status == status
    assert not failure.unconfirmed


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": "model not there"}, "model not there"),
        ({"detail": "Not found"}, "Not found"),
        ({"object": "error", "message": "too hot", "code": 400}, "too hot"),
        (b"<html><h1>Bad   request</h1></html>", "Bad request"),
        (b"", "no explanation"),
        (["x"], '["x"]'),
    ],
)
def test_every_way_to_say_an_error_is_understood(exchange, body, words):
    assert words in exchange(MODEL, body, status=400).failure.message


def test_an_unknown_model_is_told_what_there_is(exchange):
    failure = exchange("openai:gpt-6-lunar", error("invalid_request_error", "model_not_found"), status=404).failure
    assert "gpt-6-luna," in failure.message
    assert failure.error_code == "model_not_found"


def test_the_wait_and_the_limits_come_with_a_refusal(exchange):
    headers = {"retry-after-ms": "1500", "x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "0"}
    failure = exchange(MODEL, error("requests", "rate_limit_exceeded"), status=429, **headers).failure
    assert failure.retry_after_s == 1.5
    assert failure.limits.requests == Limit(per_minute=60, remaining=0)


def test_a_key_that_the_server_repeats_is_not_shown(exchange):
    failure = exchange(MODEL, error("x", "invalid_api_key", "wrong: sk-the-secret-key"), status=401).failure
    assert "sk-the-secret-key" not in str(failure)


def test_a_connection_lost_after_sending_may_have_been_billed(exchange):
    failure = exchange(MODEL, cut="before").failure
    assert (failure.kind, failure.unconfirmed) == (K.CONNECTION, True)

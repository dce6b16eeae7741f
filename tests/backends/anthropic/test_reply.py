import pytest

from batchwork.core.failure import FailureKind
from batchwork.core.reply import Limit, Usage
from batchwork.core.request import Request

MODEL = "anthropic:claude-haiku-5-5"


def test_an_answer_has_its_text_usage_stop_reason_and_request_id(exchange):
    reply = exchange(MODEL, request_id="req_7").reply
    assert reply.text == "yes"
    assert reply.usage == Usage(input_tokens=12, output_tokens=3)
    assert (reply.stop_reason, reply.truncated, reply.blocks) == ("end_turn", False, ())
    assert reply.provider_id == "req_7"
    assert reply.model == "claude-haiku-5-5"


def test_the_input_is_the_total_of_fresh_and_cached_tokens(exchange, message):
    usage = {
        "input_tokens": 10,
        "output_tokens": 2,
        "cache_creation_input_tokens": 300,
        "cache_read_input_tokens": 5000,
        "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 200},
    }
    assert exchange(MODEL, message(usage=usage)).reply.usage == Usage(
        input_tokens=5310,
        output_tokens=2,
        cache_read_tokens=5000,
        cache_write_tokens=100,
        cache_write_1h_tokens=200,
    )


def test_cache_writes_without_a_split_are_the_short_ones(exchange, message):
    usage = {
        "input_tokens": 10,
        "output_tokens": 2,
        "cache_creation_input_tokens": 300,
        "cache_read_input_tokens": None,
        "cache_creation": None,
    }
    found = exchange(MODEL, message(usage=usage)).reply.usage
    assert (found.input_tokens, found.cache_write_tokens, found.cache_write_1h_tokens) == (310, 300, 0)


def test_a_server_that_does_not_say_what_it_used_is_not_given_a_usage(exchange, message):
    assert exchange(MODEL, message(usage=None)).reply.usage is None


@pytest.mark.parametrize(
    ("said", "extra", "lane"),
    [
        ({}, None, None),
        ({"speed": "standard", "service_tier": "standard"}, None, None),
        ({"service_tier": "priority"}, None, None),  # a contract, not a price of the table
        ({"speed": "fast"}, {"speed": "fast"}, "fast"),
        ({"speed": "standard"}, {"speed": "fast"}, None),
        ({}, {"speed": "fast"}, "fast"),
        ({"speed": 2}, {"speed": "fast"}, "fast"),
    ],
)
def test_a_reply_has_the_lane_that_served_it_where_it_is_not_the_default(exchange, message, said, extra, lane):
    usage = {"input_tokens": 10, "output_tokens": 2, **said}
    assert exchange(MODEL, message(usage=usage), Request.ask("?", extra_body=extra)).reply.lane == lane


def test_thinking_before_the_text_is_passed_over(exchange, message):
    content = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "yes"}]
    reply = exchange(MODEL, message(content=content)).reply
    assert (reply.text, reply.blocks) == ("yes", ())


def test_cited_answers_keep_their_blocks(exchange, message):
    content = [
        {"type": "text", "text": "The total is "},
        {"type": "text", "text": "5", "citations": [{"type": "char_location", "cited_text": "Total: 5"}]},
    ]
    reply = exchange(MODEL, message(content=content)).reply
    assert reply.text == "The total is 5"
    assert reply.blocks[1]["citations"][0]["cited_text"] == "Total: 5"


def test_a_tool_call_is_kept_as_a_block(exchange, message):
    content = [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}]
    reply = exchange(MODEL, message(content=content, stop_reason="tool_use")).reply
    assert (reply.text, reply.blocks[0]["input"]) == ("", {"a": 1})


def test_an_answer_cut_off_by_max_tokens_says_so(exchange, message):
    assert exchange(MODEL, message(stop_reason="max_tokens")).reply.truncated


def test_no_content_is_an_empty_answer(exchange, message):
    assert exchange(MODEL, message(content=[])).reply.text == ""


def test_a_refusal_is_a_failure_that_was_paid_for(exchange, message):
    details = {"type": "refusal", "category": "bio", "explanation": "not this"}
    failure = exchange(MODEL, message(content=[], stop_reason="refusal", stop_details=details)).failure
    assert (failure.kind, failure.message, failure.error_code) == (FailureKind.REFUSED, "not this", "bio")
    assert failure.usage == Usage(input_tokens=12, output_tokens=3)
    assert failure.reply is not None
    assert not failure.unconfirmed


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"stop_reason": "model_context_window_exceeded"}, FailureKind.TOO_LONG),
        ({"stop_reason": "pause_turn"}, FailureKind.TRUNCATED),
        ({"stop_reason": "max_tokens", "content": [{"type": "thinking", "thinking": "hm"}]}, FailureKind.TRUNCATED),
        ({"stop_reason": "refusal", "stop_details": None}, FailureKind.REFUSED),
    ],
)
def test_half_an_answer_is_a_failure_with_the_reply_and_its_usage(exchange, message, fields, kind):
    failure = exchange(MODEL, message(**fields)).failure
    assert failure.kind is kind
    assert failure.reply is not None
    assert failure.usage == Usage(input_tokens=12, output_tokens=3)


@pytest.mark.parametrize("body", [b"{}", b'{"content": "text"}', b'{"content": null}', b'{"content": [{"text": 5}]}'])
def test_json_that_is_no_message_may_have_been_billed_and_is_not_asked_for_again(exchange, body):
    failure = exchange(MODEL, body).failure
    assert (failure.kind, failure.unconfirmed) == (FailureKind.RESULT_LOST, True)


@pytest.mark.parametrize("body", [b"<html>", b""])
def test_a_page_of_somebody_in_between_may_have_been_billed_and_passes(exchange, body):
    failure = exchange(MODEL, body).failure
    assert (failure.kind, failure.unconfirmed) == (FailureKind.SERVER, True)


def test_rate_limit_headers_come_with_the_answer(exchange):
    limits = exchange(
        MODEL,
        anthropic_ratelimit_requests_limit="1000",
        anthropic_ratelimit_requests_remaining="999",
        anthropic_ratelimit_requests_reset="2020-01-01T00:00:00Z",
        anthropic_ratelimit_input_tokens_limit="2000000",
        anthropic_ratelimit_input_tokens_remaining="1999000",
        anthropic_ratelimit_output_tokens_limit="400000",
        anthropic_ratelimit_output_tokens_remaining="400000",
        anthropic_ratelimit_tokens_limit="2400000",
    ).reply.limits
    assert limits.requests == Limit(per_minute=1000, remaining=999, reset_s=0)
    assert limits.input_tokens == Limit(per_minute=2_000_000, remaining=1_999_000)
    assert limits.output_tokens == Limit(per_minute=400_000, remaining=400_000)
    assert limits.tokens is None


def test_without_such_headers_there_are_no_limits(exchange):
    assert exchange(MODEL).reply.limits is None


def test_tool_calls_are_told(exchange, message):
    content = [
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
        {"type": "server_tool_use", "id": "t2", "name": "web_search", "input": {"query": "x"}},
        {"type": "tool_use", "id": "t3", "name": "g", "input": {}},
    ]
    reply = exchange(MODEL, message(content=content, stop_reason="tool_use")).reply
    assert [(call.id, call.name, call.arguments) for call in reply.tool_calls] == [
        ("t1", "f", {"a": 1}),
        ("t3", "g", {}),
    ]

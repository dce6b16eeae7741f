import pytest

from batchwork.core.failure import FailureKind as K
from batchwork.core.reply import Limit, Usage
from batchwork.core.request import Request

MODEL = "openai:gpt-6-luna"


def error(kind, code=None, message="no"):
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


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


@pytest.mark.parametrize(
    ("total", "output"), [(14428, 4308), (11619, 1499), (0, 1499), (None, 1499)], ids=["beside", "within", "0", "none"]
)
def test_thinking_that_is_counted_beside_the_answer_is_output(exchange, completion, total, output):
    usage = {"prompt_tokens": 10120, "completion_tokens": 1499, "total_tokens": total}
    assert exchange(MODEL, completion(usage=usage)).reply.usage == Usage(input_tokens=10120, output_tokens=output)


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


def test_tool_calls_are_told_with_their_arguments_as_json(exchange, completion):
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": [1, 2]}'}},
        {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "not json"}},
        {"id": "c3", "type": "function", "function": {"name": "h", "arguments": {"b": 1}}},
        {"id": "c4", "type": "custom", "custom": {"name": "k", "input": "42"}},
        {"id": 5, "type": "function", "function": "strange"},
    ]
    reply = exchange(MODEL, completion(content=None, tool_calls=calls, finish="tool_calls")).reply
    assert [(call.id, call.name, call.arguments) for call in reply.tool_calls] == [
        ("c1", "f", {"a": [1, 2]}),
        ("c2", "g", "not json"),
        ("c3", "h", {"b": 1}),
        ("c4", "k", "42"),
    ]


def test_a_function_call_in_its_older_form_is_told_too(exchange, completion):
    call = {"name": "f", "arguments": "{}"}
    reply = exchange(MODEL, completion(content=None, function_call=call, finish="function_call")).reply
    assert [(call.id, call.name, call.arguments) for call in reply.tool_calls] == [(None, "f", {})]


def test_a_tool_call_that_was_cut_off_is_no_answer(exchange, completion):
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": '}}]
    said = completion(content=None, tool_calls=calls, finish="length")
    assert exchange(MODEL, said).failure.kind is K.TRUNCATED


def test_an_error_with_a_good_status_may_be_a_bare_text(exchange):
    failure = exchange(MODEL, {"error": "Unexpected endpoint or method."}).failure
    assert (failure.kind, failure.message) == (K.SERVER, "Unexpected endpoint or method.")

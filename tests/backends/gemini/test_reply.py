import pytest

from batchwork.core.failure import FailureKind as K
from batchwork.core.request import Request

MODEL = "gemini:gemini-3.8-flash"
RPC = "type.googleapis.com/google.rpc."


def error(status, message="no", *details, code=400):
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


def reason(name):
    return {"@type": f"{RPC}ErrorInfo", "reason": name}


def quota(name):
    return {"@type": f"{RPC}QuotaFailure", "violations": [{"quotaId": name}]}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, error("INVALID_ARGUMENT"), K.REJECTED),
        (400, error("INVALID_ARGUMENT", "API key not valid", reason("API_KEY_INVALID")), K.AUTH),
        (400, error("INVALID_ARGUMENT", "The input token count (9) exceeds the maximum allowed (8)."), K.TOO_LONG),
        (400, error("FAILED_PRECONDITION", "User location is not supported"), K.AUTH),
        (401, error("UNAUTHENTICATED"), K.AUTH),
        (403, error("PERMISSION_DENIED", "blocked", reason("SERVICE_DISABLED")), K.AUTH),
        (404, error("NOT_FOUND"), K.REJECTED),
        (409, error("ABORTED"), K.SERVER),
        (413, b"<html>too large</html>", K.TOO_LONG),
        (429, error("RESOURCE_EXHAUSTED"), K.RATE_LIMITED),
        (429, error("RESOURCE_EXHAUSTED", "slow", quota("GenerateRequestsPerMinutePerProject")), K.RATE_LIMITED),
        (429, error("RESOURCE_EXHAUSTED", "slow", quota("GenerateRequestsPerDayPerProject-FreeTier")), K.QUOTA),
        (499, error("CANCELLED"), K.SERVER),
        (500, error("INTERNAL"), K.SERVER),
        (500, [error("INTERNAL")], K.SERVER),  # as a stream's error is written
        (503, error("UNAVAILABLE"), K.OVERLOADED),
        (503, b"", K.SERVER),
        (504, error("DEADLINE_EXCEEDED"), K.TIMEOUT),
    ],
)
def test_every_error_has_one_kind_and_is_known_not_to_be_billed(exchange, status, body, kind):
    failure = exchange(MODEL, body, status=status).failure
    assert failure.kind is kind
    assert failure.status == status
    assert not failure.unconfirmed
    assert failure.usage is None


@pytest.mark.parametrize(
    ("details", "headers", "seconds"),
    [
        (({"@type": f"{RPC}RetryInfo", "retryDelay": "34.074824224s"},), {}, 34.074824224),
        (({"@type": f"{RPC}RetryInfo", "retryDelay": "7s"}, quota("RequestsPerMinute")), {}, 7.0),
        (({"@type": f"{RPC}RetryInfo", "retryDelay": "7s"},), {"retry_after": "3"}, 3.0),
        (({"@type": f"{RPC}RetryInfo", "retryDelay": "7s"}, quota("RequestsPerDay")), {}, None),
        (({"retryDelay": 7}, "strange", None), {}, None),
        ((), {}, None),
    ],
)
def test_the_wait_stands_in_the_error_and_that_of_a_daily_quota_is_not_believed(exchange, details, headers, seconds):
    body = error("RESOURCE_EXHAUSTED", "slow", *details)
    assert exchange(MODEL, body, status=429, **headers).failure.retry_after_s == seconds


@pytest.mark.parametrize(
    ("finish", "kind"),
    [
        ("SAFETY", K.REFUSED),
        ("RECITATION", K.REFUSED),
        ("PROHIBITED_CONTENT", K.REFUSED),
        ("SPII", K.REFUSED),
        ("OTHER", K.REFUSED),
        ("A_REASON_OF_NEXT_YEAR", K.REFUSED),
        ("CONTINUATION", K.TRUNCATED),
        ("MALFORMED_FUNCTION_CALL", K.SCHEMA_VIOLATION),
        ("MALFORMED_RESPONSE", K.SCHEMA_VIOLATION),
    ],
)
def test_an_answer_that_is_not_finished_is_a_failure_with_what_was_paid_for(exchange, generated, finish, kind):
    failure = exchange(MODEL, generated(finishReason=finish)).failure
    assert failure.kind is kind
    assert failure.error_code == finish.lower()
    assert failure.usage == failure.reply.usage
    assert failure.usage.output_tokens == 3


def test_a_prompt_that_is_blocked_has_no_candidate_and_a_reason(exchange):
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 9}}
    failure = exchange(MODEL, blocked).failure
    assert (failure.kind, failure.error_code) == (K.REFUSED, "prohibited_content")
    assert (failure.usage.input_tokens, failure.usage.output_tokens) == (9, 0)


def test_what_is_cut_off_is_truncated_and_a_failure_only_without_text(exchange, generated):
    half = exchange(MODEL, generated(finishReason="MAX_TOKENS")).reply
    assert half.truncated
    assert half.text == "yes"
    thinking = generated(finishReason="MAX_TOKENS", parts=[{"text": "hm", "thought": True}])
    assert exchange(MODEL, thinking).failure.kind is K.TRUNCATED
    assert exchange(MODEL, generated(finishReason="MAX_TOKENS", content=None)).failure.kind is K.TRUNCATED


@pytest.mark.parametrize("body", [{}, {"candidates": []}, {"candidates": None, "usageMetadata": {}}])
def test_an_answer_without_a_candidate_may_be_billed(exchange, body):
    failure = exchange(MODEL, body).failure
    assert failure.kind is K.RESULT_LOST
    assert failure.unconfirmed


@pytest.mark.parametrize(
    ("usage", "used"),
    [
        ({"promptTokenCount": 10, "candidatesTokenCount": 4, "totalTokenCount": 14}, (10, 4, 0)),
        (
            {"promptTokenCount": 10, "candidatesTokenCount": 4, "thoughtsTokenCount": 50, "totalTokenCount": 64},
            (10, 54, 0),
        ),
        ({"promptTokenCount": 10, "thoughtsTokenCount": 50}, (10, 50, 0)),
        ({"promptTokenCount": 10, "candidatesTokenCount": 4, "toolUsePromptTokenCount": 6}, (16, 4, 0)),
        ({"promptTokenCount": 10, "candidatesTokenCount": 4, "cachedContentTokenCount": 8}, (10, 4, 8)),
        ({"promptTokenCount": 10, "candidatesTokenCount": 4, "totalTokenCount": 34}, (10, 24, 0)),  # something new
        ({"promptTokenCount": -1, "candidatesTokenCount": 4}, None),
        ({"candidatesTokenCount": 4}, None),
        ({}, None),
        (None, None),
    ],
)
def test_thinking_is_output_what_the_cache_held_is_told_and_half_a_usage_is_none(exchange, generated, usage, used):
    found = exchange(MODEL, generated(usage=usage)).reply.usage
    assert (found and (found.input_tokens, found.output_tokens, found.cache_read_tokens)) == used


@pytest.mark.parametrize(
    ("asked", "header", "body", "lane"),
    [
        ("priority", "priority", None, "priority"),
        ("priority", "standard", None, None),  # it was downgraded, and is billed so
        ("priority", "STANDARD", "priority", None),  # the header says what was served
        ("flex", None, "flex", "flex"),
        ("flex", None, None, "flex"),
        (None, "flex", None, "flex"),
        (None, None, "unspecified", None),
    ],
)
def test_the_lane_is_the_one_that_the_answer_says_it_was_served_in(exchange, generated, asked, header, body, lane):
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 4} | ({"serviceTier": body} if body else {})
    request = Request.ask("Is it?", extra_body={"serviceTier": asked} if asked else None)
    headers = {"x_gemini_service_tier": header} if header else {}
    assert exchange(MODEL, generated(usage=usage), request, **headers).reply.lane == lane


def test_thoughts_are_left_out_and_calls_of_tools_are_told(exchange, generated):
    parts = [{"text": "hm", "thought": True}, {"text": "a"}, {"text": "b"}]
    reply = exchange(MODEL, generated(parts=parts)).reply
    assert (reply.text, reply.blocks) == ("ab", ())
    called = {"functionCall": {"name": "weather", "args": {"city": "Ulm"}}, "thoughtSignature": "x"}
    reply = exchange(MODEL, generated(parts=[{"text": "a"}, called])).reply
    assert (reply.text, reply.blocks[1]) == ("a", called)
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("weather", {"city": "Ulm"})]


def test_an_answer_that_does_not_say_how_it_ended_is_taken(exchange, generated):
    assert exchange(MODEL, generated(finishReason=None)).reply.text == "yes"

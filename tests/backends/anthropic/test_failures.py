"""Errors of the Messages API, as `backends/_failures.py` reads them."""

import pytest

from batchwork.core.failure import FailureKind as K

MODEL = "anthropic:claude-haiku-5-5"


def error(kind, message="no", **details):
    said = {"type": kind, "message": message, **({"details": details} if details else {})}
    return {"type": "error", "error": said, "request_id": "req_1"}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, error("invalid_request_error"), K.REJECTED),
        (400, error("invalid_request_error", error_code="organization_on_hold"), K.AUTH),
        (400, error("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"), K.TOO_LONG),
        (401, error("authentication_error"), K.AUTH),
        (402, error("billing_error"), K.QUOTA),
        (403, error("permission_error"), K.AUTH),
        (404, error("not_found_error"), K.REJECTED),
        (408, b"", K.TIMEOUT),
        (409, error("conflict_error"), K.SERVER),
        (413, error("request_too_large"), K.TOO_LONG),
        (413, b"<html><body>Too large</body></html>", K.TOO_LONG),
        (413, error("request_too_large", error_code="request_body_too_large_after_decoding"), K.TOO_LONG),
        (422, b"{}", K.REJECTED),
        (429, error("rate_limit_error"), K.RATE_LIMITED),
        (429, error("rate_limit_error", error_code="ramp_limit_exceeded"), K.RATE_LIMITED),
        (429, error("rate_limit_error", error_code="something_new"), K.RATE_LIMITED),
        (429, error("rate_limit_error", error_code="enforced_spend_limit_reached"), K.QUOTA),
        (500, error("api_error"), K.SERVER),
        (502, b"Bad gateway", K.SERVER),
        (503, b"", K.SERVER),
        (504, error("timeout_error"), K.TIMEOUT),
        (529, error("overloaded_error"), K.OVERLOADED),
        (529, b"", K.OVERLOADED),
        (500, error("overloaded_error"), K.OVERLOADED),  # the type says more than a proxy's status
        (301, b"", K.REJECTED),
    ],
)
def test_every_error_has_one_kind_and_is_known_not_to_be_billed(exchange, status, body, kind):
    failure = exchange(MODEL, body, status=status).failure
    assert failure.kind is kind
    assert failure.status == status
    assert not failure.unconfirmed
    assert failure.usage is None


def test_the_error_code_is_kept_or_else_the_type(exchange):
    assert exchange(MODEL, error("rate_limit_error", error_code="x_y"), status=429).failure.error_code == "x_y"
    assert exchange(MODEL, error("rate_limit_error"), status=429).failure.error_code == "rate_limit_error"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "12", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_the_wait_the_provider_asks_for_is_understood(exchange, headers, seconds):
    assert exchange(MODEL, error("rate_limit_error"), status=429, **headers).failure.retry_after_s == seconds


def test_a_wait_until_a_date_is_counted_from_now(exchange):
    failure = exchange(MODEL, b"", status=503, retry_after="Fri, 01 Jan 2100 00:00:00 GMT").failure
    assert failure.retry_after_s > 1e9


def test_limits_come_with_a_refusal_too(exchange):
    failure = exchange(MODEL, b"", status=429, anthropic_ratelimit_requests_limit="50").failure
    assert failure.limits.requests.per_minute == 50


def test_an_unknown_model_is_told_what_there_is(exchange):
    failure = exchange("anthropic:claude-3-haiku-20240307", error("not_found_error", "model: x"), status=404).failure
    assert "claude-3-haiku-20240307" in failure.message
    assert "claude-haiku-5-5" in failure.message


def test_the_request_id_stands_in_the_message(exchange):
    failure = exchange(MODEL, error("api_error"), status=500, request_id="req_9").failure
    assert "[req_9]" in failure.message
    assert failure.request_id == "req_9"


def test_a_key_that_the_provider_repeats_is_not_shown(exchange):
    failure = exchange(MODEL, error("authentication_error", "bad key sk-the-secret-key!"), status=401).failure
    assert "sk-the-secret-key" not in failure.message
    assert "***" in failure.message


def test_a_connection_lost_after_sending_may_have_been_billed(exchange):
    failure = exchange(MODEL, cut="before").failure
    assert (failure.kind, failure.unconfirmed) == (K.CONNECTION, True)


def test_an_answer_cut_in_the_middle_may_have_been_billed(exchange):
    failure = exchange(MODEL, cut="middle").failure
    assert (failure.kind, failure.unconfirmed) == (K.CONNECTION, True)


def test_an_error_cut_in_the_middle_is_still_that_error(exchange):
    failure = exchange(MODEL, status=529, cut="middle").failure
    assert (failure.kind, failure.unconfirmed) == (K.OVERLOADED, False)

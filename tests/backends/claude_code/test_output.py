"""The logic around the program, with a fake one: a script of our own that says that it is a fake."""

import time

import pytest

from batchwork.backends.claude_code.output import USAGE_LIMIT, seconds_until_reset
from batchwork.core.failure import FailureKind as K
from batchwork.core.reply import Usage
from tests.support.fake_claude import ERROR, RESULT, assistant

NOON = 1_794_744_000.0  # 2026-11-15 12:00:00 UTC
SIGNED_OUT = {**assistant("m1", "Not logged in · Please run /login"), "error": "authentication_failed"}


def test_a_reply_has_the_cost_the_usage_and_the_model_it_reports(program):
    reply = program.ask()
    assert reply.reported_cost_nano == 1_647_000
    assert reply.usage == Usage(
        input_tokens=4310,
        output_tokens=5,
        cache_read_tokens=4000,
        cache_write_tokens=100,
        cache_write_1h_tokens=200,
    )
    assert (reply.model, reply.provider_id) == ("fake-model", "s-1")


def test_an_answer_that_it_continued_by_itself_is_whole(program):
    program.prints([assistant("m1", "fake "), assistant("m2", "answer"), {**RESULT, "result": "answer"}])
    assert program.ask().text == "fake answer"


def test_an_older_program_that_prints_the_result_alone_is_understood(program):
    program.prints(RESULT)
    assert program.ask().text == "fake answer"


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ({**ERROR, "api_error_status": 400}, K.REJECTED),
        ({**ERROR, "api_error_status": 401}, K.AUTH),
        ({**ERROR, "api_error_status": 403}, K.AUTH),
        ({**ERROR, "api_error_status": 413}, K.TOO_LONG),
        ({**ERROR, "api_error_status": 429}, K.RATE_LIMITED),
        ({**ERROR, "api_error_status": 500}, K.SERVER),
        ({**ERROR, "api_error_status": 529}, K.OVERLOADED),
        ({**ERROR, "terminal_reason": "prompt_too_long"}, K.TOO_LONG),
        ({**ERROR, "subtype": "error_during_execution", "result": None, "errors": ["x"]}, K.SERVER),
    ],
)
def test_is_error_and_the_status_are_read_before_the_subtype(program, result, kind):
    program.prints([result], code=1)
    failure = program.ask()
    assert failure.kind is kind
    assert failure.usage is None
    assert not failure.unconfirmed


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ({**RESULT, "is_error": True, "stop_reason": "refusal"}, K.REFUSED),
        ({**RESULT, "is_error": True, "stop_reason": "max_tokens"}, K.TRUNCATED),
        ({**RESULT, "is_error": True, "subtype": "error_max_structured_output_retries"}, K.SCHEMA_VIOLATION),
    ],
)
def test_what_was_paid_for_comes_with_the_failure(program, result, kind):
    program.prints([result], code=1)
    failure = program.ask()
    assert failure.kind is kind
    assert failure.usage.output_tokens == 5
    assert failure.reply.reported_cost_nano == 1_647_000


def test_an_answer_that_came_before_the_budget_was_looked_at_is_kept(program):
    result = {**RESULT, "subtype": "error_max_budget_usd", "is_error": True, "errors": ["Reached maximum budget"]}
    del result["result"]
    program.prints([assistant("m1", "dear answer"), result], code=1)
    assert program.ask().text == "dear answer"


@pytest.mark.parametrize(
    "printed",
    [
        [SIGNED_OUT, {**ERROR, "result": "Not logged in · Please run /login"}],  # 2.1.197, word by word
        [SIGNED_OUT, {**ERROR, "result": "words that nobody foresaw"}],
        {**ERROR, "result": "Invalid API key · Please run /login"},  # the result alone
    ],
)
def test_a_program_that_is_not_signed_in_is_an_auth_failure_without_any_status(program, printed):
    program.prints(printed, code=1)
    failure = program.ask()
    assert (failure.kind, failure.status) == (K.AUTH, None)
    assert "run `claude` once and sign in" in failure.message


def test_an_answer_that_speaks_of_logging_in_is_an_answer(program):
    program.prints([{**RESULT, "result": "First run /login, then ask."}])
    assert program.ask().text == "First run /login, then ask."


def test_a_usage_limit_that_ends_at_a_stamp_is_told_in_clock_time(program, monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        program.prints([{**ERROR, "result": "Claude AI usage limit reached|1794747600"}], code=1)
        failure = program.ask()
    finally:
        monkeypatch.undo()
        time.tzset()
    assert failure.message == "Claude AI usage limit reached, until 2026-11-15 14:00 CET"


def test_a_usage_limit_is_a_quota_with_its_end(program):
    message = "You've hit your session limit · resets 3pm (UTC)"
    program.prints([{**ERROR, "api_error_status": 429, "result": message}], code=1)
    failure = program.ask()
    assert failure.kind is K.QUOTA
    assert 0 < failure.retry_after_s <= 24 * 3600


def test_a_program_that_prints_no_result_says_why(program):
    program.prints("", stderr="error: unknown option '--tools'", code=1)
    failure = program.ask()
    assert failure.kind is K.REJECTED
    assert "unknown option" in failure.message


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("You've hit your session limit · resets 3pm (UTC)", 3 * 3600),
        ("You've hit your limit · resets 3:30pm (UTC)", 3.5 * 3600),
        ("You've hit your limit · resets 11am (UTC)", 23 * 3600),
        ("You've hit your limit · resets 1pm (Europe/Berlin)", 24 * 3600),
        ("You've hit your limit · resets 2pm (Europe/Berlin)", 3600),
        ("You've reached your weekly limit · resets Nov 17, 12pm (UTC)", 48 * 3600),
        ("You've hit your weekly limit · resets Jan 1, 2027, 12am (UTC)", 46.5 * 86400),
        ("Claude AI usage limit reached|1794747600", 3600),
        ("Claude AI usage limit reached|1794747600000", 3600),
        ("Claude AI usage limit reached", None),
        ("You've hit your limit · resets Feb 30, 3pm (UTC)", None),
    ],
)
def test_the_end_of_a_usage_limit_is_read_from_its_words(message, seconds):
    assert USAGE_LIMIT.search(message)
    assert seconds_until_reset(message, NOON) == seconds


def test_an_ordinary_error_is_no_usage_limit():
    assert not USAGE_LIMIT.search("API Error: Request rejected (429) · this request would exceed your rate limit")

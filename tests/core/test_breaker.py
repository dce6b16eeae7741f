import pytest

from batchwork.core.breaker import Breaker
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.policy import Policy
from batchwork.core.words import PYTHON, command_line


def _failure(kind: str, after: float | None = None) -> Failure:
    return Failure(kind=FailureKind(kind), message="told", retry_after_s=after)


def _breaker() -> Breaker:
    return Breaker(Policy(max_consecutive_failures=3, max_wait_s=900, stall_s=300))


def test_one_wrong_key_is_enough() -> None:
    pause = _breaker().failed(_failure("auth"), 0.0)
    assert pause is not None
    assert "credentials" in pause.reason
    assert "API key" in pause.remedy


def test_a_quota_without_a_known_end_pauses() -> None:
    pause = _breaker().failed(_failure("quota"), 0.0)
    assert pause is not None
    assert "its end is not known" in pause.reason


def test_a_quota_that_ends_within_max_wait_is_waited_out() -> None:
    breaker = _breaker()
    assert breaker.failed(_failure("quota", after=900), 0.0) is None
    assert breaker.is_worth_waiting(_failure("quota", after=900))


def test_a_quota_that_ends_later_pauses_and_says_when() -> None:
    pause = _breaker().failed(_failure("quota", after=7200), 0.0)
    assert pause is not None
    assert "2.0 h" in pause.reason
    assert "raise max_wait=" in pause.at(PYTHON)["remedy"]
    assert "raise --max-wait" in pause.at(command_line("j.db"))["remedy"]


@pytest.mark.parametrize("kind", ["server", "timeout", "connection", "rejected", "internal", "overloaded"])
def test_so_many_items_in_a_row_that_end_in_an_api_failure_pause(kind: str) -> None:
    breaker = _breaker()
    pauses = [breaker.gave_up(_failure(kind)) for _ in range(3)]
    assert pauses[:2] == [None, None]
    assert pauses[2] is not None
    assert "3 items in a row" in pauses[2].reason


@pytest.mark.parametrize("kind", ["refused", "schema_violation", "truncated", "too_long", "bad_input"])
def test_a_failure_that_the_item_itself_caused_breaks_the_row(kind: str) -> None:
    breaker = _breaker()
    breaker.gave_up(_failure("server"))
    breaker.gave_up(_failure("server"))
    assert breaker.gave_up(_failure(kind)) is None
    assert breaker.gave_up(_failure("server")) is None


def test_an_answer_in_between_breaks_the_row() -> None:
    breaker = _breaker()
    breaker.gave_up(_failure("server"))
    breaker.gave_up(_failure("server"))
    breaker.answered()
    assert breaker.gave_up(_failure("server")) is None


def test_refusals_for_so_long_without_an_answer_are_a_stall() -> None:
    breaker = _breaker()
    assert breaker.failed(_failure("rate_limited"), 0.0) is None
    assert breaker.failed(_failure("overloaded"), 150.0) is None
    pause = breaker.failed(_failure("rate_limited"), 300.0)
    assert pause is not None
    assert "5 min" in pause.reason


def test_the_time_before_the_first_refusal_is_no_stall() -> None:
    breaker = _breaker()
    assert [breaker.failed(_failure("rate_limited"), 5000.0 + n) for n in range(5)] == [None] * 5


def test_an_answer_ends_a_stall() -> None:
    breaker = _breaker()
    breaker.failed(_failure("rate_limited"), 0.0)
    breaker.failed(_failure("rate_limited"), 100.0)
    breaker.answered()
    assert breaker.failed(_failure("rate_limited"), 400.0) is None


def test_a_refusal_that_names_a_time_beyond_max_wait_pauses_at_once() -> None:
    pause = _breaker().failed(_failure("rate_limited", after=3600), 0.0)
    assert pause is not None
    assert "60 min" in pause.reason

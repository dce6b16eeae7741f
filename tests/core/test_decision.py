"""What becomes of an item after a call."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.breaker import Breaker
from batchwork.core.decision import Decision, Move, Tries, after_failure, after_reply, wait_before_retry
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.policy import Policy, RetryPolicy
from batchwork.core.ports import AnswerVerdict
from batchwork.core.reply import Reply
from batchwork.core.request import Message

POLICY = Policy(max_consecutive_failures=2)
REPLY = Reply(text="no")
WRONG = Failure(kind=FailureKind.SCHEMA_VIOLATION, message="not a number")
TURNS = (Message(role="user", content="a number, please"),)


def after(kind: FailureKind, *, tries: Tries | None = None, breaker: Breaker | None = None, **told: Any) -> Decision:
    in_a_row = told.pop("in_a_row", True)
    failure = Failure(kind=kind, message="scripted", **told)
    return after_failure(
        failure,
        tries or Tries(1, 1, 1, 0.0),
        policy=POLICY,
        breaker=breaker or Breaker(POLICY),
        now=0.0,
        dice=0.5,
        in_a_row=in_a_row,
    )


def test_an_answer_that_will_do_is_accepted() -> None:
    decision = after_reply(AnswerVerdict(value=3), REPLY, reasks=0, policy=POLICY)
    assert (decision.move, decision.value) == (Move.ACCEPT, 3)


def test_an_answer_that_will_not_do_is_asked_for_again_as_often_as_the_policy_says() -> None:
    verdict = AnswerVerdict(failure=WRONG, reask=TURNS)
    first = after_reply(verdict, REPLY, reasks=0, policy=POLICY)
    assert (first.move, first.turns) == (Move.ASK_AGAIN, TURNS)
    last = after_reply(verdict, REPLY, reasks=1, policy=POLICY)
    assert last.move is Move.FAIL
    assert last.failure is not None
    assert last.failure.reply is REPLY


@pytest.mark.parametrize("kind", [FailureKind.SERVER, FailureKind.TIMEOUT, FailureKind.CONNECTION])
def test_what_may_pass_is_tried_again(kind: FailureKind) -> None:
    assert after(kind).move is Move.RETRY


@pytest.mark.parametrize("kind", [FailureKind.REJECTED, FailureKind.RESULT_LOST, FailureKind.BAD_INPUT])
def test_what_would_only_repeat_itself_or_be_paid_again_fails(kind: FailureKind) -> None:
    assert after(kind).move is Move.FAIL


def test_a_wrong_key_pauses_the_run() -> None:
    decision = after(FailureKind.AUTH)
    assert decision.move is Move.PAUSE
    assert decision.pause is not None
    assert decision.pause.cause == "credentials"


def test_a_quota_whose_end_is_known_is_waited_for_by_everybody() -> None:
    decision = after(FailureKind.QUOTA, retry_after_s=30.0)
    assert (decision.move, decision.wait_s, decision.everybody_waits) == (Move.RETRY, 30.5, True)


def test_what_did_not_run_rides_again_as_often_as_the_policy_says() -> None:
    assert after(FailureKind.EXPIRED, tries=Tries(0, 0, 2, 0.0)).move is Move.RETRY
    assert after(FailureKind.EXPIRED, tries=Tries(0, 0, 3, 0.0)).move is Move.FAIL


def test_one_failure_too_many_in_a_row_pauses_the_run_unless_the_calls_have_run_already() -> None:
    breaker = Breaker(POLICY)
    assert after(FailureKind.REJECTED, breaker=breaker).pause is None
    assert after(FailureKind.REJECTED, breaker=breaker).pause is not None
    lines = Breaker(POLICY)
    assert all(after(FailureKind.REJECTED, breaker=lines, in_a_row=False).pause is None for _ in range(5))


_PASSING = ["rate_limited", "overloaded", "timeout", "connection", "server"]
_FINAL = [kind.value for kind in FailureKind if kind.value not in _PASSING]


def _wait(kind: str, **told: float) -> float | None:
    policy = RetryPolicy(max_attempts=3, max_refusals=5, first_wait_s=1.0, longest_wait_s=10.0, max_elapsed_s=100.0)
    failure = Failure(kind=FailureKind(kind), message="", retry_after_s=told.get("after"))
    return wait_before_retry(
        failure,
        attempts=int(told.get("attempts", 1)),
        refusals=int(told.get("refusals", 1)),
        elapsed_s=told.get("elapsed", 0.0),
        policy=policy,
        dice=told.get("dice", 0.5),
    )


@pytest.mark.parametrize("kind", _PASSING)
def test_a_passing_failure_is_tried_again(kind: str) -> None:
    assert _wait(kind) == (0.25 if kind in ("rate_limited", "overloaded") else 0.5)


@pytest.mark.parametrize("kind", _FINAL)
def test_a_failure_that_would_only_repeat_itself_is_never_tried_again(kind: str) -> None:
    assert _wait(kind, after=1.0) is None


def test_the_providers_own_wait_beats_our_formula() -> None:
    assert _wait("rate_limited", after=30.0, dice=0.5) == 31.5


def test_the_wait_doubles_up_to_the_longest() -> None:
    waits = [_wait("server", attempts=n, dice=0.999) for n in (1, 2)]
    assert waits == [pytest.approx(0.999 * base) for base in (1, 2)]


def test_a_refused_call_waits_no_longer_than_two_seconds_since_the_gate_holds_them_all() -> None:
    waits = [_wait("rate_limited", refusals=n, dice=0.999) for n in (1, 2, 3, 4)]
    assert waits == [pytest.approx(0.999 * base) for base in (0.5, 1, 2, 2)]


def test_the_wait_never_passes_the_longest() -> None:
    policy = RetryPolicy(max_attempts=2000, longest_wait_s=60.0)
    failure = Failure(kind=FailureKind.SERVER, message="")
    wait = wait_before_retry(failure, attempts=1999, refusals=0, elapsed_s=0, policy=policy, dice=0.5)
    assert wait == 30.0


def test_attempts_are_bounded() -> None:
    assert _wait("server", attempts=3) is None


def test_refusals_have_a_bound_of_their_own() -> None:
    assert _wait("overloaded", attempts=3, refusals=4) is not None
    assert _wait("overloaded", attempts=0, refusals=5) is None


def test_total_time_is_bounded() -> None:
    assert _wait("server", elapsed=99.6) is None
    assert _wait("server", elapsed=99.4) == 0.5


@given(attempts=st.integers(1, 2), dice=st.floats(0, 1, exclude_max=True))
def test_jitter_is_full(attempts: int, dice: float) -> None:
    wait = _wait("connection", attempts=attempts, dice=dice)
    assert wait is not None
    assert 0 <= wait < 2.0 ** (attempts - 1)

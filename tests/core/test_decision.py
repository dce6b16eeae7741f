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
    line = told.pop("line", False)
    failure = Failure(kind=kind, message="scripted", **told)
    return after_failure(
        failure,
        tries or Tries(1, 1, 1),
        policy=POLICY,
        breaker=breaker or Breaker(POLICY),
        now=0.0,
        dice=0.5,
        line=line,
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
    assert after(FailureKind.EXPIRED, tries=Tries(0, 0, 2)).move is Move.RETRY
    assert after(FailureKind.EXPIRED, tries=Tries(0, 0, 3)).move is Move.FAIL


def test_one_failure_too_many_in_a_row_pauses_the_run_unless_the_calls_have_run_already() -> None:
    breaker = Breaker(POLICY)
    assert after(FailureKind.REJECTED, breaker=breaker).pause is None
    assert after(FailureKind.REJECTED, breaker=breaker).pause is not None
    lines = Breaker(POLICY)
    assert all(after(FailureKind.REJECTED, breaker=lines, line=True).pause is None for _ in range(5))


_PASSING = ["rate_limited", "overloaded", "timeout", "connection", "server"]
_FINAL = [kind.value for kind in FailureKind if kind.value not in _PASSING]


_TIMED = Policy(
    retry=RetryPolicy(max_attempts=3, first_wait_s=1.0, longest_wait_s=10.0, max_elapsed_s=100.0), max_wait_s=50.0
)


def _wait(kind: str, *, policy: Policy = _TIMED, line: bool = False, **told: float) -> float | None:
    failure = Failure(kind=FailureKind(kind), message="", retry_after_s=told.get("after"))
    tries = Tries(
        int(told.get("attempts", 1)),
        int(told.get("refusals", 1)),
        elapsed_s=told.get("elapsed", 0.0),
        refused_s=told.get("refused", 0.0),
    )
    return wait_before_retry(failure, tries, policy=policy, dice=told.get("dice", 0.5), line=line)


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
    policy = Policy(retry=RetryPolicy(max_attempts=2000, longest_wait_s=60.0))
    assert _wait("server", policy=policy, attempts=1999) == 30.0


def test_attempts_are_bounded() -> None:
    assert _wait("server", attempts=3) is None


def test_refusals_are_bounded_by_the_time_since_the_first_one_and_not_by_their_number() -> None:
    assert _wait("overloaded", attempts=3, refusals=10_000, refused=48.9) == 1.0
    assert _wait("overloaded", attempts=0, refusals=3, refused=49.1) is None


def test_the_time_that_an_item_was_refused_does_not_bound_its_failures() -> None:
    assert _wait("server", refused=90.0) == 0.5


def test_in_a_batch_where_a_round_takes_hours_a_refused_line_counts_as_a_failed_one() -> None:
    assert _wait("overloaded", attempts=2, refused=20_000.0, line=True) is not None
    assert _wait("overloaded", attempts=3, line=True) is None


def test_a_provider_that_wants_exactly_max_wait_is_waited_for() -> None:
    runs = Policy(max_wait_s=50.0)
    assert _wait("rate_limited", policy=runs, after=50.0) == 52.5
    assert _wait("rate_limited", policy=runs, after=50.0, refused=0.1) is None
    assert _wait("server", policy=runs, after=50.1) is None


def test_total_time_is_bounded_for_failures_and_refusals_where_somebody_waits() -> None:
    for kind in ("server", "rate_limited"):
        assert _wait(kind, elapsed=99.9) is None
        assert _wait(kind, elapsed=99.4) is not None


def test_total_time_is_not_bounded_in_a_run() -> None:
    assert _wait("server", policy=Policy(), elapsed=1e6) == 0.5


def test_a_quota_that_ends_too_late_for_whoever_waits_fails_the_item() -> None:
    failure = Failure(kind=FailureKind.QUOTA, message="", retry_after_s=30.0)
    for elapsed_s, move in ((69.0, Move.RETRY), (70.0, Move.FAIL)):
        tries = Tries(1, elapsed_s=elapsed_s)
        breaker = Breaker(_TIMED)
        decision = after_failure(failure, tries, policy=_TIMED, breaker=breaker, now=0.0, dice=0.5)
        assert (decision.move, decision.everybody_waits) == (move, move is Move.RETRY)


@pytest.mark.parametrize("answered", [False, True])
def test_an_item_that_is_refused_for_too_long_fails_unless_nobody_is_answered(answered: bool) -> None:
    policy = Policy(max_wait_s=50.0)
    breaker = Breaker(policy)
    refusal = Failure(kind=FailureKind.RATE_LIMITED, message="slow down")
    first = after_failure(refusal, Tries(0, 1), policy=policy, breaker=breaker, now=0.0, dice=0.5)
    if answered:
        breaker.answered()
    last = after_failure(refusal, Tries(0, 2, refused_s=50.0), policy=policy, breaker=breaker, now=50.0, dice=0.5)
    assert (first.move, last.move) == (Move.RETRY, Move.FAIL if answered else Move.PAUSE)
    assert answered or (last.pause is not None and last.pause.cause == "stalled")


@given(
    fates=st.lists(st.sampled_from(_PASSING), max_size=60),
    retries=st.integers(0, 8),
    max_wait_s=st.floats(0.1, 1000.0),
    max_elapsed_s=st.none() | st.floats(0.1, 1000.0),
    dice=st.floats(0, 1, exclude_max=True),
    took_s=st.floats(0.0, 50.0),
)
def test_whatever_happens_failures_are_bounded_by_number_and_refusals_by_time(
    fates: list[str], retries: int, max_wait_s: float, max_elapsed_s: float | None, dice: float, took_s: float
) -> None:
    retry = RetryPolicy(max_attempts=retries + 1, max_elapsed_s=max_elapsed_s)
    policy = Policy(retry=retry, max_wait_s=max_wait_s)
    now, failures, refusals, first_refusal = 0.0, 0, 0, None
    for fate in fates:
        started = now
        assert max_elapsed_s is None or started <= max_elapsed_s
        assert failures <= retries
        now += took_s
        refused = fate in ("rate_limited", "overloaded")
        failures, refusals = failures + (not refused), refusals + refused
        if refused and first_refusal is None:
            first_refusal = now
        refused_s = 0.0 if first_refusal is None else now - first_refusal
        wait = _wait(
            fate, policy=policy, attempts=failures, refusals=refusals, elapsed=now, refused=refused_s, dice=dice
        )
        if wait is None:
            return
        if refused:
            assert refused_s + wait <= max_wait_s
        now += wait


@given(attempts=st.integers(1, 2), dice=st.floats(0, 1, exclude_max=True))
def test_jitter_is_full(attempts: int, dice: float) -> None:
    wait = _wait("connection", attempts=attempts, dice=dice)
    assert wait is not None
    assert 0 <= wait < 2.0 ** (attempts - 1)

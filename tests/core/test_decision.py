"""What becomes of an item after a call."""

from __future__ import annotations

from typing import Any

import pytest

from batchwork.core.breaker import Breaker
from batchwork.core.decision import Decision, Move, Tries, after_failure, after_reply
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.policy import Policy
from batchwork.core.ports import Verdict
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
    decision = after_reply(Verdict(value=3), REPLY, reasks=0, policy=POLICY)
    assert (decision.move, decision.value) == (Move.ACCEPT, 3)


def test_an_answer_that_will_not_do_is_asked_for_again_as_often_as_the_policy_says() -> None:
    verdict = Verdict(failure=WRONG, reask=TURNS)
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

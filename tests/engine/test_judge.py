"""The one judge: what becomes of an item after a call of its own, and after its line of a batch."""

from __future__ import annotations

from typing import Any

import pytest

from batchwork.core.decision import Decision, Move
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.policy import Policy, RetryPolicy
from batchwork.core.ports import AnswerVerdict
from batchwork.core.reply import Reply
from batchwork.core.request import Message, Request
from batchwork.engine.judge import Judge
from tests.support.parts import life_of, parts
from tests.support.scripted import failure, reply
from tests.support.virtual_time import run_virtual


class Strict:
    """A checker that refuses everything, and says how to ask again."""

    def check(self, request: Request, reply: Reply) -> AnswerVerdict:
        problem = Failure(kind=FailureKind.SCHEMA_VIOLATION, message="not a number")
        return AnswerVerdict(failure=problem, reask=(Message("user", "a number, please"),))


def judged(*results: Reply | Failure, line: bool = False, sends: bool = True, **others: Any) -> list[Decision]:
    """What one judge says of the same item's results, one after the other."""

    async def main() -> list[Decision]:
        made = parts(**others)
        judge, life = Judge(made, sends=sends), life_of(made)
        decisions = []
        for result in results:
            decisions.append(judge.of_line(life, result) if line else judge.of_call(life, result))
            life.reasks += decisions[-1].move is Move.ASK_AGAIN
        return decisions

    return run_virtual(main())


@pytest.mark.parametrize("line", [False, True])
def test_an_answer_is_accepted_where_nobody_checks_it(line: bool) -> None:
    assert [decision.move for decision in judged(reply(), line=line)] == [Move.ACCEPT]


@pytest.mark.parametrize("line", [False, True])
def test_an_answer_that_will_not_do_is_asked_again_as_often_as_the_policy_says(line: bool) -> None:
    moves = [d.move for d in judged(reply(), reply(), reply(), line=line, checker=Strict(), policy=Policy(reasks=2))]
    assert moves == [Move.ASK_AGAIN, Move.ASK_AGAIN, Move.FAIL]


def test_where_nothing_is_sent_what_would_be_asked_again_fails_with_its_answer() -> None:
    (decision,) = judged(reply("x"), line=True, sends=False, checker=Strict())
    assert decision.move is Move.FAIL
    assert decision.failure is not None
    assert decision.failure.reply is not None
    assert decision.failure.reply.text == "x"


def test_failures_are_retried_until_the_tries_are_used_up() -> None:
    server = failure(FailureKind.SERVER)
    policy = Policy(retry=RetryPolicy.of(1))
    assert [d.move for d in judged(server, server, policy=policy)] == [Move.RETRY, Move.FAIL]


def test_one_failure_too_many_in_a_row_pauses_a_live_run_and_never_the_reading_of_a_batch() -> None:
    policy = Policy(max_consecutive_failures=1, retry=RetryPolicy.of(0))
    refused = failure(FailureKind.SERVER)
    (called,) = judged(refused, policy=policy)
    (read,) = judged(refused, policy=policy, line=True)
    assert (called.pause is not None, read.pause is not None) == (True, False)


def test_waiting_for_a_quota_uses_up_no_retry() -> None:
    quota = failure(FailureKind.QUOTA, after=5.0)
    decisions = judged(quota, quota, quota, policy=Policy(retry=RetryPolicy.of(0)))
    assert all(d.move is Move.RETRY and d.everybody_waits for d in decisions)

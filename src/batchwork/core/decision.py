"""Decide what becomes of an item after a call: accept, ask again, retry and when, fail or pause the run.

Pure: the caller brings the dice and does the sleeping. The same for live calls and for the lines of a batch; who
executes a decision differs, who takes it does not.
"""

from enum import Enum
from typing import Any

import msgspec

from batchwork.core.breaker import Breaker, Pause
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.failure_table import Operation, Trait, is_refusal, traits_of
from batchwork.core.policy import Policy
from batchwork.core.ports import AnswerVerdict
from batchwork.core.reply import Reply
from batchwork.core.request import Message

_SPREAD = 0.1
_LONGEST_REFUSED_S = 2.0


class Move(Enum):
    """What is done with an item next."""

    ACCEPT = "accept"
    ASK_AGAIN = "ask again"  # with what was wrong
    RETRY = "retry"  # the same, after a while
    FAIL = "fail"
    PAUSE = "pause"  # the run; the item stays pending


class Decision(msgspec.Struct, frozen=True, gc=False):
    """A move, and what belongs to it."""

    move: Move
    value: Any = None  # ACCEPT: the answer as validated JSON
    failure: Failure | None = None  # every other move
    turns: tuple[Message, ...] = ()  # ASK_AGAIN
    wait_s: float = 0.0  # RETRY
    pause: Pause | None = None  # PAUSE; with FAIL it was one failure too many
    everybody_waits: bool = False  # RETRY: until then no other call has a chance either


class Tries(msgspec.Struct, frozen=True, gc=False):
    """How often an item was tried, the failure at hand counted in."""

    failures: int
    refusals: int = 0
    expiries: int = 0
    elapsed_s: float = 0.0  # since its first call, without the time in which it waited for a slot
    refused_s: float = 0.0  # since its first refusal


def after_reply(verdict: AnswerVerdict, reply: Reply, *, reasks: int, policy: Policy) -> Decision:
    """What a checked reply leads to; `reasks` is how often the item was asked again already."""
    if verdict.failure is None:
        return Decision(Move.ACCEPT, verdict.value)
    if verdict.reask and reasks < policy.reasks:
        return Decision(Move.ASK_AGAIN, failure=verdict.failure, turns=verdict.reask)
    return Decision(Move.FAIL, failure=msgspec.structs.replace(verdict.failure, reply=reply))


def after_failure(
    failure: Failure,
    tries: Tries,
    *,
    policy: Policy,
    breaker: Breaker,
    now: float,
    dice: float,
    line: bool = False,
) -> Decision:
    """What a failed call leads to.

    A `line` of a batch ran hours ago, with all the others: failures in a row are no reason to pause the run, and time
    does not bound its refusals; they count as failures.
    """
    if failure.kind is FailureKind.EXPIRED:  # it did not run, so it says nothing about the item
        spent = tries.expiries > policy.batch.max_expiries
        return Decision(Move.FAIL if spent else Move.RETRY, failure=failure)
    if (pause := breaker.failed(failure, now)) is not None:
        return Decision(Move.PAUSE, failure=failure, pause=pause)
    if Trait.LATER in traits_of(failure.kind) and failure.retry_after_s is not None:
        wait_s = failure.retry_after_s + dice
        move = Move.RETRY if _is_in_time(tries, wait_s, policy) else Move.FAIL
        return Decision(move, failure=failure, wait_s=wait_s, everybody_waits=move is Move.RETRY)
    wait = wait_before_retry(failure, tries, policy=policy, dice=dice, line=line)
    if wait is not None:
        return Decision(Move.RETRY, failure=failure, wait_s=wait)
    if line:
        return Decision(Move.FAIL, failure=failure)
    nobody_is_answered = 0.0 < tries.refused_s <= breaker.refused_for_s(now)
    if is_refusal(failure) and policy.retry.max_elapsed_s is None and nobody_is_answered:
        return Decision(Move.PAUSE, failure=failure, pause=breaker.stall(failure, now))
    return Decision(Move.FAIL, failure=failure, pause=breaker.gave_up(failure))


def wait_before_retry(
    failure: Failure,
    tries: Tries,
    *,
    policy: Policy,
    dice: float,
    operation: Operation = Operation.CALL,
    line: bool = False,
) -> float | None:
    """Seconds to wait before the next attempt, or None to give up. `dice` is uniform in [0, 1) and spreads the herd.

    Calls that were taken on and failed are bounded by their number. Those that the provider turned away cost nothing
    and say nothing about the item: they are bounded by the time since the first one.
    """
    traits = traits_of(failure.kind, operation)
    if Trait.RETRYABLE not in traits:
        return None
    refused = Trait.REFUSAL in traits and not line
    if not refused and tries.failures >= policy.retry.max_attempts:
        return None
    if failure.retry_after_s is not None:
        # The provider knows its own queue; the dice spread the herd.
        wait = failure.retry_after_s * (1.0 + _SPREAD * dice)
    else:
        doublings = min((tries.refusals if refused else tries.failures) - 1, 60)
        first_s, longest_s = policy.retry.first_wait_s, policy.retry.longest_wait_s
        if refused:  # that is about all calls: how long they wait is decided at the gate
            first_s, longest_s = first_s / 2.0, min(longest_s, _LONGEST_REFUSED_S)
        wait = dice * min(longest_s, first_s * 2.0**doublings)
    named_s = failure.retry_after_s or 0.0
    waited_s = tries.refused_s + (named_s or wait) if refused else named_s
    return wait if waited_s <= policy.max_wait_s and _is_in_time(tries, wait, policy) else None


def _is_in_time(tries: Tries, wait_s: float, policy: Policy) -> bool:
    longest_s = policy.retry.max_elapsed_s
    return longest_s is None or tries.elapsed_s + wait_s <= longest_s

"""Judges what came back for an item: the one judge of live runs, batch runs and attached batches.

It asks the checker whether an answer will do and `core/decision.py` what follows, and keeps the item's counts.
"""

import msgspec

from batchwork.core.breaker import Breaker
from batchwork.core.decision import Decision, Move, Tries, after_failure, after_reply
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.failure_table import is_refusal
from batchwork.core.reply import Reply
from batchwork.engine.life import Life
from batchwork.engine.parts import Parts

_ACCEPTED = Decision(Move.ACCEPT)  # made once: without a schema nearly every call ends so


class Judge:
    """The judge of one run. `sends` says whether anything may be sent again; what may not be fails."""

    def __init__(self, parts: Parts, *, sends: bool = True) -> None:
        self._p = parts
        self._sends = sends
        self._breaker = Breaker(parts.policy)

    def of_call(self, life: Life, result: Reply | Failure) -> Decision:
        """What becomes of an item after a call of its own."""
        if isinstance(result, Reply):
            if self._p.checker is None:
                self._breaker.answered()
                return _ACCEPTED
            return self._of_reply(life, result)
        if result.reply is not None:
            self._breaker.answered()
        return self._of_failure(life, result, in_a_row=True)

    def of_line(self, life: Life, result: Reply | Failure) -> Decision:
        """What becomes of an item after its line of a batch.

        The lines of a batch have run already, all of them: bad ones in a row are no reason to stop reading.
        """
        if isinstance(result, Reply):
            return self._of_reply(life, result)
        return self._of_failure(life, result, in_a_row=False)

    def _of_reply(self, life: Life, reply: Reply) -> Decision:
        self._breaker.answered()
        if self._p.checker is None:
            return _ACCEPTED
        verdict = self._p.checker.check(life.request, reply)
        decision = after_reply(verdict, reply, reasks=life.reasks, policy=self._p.policy)
        if decision.move is Move.ASK_AGAIN and not self._sends:
            assert decision.failure is not None
            return Decision(Move.FAIL, failure=msgspec.structs.replace(decision.failure, reply=reply))
        return decision

    def _of_failure(self, life: Life, failure: Failure, *, in_a_row: bool) -> Decision:
        if not self._sends:
            return Decision(Move.FAIL, failure=failure)
        if failure.kind is FailureKind.EXPIRED:
            life.expiries += 1
        elif is_refusal(failure):
            life.refusals += 1
        else:
            life.failures += 1
        now = self._p.clock.now()
        elapsed_s = 0.0 if life.started is None else now - life.started
        tries = Tries(life.failures, life.refusals, life.expiries, elapsed_s)
        decision = after_failure(
            failure,
            tries,
            policy=self._p.policy,
            breaker=self._breaker,
            now=now,
            dice=self._p.dice(),
            in_a_row=in_a_row,
        )
        if decision.everybody_waits:  # waiting for a quota says nothing about the item
            life.failures -= 1
            life.started = None
        return decision

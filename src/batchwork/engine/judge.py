"""Judges what came back for an item: the one judge of live runs, batch runs and attached batches.

It asks the checker whether an answer will do and `core/decision.py` what follows, and keeps the item's counts.
"""

import msgspec

from batchwork.core.breaker import Breaker
from batchwork.core.decision import Decision, Move, after_failure, after_reply
from batchwork.core.failure import Failure
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
        return self._of_failure(life, result)

    def of_line(self, life: Life, result: Reply | Failure) -> Decision:
        """What becomes of an item after its line of a batch.

        The lines of a batch have run already, all of them: bad ones in a row are no reason to stop reading.
        """
        if isinstance(result, Reply):
            return self._of_reply(life, result)
        return self._of_failure(life, result, line=True)

    def _of_reply(self, life: Life, reply: Reply) -> Decision:
        self._breaker.answered()
        if self._p.checker is None:
            return _ACCEPTED
        verdict = self._p.checker.check(life.request, reply)
        if verdict.failure is None and verdict.value is None:
            return _ACCEPTED
        decision = after_reply(verdict, reply, reasks=life.reasks, policy=self._p.policy)
        if decision.move is Move.ASK_AGAIN and not self._sends:
            assert decision.failure is not None
            return Decision(Move.FAIL, failure=msgspec.structs.replace(decision.failure, reply=reply))
        return decision

    def _of_failure(self, life: Life, failure: Failure, *, line: bool = False) -> Decision:
        if not self._sends:
            return Decision(Move.FAIL, failure=failure)
        now, parts = self._p.clock.now(), self._p
        tries = life.count(failure, now, line=line)
        decision = after_failure(
            failure, tries, policy=parts.policy, breaker=self._breaker, now=now, dice=parts.dice(), line=line
        )
        if decision.everybody_waits:
            life.wait_for_quota()
        return decision

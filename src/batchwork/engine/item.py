"""See one item through: admit, attempt, check, decide, record.

Nothing here decides whether to retry, whether there is money or whether an answer will do: it asks
those who do, and writes down what happened before anybody sees it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import msgspec

from batchwork.core.bounds import Expectation
from batchwork.core.breaker import Breaker, Pause
from batchwork.core.errors import BackendError
from batchwork.core.event import Admitted, Attempted
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.intake import Work
from batchwork.core.outcome import AnyOutcome, Deferred
from batchwork.core.ports import TokenCounter, Verdict
from batchwork.core.reply import Reply
from batchwork.core.retry import REFUSALS, wait_before_retry
from batchwork.core.stats import Tally
from batchwork.core.worst import WorstCase
from batchwork.engine.attempt import Deadlines, attempt, within
from batchwork.engine.gate import Caller, Denied, Grant, Need
from batchwork.engine.life import Life
from batchwork.engine.parts import Parts
from batchwork.engine.settling import Settler

_log = logging.getLogger(__name__)


class _Life(Life, kw_only=True, gc=False, eq=False):
    """What has happened to an item that is called for."""

    bound: int  # of its input tokens
    started: float | None = None  # its first call: how long it stood in line says nothing about it


class ItemCarrier:
    """Carries the items of one run, many at a time."""

    def __init__(
        self,
        parts: Parts,
        tally: Tally,
        caller: Caller,
        *,
        nap: Callable[[float], Awaitable[None]],
        pause: Callable[[Pause], None],
    ) -> None:
        self._p = parts
        self._tally = tally
        self._caller = caller
        self._nap = nap
        self._pause = pause
        self._expect = Expectation()
        self._deadlines = Deadlines(parts.clock, parts.policy.timeout_s)
        self._breaker = Breaker(parts.policy)
        self._budgeted = parts.gate.ledger.ceiling is not None
        self._price = parts.price if parts.price is not None and not parts.price.is_free else None
        self._worst = WorstCase(parts.price, overhead_tokens=parts.backend.traits.overhead_tokens)
        self._settler = Settler(parts, tally)

    async def carry(self, work: Work) -> None:
        """From admission to a recorded outcome; or to nothing, when the run closes first and the item stays pending."""
        if work.request is None:
            await self._settle(work, self._settler.unsent(work))
            return
        bound = self._worst.input_tokens(work.request)
        life = _Life(work.request, work.request, work.attempts, work.paid_nano, bound=bound)
        while True:
            grant = await self._admit(work, life)
            if grant is Denied.CLOSED:
                return
            if not isinstance(grant, Grant):
                worst = self._need(work, life).worst_nano
                await self._settle(work, self._settler.deferred(work.index, life, worst), life)
                return
            said = await self._attempt(work, life, grant)
            if isinstance(said, Failure):
                again = await self._after_failure(work, life, said)
            else:
                again = await self._after_reply(work, life, said)
            if not again:
                return

    # -- before the call ------------------------------------------------------------------------

    def _need(self, work: Work, life: _Life) -> Need:
        expected_in, expected_out = self._expect.of(life.bound, life.request.output_bound)
        worst = self._worst.nano(life.request, input_tokens=life.bound)
        return Need(order=work.index, input_tokens=expected_in, output_tokens=expected_out, worst_nano=worst)

    async def _admit(self, work: Work, life: _Life) -> Grant | Denied:
        answer = await self._p.gate.admit(self._caller, self._need(work, life))
        if answer is not Denied.NO_MONEY or not isinstance(self._p.backend, TokenCounter):
            return answer
        least = self._worst.nano(life.request, input_tokens=1)
        if not self._p.gate.ledger.could_ever_fit(least):
            return answer  # no count can help, and a million items need not ask for one
        try:  # the bound alone may stand in the way: the provider counts for free
            counted = await within(self._p.policy.timeout_s, self._p.backend.count_tokens(life.request))
        except BackendError:
            return answer
        if counted >= life.bound:
            return answer
        life.bound = counted
        return await self._p.gate.admit(self._caller, self._need(work, life))

    # -- the call -------------------------------------------------------------------------------

    async def _attempt(self, work: Work, life: _Life, grant: Grant) -> Reply | Failure:
        """Send it once; afterwards the gate and the item's account are right, whatever came back."""
        worst = grant.need.worst_nano
        said: Reply | Failure | None = None
        sent = False
        try:
            if worst:
                self._p.journal.record(Admitted(item=work.item, reserved_nano=worst))
                if self._budgeted:
                    await self._p.journal.durable()
            started, sent = self._p.clock.now() if worst else grant.sent_at, True
            life.started = started if life.started is None else life.started
            self._tally.calls += 1
            self._tally.in_flight += 1
            said = await attempt(
                self._p.backend,
                life.request,
                deadlines=self._deadlines if not self._p.policy.timeout_per_1k_s else self._own_deadline(life),
                now=started,
                ceiling_nano=worst if self._budgeted else None,
            )
            life.latency_s = self._p.clock.now() - started
        finally:
            self._tally.in_flight -= sent
            if said is None:  # cancelled, or the journal broke: what was sent may be billed, the admission says so
                self._p.gate.abandon(grant, sent=sent)
        self._book(life, grant, said)
        return said

    def _own_deadline(self, life: _Life) -> Deadlines:
        """Where a longer prompt may take longer, no call shares its deadline with another."""
        policy = self._p.policy
        return Deadlines(self._p.clock, policy.timeout_s + life.bound / 1000.0 * policy.timeout_per_1k_s)

    def _book(self, life: _Life, grant: Grant, said: Reply | Failure) -> None:
        failure = said if isinstance(said, Failure) else None
        life.book(self._charge(said, worst=grant.need.worst_nano), said.usage)
        self._tally.charged_nano += life.charged_nano
        if said.usage is not None:
            self._expect.learn(life.bound, said.usage)
            self._tally.input_tokens += said.usage.input_tokens
            self._tally.output_tokens += said.usage.output_tokens
        if failure is None or failure.reply is not None:
            self._breaker.answered()
        elif failure.unconfirmed:
            self._tally.unconfirmed_nano += life.charged_nano
        self._p.gate.release(
            grant, charged_nano=life.charged_nano, usage=said.usage, failure=failure, limits=said.limits
        )

    def _charge(self, said: Reply | Failure, *, worst: int) -> int:
        """What a call cost; its worst case when it was cut off after it was sent."""
        reply = said if isinstance(said, Reply) else said.reply
        if reply is not None and reply.reported_cost_nano is not None:
            return reply.reported_cost_nano
        if said.usage is not None:
            return self._price.cost(said.usage) if self._price is not None else 0
        return worst if isinstance(said, Failure) and said.unconfirmed else 0

    # -- after the call -------------------------------------------------------------------------

    async def _after_reply(self, work: Work, life: _Life, reply: Reply) -> bool:
        """Settle it, or ask again with what was wrong; whether another attempt follows."""
        verdict = Verdict() if self._p.checker is None else self._p.checker.check(life.request, reply)
        if verdict.failure is None:
            await self._settle(work, self._settler.succeeded(work.index, life, reply, verdict.value), life)
            return False
        if not verdict.reask or life.reasks >= self._p.policy.reasks:
            await self._give_up(work, life, msgspec.structs.replace(verdict.failure, reply=reply))
            return False
        self._tally.retries += 1
        self._record_attempt(work, life, verdict.failure)
        life.reask(verdict.reask)
        life.bound = self._worst.input_tokens(life.request)
        return True

    async def _after_failure(self, work: Work, life: _Life, failure: Failure) -> bool:
        """Wait and try again, give up, or pause the run; whether another attempt follows."""
        clock = self._p.clock
        if failure.kind in REFUSALS:
            life.refusals += 1
            self._tally.refusals += 1
            self._tell_wait(failure)
        else:
            life.failures += 1
        if (pause := self._breaker.failed(failure, clock.now())) is not None:
            self._record_attempt(work, life, failure)
            self._pause(pause)
            return False
        if failure.kind is FailureKind.QUOTA and failure.retry_after_s is not None:
            self._record_attempt(work, life, failure)
            life.failures -= 1  # waiting for a quota says nothing about the item
            self._wait_for_quota(failure, failure.retry_after_s)
            life.started = None
            await self._nap(failure.retry_after_s + self._p.dice())
            return True
        wait_s = wait_before_retry(
            failure,
            attempts=life.failures,
            refusals=life.refusals,
            elapsed_s=0.0 if life.started is None else clock.now() - life.started,
            policy=self._p.policy.retry,
            dice=self._p.dice(),
        )
        if wait_s is None:
            await self._give_up(work, life, failure)
            return False
        self._tally.retries += 1
        self._record_attempt(work, life, failure)
        _log.info("item %d: %s, trying again in %.1f s", work.index, failure.kind.value, wait_s)
        await self._nap(wait_s)
        return True

    def _tell_wait(self, failure: Failure) -> None:
        """Let whoever looks on know why nothing moves."""
        if failure.retry_after_s is not None:
            self._tally.waiting_until = self._p.clock.now() + failure.retry_after_s
            self._tally.waiting_for = failure.message

    def _wait_for_quota(self, failure: Failure, seconds: float) -> None:
        until = self._p.clock.now() + seconds
        if self._tally.waiting_until is None or until > self._tally.waiting_until + 1.0:
            _log.warning("a quota is used up (%s): waiting %.0f s for its end", failure.message, seconds)
        self._tell_wait(failure)
        self._p.gate.cool_down(seconds)

    async def _give_up(self, work: Work, life: _Life, failure: Failure) -> None:
        if (pause := self._breaker.gave_up(failure)) is not None:
            self._pause(pause)  # at once: while this is being written, a window of others would start and fail
        await self._settle(work, self._settler.failed(work.index, life, failure), life)

    # -- recording ------------------------------------------------------------------------------

    def _record_attempt(self, work: Work, life: _Life, failure: Failure) -> None:
        self._p.journal.record(
            Attempted(
                item=work.item,
                kind=failure.kind,
                charged_nano=life.charged_nano,
                unconfirmed=failure.unconfirmed and failure.usage is None,
            )
        )
        life.charged_nano = 0

    async def _settle(self, work: Work, outcome: AnyOutcome, life: Life | None = None) -> None:
        """On disk before anybody sees it. What was deferred and is deferred again stands there already."""
        event = self._settler.event(work.item, outcome, 0 if life is None else life.charged_nano)
        if not (work.deferred and isinstance(outcome, Deferred) and outcome.attempts == work.attempts):
            self._p.journal.record(event)
            await self._p.journal.durable()
        self._settler.show(event)

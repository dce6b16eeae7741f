"""See one item through: admit, attempt, check, decide, record.

Nothing here decides whether to retry, whether there is money or whether an answer will do: it asks
those who do, and writes down what happened before anybody sees it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from batchwork.core.bounds import Expectation, input_bound
from batchwork.core.breaker import Breaker, Pause
from batchwork.core.errors import BackendError
from batchwork.core.event import Admitted, Attempted, Settled
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.intake import Work
from batchwork.core.outcome import AnyOutcome, Deferred, Failed, Succeeded
from batchwork.core.ports import TokenCounter, Verdict
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Request
from batchwork.core.retry import REFUSALS, wait_before_retry
from batchwork.core.stats import Tally
from batchwork.engine.attempt import Deadlines, attempt, within
from batchwork.engine.gate import Caller, Denied, Grant, Need
from batchwork.engine.parts import Parts
from batchwork.engine.telling import tell

_log = logging.getLogger(__name__)


class _Life(msgspec.Struct, gc=False, eq=False):
    """What has happened to one item so far."""

    request: Request
    bound: int  # of its input tokens
    calls: int
    cost_nano: int
    started: float | None = None  # its first call: how long it stood in line says nothing about it
    charged_nano: int = 0  # the last call
    failures: int = 0
    refusals: int = 0
    reasks: int = 0
    latency_s: float = 0.0
    usage: Usage | None = None


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
        self._overhead = parts.backend.traits.overhead_tokens
        self._timeout_for = parts.backend.traits.timeout_for

    async def carry(self, work: Work) -> None:
        """From admission to a recorded outcome; or to nothing, when the run closes first and the item stays pending."""
        if work.request is None:
            failure = Failure(kind=FailureKind.BAD_INPUT, message=work.problem or "not a request")
            outcome = Failed(
                index=work.index, failure=failure, attempts=work.attempts, cost_nano=self._known(work.paid_nano)
            )
            await self._settle(work, outcome)
            return
        request = work.request
        life = _Life(request, input_bound(request) + self._overhead, work.attempts, work.paid_nano)
        while True:
            grant = await self._admit(work, life)
            if grant is Denied.CLOSED:
                return
            if not isinstance(grant, Grant):
                worst = self._need(work, life).worst_nano
                await self._settle(work, Deferred(index=work.index, needed_nano=worst, **self._so_far(life)))
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
        worst = 0
        if self._price is not None:
            worst = self._price.worst(input_tokens=life.bound, output_tokens=life.request.output_bound)
        return Need(order=work.index, input_tokens=expected_in, output_tokens=expected_out, worst_nano=worst)

    async def _admit(self, work: Work, life: _Life) -> Grant | Denied:
        answer = await self._p.gate.admit(self._caller, self._need(work, life))
        if answer is not Denied.NO_MONEY or not isinstance(self._p.backend, TokenCounter):
            return answer
        assert self._price is not None
        least = self._price.worst(input_tokens=1, output_tokens=life.request.output_bound)
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
                deadlines=self._deadlines if self._timeout_for is None else self._own_deadline(life.request),
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

    def _own_deadline(self, request: Request) -> Deadlines:
        """A backend that knows better how long a request may take; never longer than the user allows."""
        assert self._timeout_for is not None
        return Deadlines(self._p.clock, min(self._p.policy.timeout_s, self._timeout_for(request)))

    def _book(self, life: _Life, grant: Grant, said: Reply | Failure) -> None:
        failure = said if isinstance(said, Failure) else None
        life.charged_nano = self._charge(said, worst=grant.need.worst_nano)
        life.cost_nano += life.charged_nano
        life.calls += 1
        self._tally.charged_nano += life.charged_nano
        if said.usage is not None:
            life.usage = said.usage if life.usage is None else life.usage + said.usage
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
            settled = Succeeded(
                index=work.index,
                reply=_kept(reply),
                parsed=verdict.value,
                attempts=life.calls,
                cost_nano=self._known(life.cost_nano),
                usage=life.usage,
                latency_s=life.latency_s,
                label=life.request.label,
            )
            await self._settle(work, settled, life)
            return False
        if not verdict.reask or life.reasks >= self._p.policy.reasks:
            await self._give_up(work, life, msgspec.structs.replace(verdict.failure, reply=_kept(reply)))
            return False
        life.reasks += 1
        self._tally.retries += 1
        self._p.journal.record(Attempted(item=work.item, kind=verdict.failure.kind, charged_nano=life.charged_nano))
        assert work.request is not None
        life.request = msgspec.structs.replace(work.request, messages=(*work.request.messages, *verdict.reask))
        life.bound = input_bound(life.request) + self._overhead
        return True

    async def _after_failure(self, work: Work, life: _Life, failure: Failure) -> bool:
        """Wait and try again, give up, or pause the run; whether another attempt follows."""
        clock = self._p.clock
        if failure.kind in REFUSALS:
            life.refusals += 1
            self._tally.refusals += 1
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

    def _wait_for_quota(self, failure: Failure, seconds: float) -> None:
        until = self._p.clock.now() + seconds
        if self._tally.waiting_until is None or until > self._tally.waiting_until + 1.0:
            _log.warning("a quota is used up (%s): waiting %.0f s for its end", failure.message, seconds)
        self._tally.waiting_until = until
        self._tally.waiting_for = failure.message
        self._p.gate.cool_down(seconds)

    async def _give_up(self, work: Work, life: _Life, failure: Failure) -> None:
        if (pause := self._breaker.gave_up(failure)) is not None:
            self._pause(pause)  # at once: while this is being written, a window of others would start and fail
        slim = msgspec.structs.replace(failure, limits=None)
        await self._settle(work, Failed(index=work.index, failure=slim, **self._so_far(life)), life)

    # -- recording ------------------------------------------------------------------------------

    def _so_far(self, life: _Life) -> dict[str, Any]:
        return {
            "attempts": life.calls,
            "cost_nano": self._known(life.cost_nano),
            "usage": life.usage,
            "latency_s": life.latency_s,
            "label": life.request.label,
        }

    def _known(self, nano: int) -> int | None:
        return nano if self._p.price is not None else nano or None

    def _record_attempt(self, work: Work, life: _Life, failure: Failure) -> None:
        self._p.journal.record(
            Attempted(
                item=work.item,
                kind=failure.kind,
                charged_nano=life.charged_nano,
                unconfirmed=failure.unconfirmed and failure.usage is None,
            )
        )

    async def _settle(self, work: Work, outcome: AnyOutcome, life: _Life | None = None) -> None:
        """On disk before anybody sees it. What was deferred and is deferred again stands there already."""
        failure = outcome.failure if isinstance(outcome, Failed) else None
        event = Settled(
            item=work.item,
            outcome=outcome,
            charged_nano=life.charged_nano if life is not None else 0,
            unconfirmed=failure is not None and failure.unconfirmed and failure.usage is None,
        )
        if not (work.deferred and isinstance(outcome, Deferred) and outcome.attempts == work.attempts):
            self._p.journal.record(event)
            await self._p.journal.durable()
        self._tally.count(outcome)
        tell(self._p.on_event, event)
        if self._p.on_settled is not None:
            self._p.on_settled(outcome)


def _kept(reply: Reply) -> Reply:
    """A reply without what only the gate needs."""
    return reply if reply.limits is None else msgspec.structs.replace(reply, limits=None)

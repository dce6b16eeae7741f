"""See one item through: admit, attempt, judge, record. What becomes of it is decided elsewhere, and recorded here."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from batchwork.core.bounds import Expectation, WorstCase
from batchwork.core.breaker import Pause
from batchwork.core.decision import Decision, Move
from batchwork.core.errors import BackendError
from batchwork.core.event import Admitted, Attempted
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.failure_table import is_refusal
from batchwork.core.intake import Work
from batchwork.core.outcome import AnyOutcome
from batchwork.core.ports import SharedJournal, TokenCounter
from batchwork.core.reply import Reply
from batchwork.core.stats import Tally
from batchwork.engine.attempt import Deadlines, attempt, within
from batchwork.engine.gate import Caller, Denied, Grant, Need
from batchwork.engine.judge import Judge
from batchwork.engine.life import Life
from batchwork.engine.parts import Parts
from batchwork.engine.settler import Settler

_log = logging.getLogger(__name__)
_LOOK_S = 0.25  # so often, at most, whoever waits for another try looks whether it is too late


class ItemCarrier:
    """Carries the items of one run, many at a time."""

    def __init__(
        self,
        parts: Parts,
        tally: Tally,
        caller: Caller,
        *,
        wait: Callable[[float], Awaitable[None]],
        pause: Callable[[Pause], None],
    ) -> None:
        self._p = parts
        self._tally = tally
        self._caller = caller
        self._wait = wait
        self._pause = pause
        self._expect = Expectation()
        self._deadlines = Deadlines(parts.clock, parts.policy.timeout_s)
        self._budgeted = parts.gate.ledger.is_limited
        self._worst = WorstCase(parts.price, parts.backend.traits, count_margin=parts.policy.count_margin)
        self._judge = Judge(parts)
        self._settler = Settler(parts, tally)
        # A process that was taken over may have the answer after all, also to an item that is carried here.
        self._shared = journal if isinstance(journal := parts.journal, SharedJournal) and journal.is_shared else None

    async def carry(self, work: Work) -> None:
        """From admission to a recorded outcome; or to nothing, when the run closes first and the item stays pending."""
        if work.request is None:
            event = self._settler.record_unsent(work)
            await self._p.journal.durable()
            self._settler.show(event)
            return
        life = Life.of(work)
        if self._budgeted and (reason := self._worst.unbounded(life.request)) is not None:
            refused = Failure(kind=FailureKind.BAD_INPUT, message=reason)
            await self._settle(life, self._settler.failed(life, refused))
            return
        life.bound = self._worst.input_tokens(life.request)
        try:
            await self._call_until_settled(life)
        finally:
            if not life.settled:
                self._settler.leave(life)

    async def _call_until_settled(self, life: Life) -> None:
        failure: Failure | None = None
        while True:
            grant: Grant | Denied | None = None
            if failure is None:
                grant = self._p.gate.admit_at_once(self._caller, self._need(life))
            if grant is None:
                grant = await self._admit(life, again=failure is not None)
            if grant is Denied.CLOSED:
                return
            if grant is Denied.TOO_LATE:
                assert failure is not None
                await self._settle(life, self._settler.failed(life, failure))
                return
            if not isinstance(grant, Grant):
                await self._settle(life, self._settler.deferred(life, self._need(life).worst_nano))
                return
            result = await self._attempt(life, grant)
            if result is None:
                return
            decision = self._judge.of_call(life, result)
            if decision.move is Move.ACCEPT:
                assert isinstance(result, Reply)
                await self._settle(life, self._settler.succeeded(life, result, decision.value))
                return
            if not await self._follow(life, result, decision):
                return
            failure = decision.failure if decision.move is Move.RETRY else None

    def _need(self, life: Life) -> Need:
        expected_in, expected_out = self._expect.of(life.bound, life.request.output_bound)
        worst = self._worst.nano(life.request, input_tokens=life.bound)
        return Need(order=life.index, input_tokens=expected_in, output_tokens=expected_out, worst_nano=worst)

    async def _admit(self, life: Life, *, again: bool) -> Grant | Denied:
        longest_s = self._p.policy.retry.max_elapsed_s
        answer = await (
            self._admit_again(life, longest_s)
            if again and longest_s is not None
            else self._p.gate.admit(self._caller, self._need(life))
        )
        if answer is not Denied.NO_MONEY or not isinstance(self._p.backend, TokenCounter):
            return answer
        least = self._worst.nano(life.request, input_tokens=1)
        if not self._p.gate.ledger.could_ever_fit(least):
            return answer  # no count can help, and a million items need not ask for one
        try:  # the bound alone may stand in the way: the provider counts for free
            tokens = await within(self._p.policy.timeout_s, self._p.backend.count_tokens(life.request))
        except BackendError:
            return answer
        counted = self._worst.counted(tokens)
        if counted >= life.bound:
            return answer
        life.bound = counted
        return await self._p.gate.admit(self._caller, self._need(life))

    async def _admit_again(self, life: Life, longest_s: float) -> Grant | Denied:
        """Admission to another try, or TOO_LATE. Waiting for a slot is not the item's time, a pause of all calls is."""
        gate, clock = self._p.gate, self._p.clock
        while True:
            since, answer = clock.now(), None
            closed_s = gate.closed_s(since)
            left_s = max(longest_s - life.elapsed_s(since), _LOOK_S)
            with suppress(TimeoutError):
                async with asyncio.timeout(left_s):
                    answer = await gate.admit(self._caller, self._need(life))
            now = clock.now()
            life.in_line_s += now - since - (gate.closed_s(now) - closed_s)
            if isinstance(answer, Denied):
                return answer
            if life.elapsed_s(now) >= longest_s:
                if answer is not None:
                    gate.abandon(answer, sent=False)
                return Denied.TOO_LATE
            if answer is not None:
                return answer

    async def _attempt(self, life: Life, grant: Grant) -> Reply | Failure | None:
        """Send it once; afterwards the gate and the item's account are right, whatever came back. None: it is settled.

        A call that may cost something is on disk before it is sent, and with it everything recorded until then: so at
        most a window of calls is ever under way whose answers the disk does not know.
        """
        worst = grant.need.worst_nano
        result: Reply | Failure | None = None
        sent = False
        try:
            if worst:
                self._p.journal.record(Admitted(item=life.item, reserved_nano=worst))
                await self._p.journal.durable()
                if self._shared is not None and self._shared.is_settled(life.item):
                    self._p.journal.record(Attempted(item=life.item, kind=FailureKind.CONNECTION))  # it is not sent
                    return None
            started, sent = self._p.clock.now() if worst else grant.at, True
            if life.started is None:
                life.started = started
                self._tally.sent += 1
            else:
                self._tally.retries += 1
            self._tally.calls += 1
            self._tally.in_flight += 1
            result = await attempt(
                self._p.backend,
                life.request,
                deadlines=self._deadlines if not self._p.policy.timeout_per_1k_s else self._own_deadline(life),
                now=started,
                ceiling_nano=worst if self._budgeted else None,
            )
        finally:
            if sent:
                life.latency_s = self._p.clock.now() - started
                self._tally.in_flight -= 1
            if result is None:  # cancelled, or the journal broke: what was sent may be billed, the admission says so
                self._p.gate.abandon(grant, sent=sent)
                if sent:
                    self._tally.cut_off += 1
                    self._settler.cut_off(life, worst)
        self._book(life, grant, result)
        return result

    def _own_deadline(self, life: Life) -> Deadlines:
        """Where a longer prompt may take longer, no call shares its deadline with another."""
        policy = self._p.policy
        return Deadlines(self._p.clock, policy.timeout_s + life.request.characters / 1000.0 * policy.timeout_per_1k_s)

    def _book(self, life: Life, grant: Grant, result: Reply | Failure) -> None:
        self._settler.book(life, result, worst_nano=grant.need.worst_nano)
        if result.usage is not None:
            self._expect.learn(life.bound, result.usage)
        failure = result if isinstance(result, Failure) else None
        self._p.gate.release(
            grant, charged_nano=life.charged_nano, usage=result.usage, failure=failure, limits=result.limits
        )

    async def _follow(self, life: Life, result: Reply | Failure, decision: Decision) -> bool:
        """Do what was decided about a call that did not end the item well; whether another attempt follows."""
        move, failure = decision.move, decision.failure
        assert failure is not None
        if isinstance(result, Failure) and is_refusal(result):
            self._tally.refusals += 1
            self._tell_wait(result)
        if decision.pause is not None:
            self._pause(decision.pause)  # at once: while this is being written, a window of others would start and fail
        if move is Move.FAIL:
            await self._settle(life, self._settler.failed(life, failure))
            return False
        self._settler.record_attempt(life, result, failure)
        if move is Move.PAUSE:
            return False
        if move is Move.ASK_AGAIN:
            life.ask_again(decision.turns)
            life.bound = self._worst.input_tokens(life.request)
            return True
        if decision.everybody_waits:
            self._wait_for_quota(failure, decision.wait_s)
        else:
            _log.info("item %d: %s, trying again in %.1f s", life.index, failure.kind.value, decision.wait_s)
        await self._wait(decision.wait_s)
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
        self._p.gate.cool_down(failure.retry_after_s or seconds)

    async def _settle(self, life: Life, outcome: AnyOutcome) -> None:
        is_second = self._shared is not None and self._shared.is_settled(life.item)
        event = self._settler.record_outcome(life, outcome)
        await self._p.journal.durable()  # on disk before anybody sees it
        if not is_second:
            self._settler.show(event)
        life.settled = True

"""Decide whether a call may start now: concurrency, rate and budget, together, in one await; and what a refusal slows.

First come, first served within one caller (a run, an HTTP request); in turn between callers, each with its own
bound. What does not fit the budget steps aside while the reservations of others may still make room, so that cheaper
calls overtake it, and is told that there is no money as soon as that is certain.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush

from batchwork.core.breaker import Pause
from batchwork.core.bucket import Bucket
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.failure_table import is_refusal
from batchwork.core.ledger import Ledger
from batchwork.core.outage import Outage
from batchwork.core.pace import Pace
from batchwork.core.policy import RatePolicy
from batchwork.core.ports import Clock
from batchwork.core.reply import ReportedLimits, Usage
from batchwork.core.sent_calls import SentCalls
from batchwork.core.window import AdaptiveWindow
from batchwork.engine.queue import Caller, Denied, Grant, Need, Wait
from batchwork.engine.rates import Rates, SharedRates

__all__ = ["Caller", "Denied", "Gate", "Grant", "Need"]

_LET_THROUGH_S = 0.5  # a call that was not refused in this time was let through
_FIRST_WAVE_S = 0.5  # how long places of a first wave stay empty when nothing is answered
# Whoever waits for the rate waits at least so long: a timer of less than a millisecond is none, and keeps the loop
# turning; with more, calls leave in groups that share a commit. Nothing is lost: a bucket holds ten times as much.
_SHORTEST_S = 0.005


class Gate:
    """The one door to a provider."""

    def __init__(
        self,
        *,
        clock: Clock,
        ledger: Ledger,
        rates: RatePolicy,
        window: AdaptiveWindow,
        newcomers: float = 0.0,
        shared: Sequence[SharedRates] = (),
    ) -> None:
        self.ledger = ledger
        self._shared = shared
        self._clock = clock
        self._window = window
        self._newcomers = newcomers  # the share of the window that only callers without a call under way may use
        self._callers: deque[Caller] = deque()
        self._in_flight = 0
        self._arrivals = 0  # a number for everybody who comes: first come, first served
        self._in_line = 0
        self._cool_until = float("-inf")
        self._closed_s, self._closed_to = 0.0, float("-inf")  # for how long nobody could start a call, known until then
        self._trial: Grant | None = None  # the call that shows whether an outage is over
        self._timer: Callable[[], None] | None = None
        self._rates = Rates(rates, now=clock.now(), shared=shared)
        self._guessed: Bucket | None = None  # at the rate that was guessed
        self._sent = SentCalls()
        self._pace = Pace(self._sent)
        self._outage = Outage(self._sent)
        window.watch(self._sent)

    @property
    def in_flight(self) -> int:
        """Calls under way, of all callers."""
        return self._in_flight

    @property
    def window(self) -> int:
        """How many calls may be under way now."""
        return self._window.size

    @property
    def startable(self) -> int:
        """How many calls in line could start, if only rate and money allow it."""
        return min(self._in_line, max(0, self._window.size - self._in_flight))

    def shortage(self) -> tuple[int, int]:
        """The least that somebody needs who waits for money, and what all of them need."""
        parked = [entry[2].need.worst_nano for caller in self._callers for entry in caller.parked]
        return min(parked, default=0), sum(parked)

    def join(
        self, *, bound: int, on_room: Callable[[], None], on_pause: Callable[[Pause], None] | None = None
    ) -> Caller:
        """A new caller; `on_pause` is told when the accounts it shares with others stop it."""
        caller = Caller(bound, on_room, on_pause)
        self._callers.append(caller)
        return caller

    def leave(self, caller: Caller) -> None:
        """A caller is done; whatever it still has in line is turned away."""
        self.close(caller)
        self._callers.remove(caller)

    def close(self, caller: Caller) -> None:
        """Admit nothing more of this caller; its calls in flight go on."""
        caller.closed = True
        self._in_line -= len(caller.queue)
        for _, _, wait in caller.queue + caller.parked:
            wait.tell(Denied.CLOSED)
        caller.queue, caller.parked = [], []

    def admit_at_once(self, caller: Caller, need: Need) -> Grant | None:
        """Let the call start if it may now and nobody stands in line before it."""
        if caller.closed or self._in_line or caller.in_flight >= caller.bound:
            return None
        if self._in_flight < self._places_for(caller):
            now = self._clock.now()
            is_open = now >= self._cool_until and self._trial is None and self._wait_for_rate(need, now) <= 0.0
            if is_open and self.ledger.reserve(need.worst_nano):
                return self._grant(caller, need, now)
        return None

    async def admit(self, caller: Caller, need: Need) -> Grant | Denied:
        """Wait until the call may start."""
        if caller.closed:
            return Denied.CLOSED
        if (grant := self.admit_at_once(caller, need)) is not None:
            return grant
        wait = Wait(need, asyncio.get_running_loop().create_future())
        self._arrivals += 1
        heappush(caller.queue, (need.order, self._arrivals, wait))
        self._in_line += 1
        self._dispatch()
        try:
            return await wait.future
        except asyncio.CancelledError:
            self._withdraw(caller, wait)
            raise

    def _places_for(self, caller: Caller) -> int:
        """How far this caller may fill the window: a large one leaves a little of it to those who come next."""
        size = self._window.size
        if not self._newcomers or not caller.in_flight or size < 2:
            return size
        return size - max(1, int(size * self._newcomers))

    def _grant(self, caller: Caller, need: Need, now: float) -> Grant:
        self._rates.take(need, now)
        if self._guessed is not None:
            self._guessed.take(1.0, now)
        self._sent.add(now)
        self._in_flight += 1
        caller.in_flight += 1
        grant = Grant(caller, need, now)
        if self._outage.is_on:
            self._trial = grant
            self._clock.call_later(_LET_THROUGH_S, lambda: self._try_out(grant))
        return grant

    def _try_out(self, grant: Grant) -> None:
        """A call that was to show whether an outage is over is still under way: it was let through."""
        if grant is self._trial:
            self._end_trial(grant, self._clock.now())
            self._outage.let_through()
            self._dispatch()

    def _withdraw(self, caller: Caller, wait: Wait) -> None:
        if wait.future.done() and not wait.future.cancelled():
            if isinstance(grant := wait.future.result(), Grant):
                self.abandon(grant, sent=False)
            return
        before = len(caller.queue)
        caller.queue = [entry for entry in caller.queue if entry[2] is not wait]
        heapify(caller.queue)
        self._in_line -= before - len(caller.queue)
        caller.parked = [entry for entry in caller.parked if entry[2] is not wait]
        self.money_changed()  # it may have stood before one that waits for money, and will not take any

    def release(
        self,
        grant: Grant,
        *,
        charged_nano: int,
        usage: Usage | None = None,
        failure: Failure | None = None,
        limits: ReportedLimits | None = None,
    ) -> None:
        """A call has ended: give its place back, book what it cost, learn what it said."""
        now = self._clock.now()
        if grant is self._trial:
            self._end_trial(grant, now)
        self._give_back(grant, charged_nano)
        self._rates.correct(grant, usage, failure, now)
        if limits is not None and self._rates.learn(limits, now):
            self._window.limits_known()
            self._outage.forget(now)
        if failure is None:
            self._window.answered()
            if self._outage.in_a_row:
                self._outage.let_through()
        elif is_refusal(failure):
            self._refused(grant, failure, now)
        elif failure.kind is FailureKind.QUOTA and failure.retry_after_s is not None:
            self._window.restart()  # a few go first: a full window at its very end would be a herd
            self.cool_down(failure.retry_after_s)
        self._look_again(grant)

    def abandon(self, grant: Grant, *, sent: bool) -> None:
        """A call was given up: booked at its worst case when it was sent, as if it had never been when it was not."""
        now = self._clock.now()
        if grant is self._trial:
            self._end_trial(grant, now)
        self._give_back(grant, grant.need.worst_nano if sent else 0)
        if not sent:
            self._rates.give_back(grant, now)
        self._look_again(grant)

    def _give_back(self, grant: Grant, charged_nano: int) -> None:
        self._in_flight -= 1
        grant.caller.in_flight -= 1
        self.ledger.settle(grant.need.worst_nano, charged_nano)

    def _look_again(self, grant: Grant) -> None:
        if grant.need.worst_nano:
            self._unpark()
        self._dispatch()
        if not grant.caller.closed:
            grant.caller.on_room()

    def _refused(self, grant: Grant, failure: Failure, now: float) -> None:
        """Slow down where that helps; what the provider asks this call to wait holds for this call alone.

        Everybody waits only when nobody is let through any more.
        """
        outage, sent_at = self._outage, grant.at
        if outage.is_on and sent_at >= outage.began_at:
            pass  # a trial says nothing about how much may be sent
        elif failure.kind is FailureKind.RATE_LIMITED:
            self._pace.refused(sent_at=sent_at, now=now)
            if self._window.leave_empty() == 1:
                self._clock.call_later(_FIRST_WAVE_S, self._end_first_wave)
        else:
            self._window.refused(sent_at=sent_at, now=now, in_flight=self._in_flight + 1)
        pause_s = outage.refused(sent_at=sent_at, now=now, retry_after_s=failure.retry_after_s)
        if pause_s is not None:
            self._window.take_back(now)  # nobody is let through, however few there are
            self.cool_down(pause_s)

    def _end_first_wave(self) -> None:
        self._window.end_first_wave()
        self._dispatch()

    def cool_down(self, seconds: float, *, is_told: bool = False) -> None:
        """Nobody starts a call for so long; others who share a rate are told, unless it is they who told us."""
        now = self._clock.now()
        self._cool_until = max(self._cool_until, now + seconds)
        self._count_closed(now, now + seconds)
        for shared in () if is_told else self._shared:
            shared.cool(seconds)

    def closed_s(self, now: float) -> float:
        """For how long until now nobody could start a call, whatever room there was."""
        return self._closed_s - max(0.0, self._closed_to - now)

    def _count_closed(self, since: float, until: float) -> None:
        if until > self._closed_to:
            self._closed_s += until - max(since, self._closed_to)
            self._closed_to = until

    def _end_trial(self, grant: Grant, now: float) -> None:
        self._trial = None
        self._count_closed(grant.at, now)

    # -- rate -----------------------------------------------------------------------------------

    def _wait_for_rate(self, need: Need, now: float) -> float:
        wait_s = self._rates.wait_for(need, now)
        guess = None if self._pace.guess is None else self._pace.per_s(now)
        if guess is not None:
            if self._guessed is None:
                self._guessed = Bucket(per_minute=guess * 60.0, now=now)
            self._guessed.learn(per_minute=guess * 60.0, now=now)
            guessed_s = self._guessed.wait_for(1.0, now)
            if guessed_s > 0.0:
                self._pace.delayed(now)
            return max(wait_s, guessed_s)
        self._guessed = None
        return wait_s

    # -- who is next ----------------------------------------------------------------------------

    def _dispatch(self) -> None:
        """Start everything that may start now; set a timer when only time stands in the way."""
        if not self._in_line:
            return
        now = self._clock.now()
        while self._in_line and self._in_flight < self._window.size and self._trial is None:
            if now < self._cool_until:
                self._wake_in(self._cool_until - now)
                return
            caller = self._next_caller()
            if caller is None:
                return
            order, arrival, wait = caller.queue[0]
            is_cancelled, need = wait.future.done(), wait.need
            if not is_cancelled and (seconds := self._wait_for_rate(need, now)) > 0.0:
                self._callers.appendleft(self._callers.pop())  # its turn is not used up
                self._wake_in(seconds)
                return
            heappop(caller.queue)
            self._in_line -= 1
            if is_cancelled:
                self._unpark()  # what it would have taken is left for those who wait for money
                continue
            if not self.ledger.reserve(need.worst_nano):
                if self.ledger.could_ever_fit(need.worst_nano):
                    self._park(caller, (order, arrival, wait))
                else:
                    wait.tell(Denied.NO_MONEY)
                continue
            wait.future.set_result(self._grant(caller, need, now))

    def _next_caller(self) -> Caller | None:
        """The next one in turn that has work and is below its bound; it goes to the back."""
        for _ in range(len(self._callers)):
            caller = self._callers[0]
            self._callers.rotate(-1)
            if caller.queue and caller.in_flight < caller.bound and self._in_flight < self._places_for(caller):
                return caller
        return None

    @property
    def held_back(self) -> int:
        """How many wait until calls in flight give back what they have reserved."""
        return sum(len(caller.parked) for caller in self._callers)

    def money_changed(self) -> None:
        """The ledger has changed from outside: another gate settled a call, or a new day began."""
        self._unpark()
        self._dispatch()

    def accounts_changed(self) -> None:
        """An account that is shared with other processes has answered: whoever waits for it looks again."""
        self.money_changed()
        for caller in self._callers:
            caller.on_room()

    def pause(self, pause: Pause) -> None:
        """The accounts that are shared with other processes stop every caller."""
        for caller in tuple(self._callers):
            if caller.on_pause is not None:
                caller.on_pause(pause)

    def _unpark(self) -> None:
        """Reservations have changed: who stepped aside for money looks again, in order."""
        for caller in self._callers:
            left = self.ledger.left
            if not caller.parked or (left is not None and self._in_vain(caller, left)):
                continue
            parked, caller.parked = sorted(caller.parked), []
            for entry in parked:
                worst = entry[2].need.worst_nano
                if not self.ledger.could_ever_fit(worst):
                    entry[2].tell(Denied.NO_MONEY)
                elif left is None or worst <= left:
                    heappush(caller.queue, entry)
                    self._in_line += 1
                    left = None if left is None else left - worst
                else:
                    self._park(caller, entry)

    def _in_vain(self, caller: Caller, left: int) -> bool:
        """Nobody fits now and everybody may yet: thousands need not be looked through after every call."""
        return left < caller.least and self.ledger.could_ever_fit(caller.dearest)

    def _park(self, caller: Caller, entry: tuple[int, int, Wait]) -> None:
        worst = entry[2].need.worst_nano
        caller.least = min(caller.least, worst) if caller.parked else worst
        caller.dearest = max(caller.dearest, worst) if caller.parked else worst
        caller.parked.append(entry)

    def _wake_in(self, seconds: float) -> None:
        seconds = max(seconds, _SHORTEST_S)
        if self._timer is not None:
            self._timer()
        self._timer = self._clock.call_later(seconds, self._wake)

    def _wake(self) -> None:
        self._timer = None
        self._dispatch()

"""Keeps a process supplied from the accounts that it shares with others: money in chunks, rates in short stretches.

The gate decides from what is held here, without asking. One task talks to the accounts: at once when something runs
short, and twice a second otherwise, so that what one process learns is soon known to all. While nobody answers for
them, nothing new starts; after `max_wait_s` of that every run pauses.
"""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

from batchwork.core.breaker import Pause, no_account, no_accounts
from batchwork.core.errors import AccountsAwayError, ConfigError
from batchwork.core.lease import AccountAnswer, AccountReport, AccountTerms, MoneyReport, dry_s, stretch_s, turn_s
from batchwork.core.leased_bucket import LeasedBucket
from batchwork.core.leased_ledger import LeasedLedger
from batchwork.core.ports import Clock
from batchwork.engine.gate import Gate

_log = logging.getLogger(__name__)
_BEAT_S = 0.5  # so often everybody is told and asked, whatever happens
_AGAIN_S, _LONGEST_AGAIN_S = 0.2, 5.0  # after nobody answered
_TELL_AGAIN_S = 20.0  # a limit that the provider states is told again, since it is forgotten after a minute


class AccountStore(Protocol):
    """Where accounts are kept. Every method raises AccountsAwayError while nobody answers."""

    async def exchange(self, name: str, report: AccountReport) -> AccountAnswer:
        """Tell an account, and ask it; a ConfigError when it was removed."""

    async def end(self, name: str, *, spent: int, reserved: int) -> None:
        """End the lease: what is still reserved is booked, for it may be spent, and the rest is given back."""

    async def aclose(self) -> None:
        """Let go."""


class _Member:
    """One account, and what this process holds of it."""

    def __init__(self, terms: AccountTerms, session: "AccountSession") -> None:
        self.name = terms.name
        self.holders = 1
        self.learned: dict[str, float] = {}
        self.cool_s = 0.0
        self.is_shaped = terms.shapes or bool(terms.rates)  # what is learned of rates is shared
        self._session = session
        self._dry = 0  # answers in a row that gave too little
        self._ask_at = self._tell_at = float("-inf")  # for money; of money
        self.look_at = float("inf")  # when it is to be asked again without any news
        self._told: dict[str, tuple[float, float]] = {}  # by kind: what, and until when it need not be told again
        self.ledger = None if terms.ceiling is None else LeasedLedger(terms.name, on_short=session.wake)
        self.buckets = {kind: self._bucket(kind, per_s) for kind, per_s in terms.rates.items()}

    def _bucket(self, kind: str, per_s: float) -> LeasedBucket:
        return LeasedBucket(kind=kind, per_s=per_s, on_short=self._session.wake)

    def learn(self, kind: str, per_minute: float, now: float) -> None:
        """Tell the others, unless the account is stricter anyway or was told already."""
        bucket = self.buckets.get(kind)
        told, until = self._told.get(kind, (0.0, float("-inf")))
        if (told == per_minute and now < until) or (bucket is not None and bucket.per_s * 60.0 < per_minute * 0.999):
            return
        self._told[kind] = (per_minute, now + _TELL_AGAIN_S)
        self.learned[kind] = per_minute
        self._session.wake()

    def report(self, now: float, *, is_beat: bool) -> AccountReport | None:
        """What there is to tell or ask now; None: nothing."""
        stretch, waiting = stretch_s(self.holders), self._session.startable
        asked = (each.report(now, waiting=waiting, stretch_s=stretch) for each in self.buckets.values())
        rates = tuple(each for each in asked if each is not None)
        money = self._money(now, is_beat=is_beat)
        looks = self.is_shaped and (is_beat or bool(self.learned))
        if not (is_beat or money or rates or self.learned or self.cool_s):
            return None
        report = AccountReport(looks=looks, money=money, rates=rates, learned=self.learned, cool_s=self.cool_s)
        self.learned, self.cool_s = {}, 0.0
        return report

    def _money(self, now: float, *, is_beat: bool) -> MoneyReport | None:
        ledger = self.ledger
        if ledger is None:
            return None
        if now >= self.look_at:
            self.look_at = float("inf")
        if now >= self._ask_at or ledger.is_worth_asking:
            least, total = self._session.shortage
            if (asked := ledger.ask(now, least=least, waiting=total)) is not None:
                return asked
        if is_beat and now >= self._tell_at:
            self._tell_at = now + turn_s(self.holders)
            return ledger.tell()
        return None

    def answered(self, report: AccountReport, answer: AccountAnswer, now: float) -> None:
        """Take in what the account says."""
        self.holders = self.holders if answer.holders is None else answer.holders
        for rate in answer.rates:
            if rate.per_s <= 0.0:
                self.buckets.pop(rate.kind, None)
                continue
            if rate.kind not in self.buckets:
                self.buckets[rate.kind] = self._bucket(rate.kind, rate.per_s)
            self.buckets[rate.kind].answered(rate, now)
        if self.ledger is None:
            return
        if answer.is_gone:
            _log.warning("the lease on the account %s ran out: what it held is booked as spent", self.name)
            self.ledger.lost()
        elif report.money is not None and answer.money is not None:
            has_enough = self.ledger.answered(report.money, answer.money)
            self._ask_at = float("-inf") if has_enough else now + dry_s(self._dry, self.holders)
            self.look_at = float("inf") if has_enough else self._ask_at
            self._dry = 0 if has_enough else self._dry + 1
            if self.ledger.is_worth_asking:  # something came back while the question was under way
                self._session.wake()

    def set_away(self, is_away: bool) -> None:
        """Whether nobody answers for the account."""
        for each in (*self.buckets.values(), *(() if self.ledger is None else (self.ledger,))):
            each.is_away = is_away


class AccountSession:
    """The accounts that the gates of one process share with other processes. Also the gates' `SharedRates`."""

    def __init__(self, store: AccountStore, terms: Iterable[AccountTerms], *, clock: Clock, max_wait_s: float) -> None:
        self._store = store
        self._clock = clock
        self._max_wait_s = max_wait_s
        self._wake = asyncio.Event()
        self._gates: list[Gate] = []
        self._members = [_Member(each, self) for each in terms]
        self._away_since: float | None = None
        self._closing = asyncio.Event()
        self._buckets: list[LeasedBucket] = []
        self._gather()
        self._task = asyncio.create_task(self._serve())
        self._task.add_done_callback(self._ended)

    @property
    def ledgers(self) -> tuple[LeasedLedger, ...]:
        """What this process holds of the accounts' money."""
        return tuple(member.ledger for member in self._members if member.ledger is not None)

    @property
    def buckets(self) -> list[LeasedBucket]:
        """What this process may use of the accounts' rates."""
        return self._buckets

    @property
    def has_rates(self) -> bool:
        """Whether any of the accounts limits a rate."""
        return any(member.is_shaped for member in self._members)

    def attach(self, gate: Gate) -> None:
        """Supply this gate, whose ledger has `ledgers` beside it."""
        self._gates.append(gate)

    def learn(self, kind: str, per_minute: float) -> bool:
        """Let everybody know what the provider states; whether nobody knew of such a limit."""
        now, is_known = self._clock.now(), any(bucket.kind == kind for bucket in self._buckets)
        for member in self._members:
            if member.is_shaped:
                member.learn(kind, per_minute, now)
        return not is_known

    def cool(self, seconds: float) -> None:
        """Let everybody know that nobody starts a call for so long."""
        for member in self._members:
            if member.is_shaped:
                member.cool_s = max(member.cool_s, seconds)
        self.wake()

    def wake(self) -> None:
        """Something runs short, or is to be told."""
        self._wake.set()

    @property
    def startable(self) -> int:
        """How many calls wait for nothing but the accounts."""
        return sum(gate.startable for gate in self._gates)

    @property
    def shortage(self) -> tuple[int, int]:
        """The least that somebody needs who waits for money, and what all of them need."""
        found = [gate.shortage() for gate in self._gates]
        return min((least for least, _ in found if least), default=0), sum(total for _, total in found)

    async def _serve(self) -> None:
        beat_at = self._clock.now()
        while not self._closing.is_set():
            await self._woken(min(beat_at, *(member.look_at for member in self._members)))
            self._wake.clear()
            now = self._clock.now()
            is_beat = now >= beat_at
            if is_beat:
                beat_at = now + _BEAT_S
            try:
                if await self._round(is_beat=is_beat) or is_beat:
                    for gate in self._gates:
                        gate.accounts_changed()
            except AccountsAwayError as error:
                await self._stay_away(error)
                beat_at = self._clock.now()
            except ConfigError as error:
                self._pause(no_account(str(error)))
                return

    def _ended(self, task: asyncio.Task[None]) -> None:
        """After a defect nobody may wait for ever; `aclose` raises it."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._pause(no_account(f"the shared accounts cannot be used: {error!r}"))

    async def _woken(self, at: float) -> None:
        """Return then, or as soon as there is something to say."""
        if self._wake.is_set():
            return
        cancel = self._clock.call_later(max(0.0, at - self._clock.now()), self._wake.set)
        try:
            await self._wake.wait()
        finally:
            cancel()

    async def _round(self, *, is_beat: bool) -> bool:
        """Talk to every account that there is something to say to; whether there was one."""
        has_news = False
        for member in self._members:
            report = member.report(self._clock.now(), is_beat=is_beat)
            if report is None:
                continue
            answer = await self._store.exchange(member.name, report)
            self._take_in(member, report, answer)
            has_news = True
        return has_news

    def _take_in(self, member: _Member, report: AccountReport, answer: AccountAnswer) -> None:
        if self._away_since is not None:
            self._away_since = None
            for each in self._members:
                each.set_away(False)
        known = set(member.buckets)
        member.answered(report, answer, self._clock.now())
        if member.buckets.keys() != known:
            self._gather()
        if answer.cool_s > 0.0:
            for gate in self._gates:
                gate.cool_down(answer.cool_s, is_told=True)

    def _gather(self) -> None:
        self._buckets[:] = [bucket for member in self._members for bucket in member.buckets.values()]

    async def _stay_away(self, error: AccountsAwayError) -> None:
        """Start nothing new, and try again after a while that grows; at last, pause."""
        now = self._clock.now()
        if self._away_since is None:
            self._away_since = now
            for member in self._members:
                member.set_away(True)
            _log.warning("%s; nothing new is started until the shared accounts answer again", error)
        waited_s = now - self._away_since
        if waited_s >= self._max_wait_s:
            self._pause(no_accounts(str(error), waited_s))
        with suppress(TimeoutError):
            async with asyncio.timeout(min(_LONGEST_AGAIN_S, max(_AGAIN_S, waited_s / 2.0))):
                await self._closing.wait()

    def _pause(self, pause: Pause) -> None:
        for gate in self._gates:
            gate.pause(pause)

    async def aclose(self) -> None:
        """Tell what was spent, give the rest back, and let go."""
        self._closing.set()
        self._wake.set()
        try:
            await self._task
            if self._away_since is not None:
                raise AccountsAwayError("the shared accounts cannot be reached")
            for member in self._members:
                ledger = member.ledger
                spent, reserved = (0, 0) if ledger is None else (ledger.spent, ledger.reserved)
                await self._store.end(member.name, spent=spent, reserved=reserved)
        except AccountsAwayError as error:
            _log.warning("%s: what this process held is booked as spent when its lease runs out", error)
        finally:
            await self._store.aclose()

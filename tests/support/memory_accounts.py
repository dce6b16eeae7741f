"""Shared accounts in memory: what the statements in the database do, said once more in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from batchwork.core.errors import AccountsAwayError, ConfigError
from batchwork.core.lease import (
    BURST_S,
    AccountAnswer,
    AccountReport,
    AccountTerms,
    MoneyAnswer,
    MoneyReport,
    RateAnswer,
    RateReport,
    granted,
)
from batchwork.core.ports import Clock


@dataclass
class MemoryLease:
    until: float = 0.0
    granted: int = 0
    spent: int = 0

    @property
    def held(self) -> int:
        return self.granted - self.spent


@dataclass
class MemoryRate:
    stated: float | None  # per minute
    learned: float = 0.0
    learned_until: float = float("-inf")
    tat: float = float("-inf")

    def per_s(self, now: float) -> float:
        if self.stated is None:
            return self.learned / 60.0
        return (min(self.stated, self.learned) if self.learned_until > now else self.stated) / 60.0


@dataclass
class MemoryAccount:
    """One account. `exchange` is the statement on its money, `lease_rate` that on a rate."""

    name: str
    ceiling: int | None = None
    rates: dict[str, MemoryRate] = field(default_factory=dict)
    spent: int = 0
    leased: int = 0
    unconfirmed: int = 0
    highest: int = 0  # of what was ever spent and leased at once
    cool_until: float = float("-inf")
    leases: dict[int, MemoryLease] = field(default_factory=dict)
    statements: int = 0  # that change the account's own rows
    next_id: int = 0

    @classmethod
    def of(cls, name: str, *, ceiling: int | None = None, **per_minute: float) -> MemoryAccount:
        return cls(name=name, ceiling=ceiling, rates={kind: MemoryRate(rate) for kind, rate in per_minute.items()})

    def terms(self, now: float) -> AccountTerms:
        rates = {kind: rate.per_s(now) for kind, rate in self.rates.items()}
        return AccountTerms(name=self.name, ceiling=self.ceiling, rates=rates)

    def begin(self) -> int:
        self.next_id += 1
        self.leases[self.next_id] = MemoryLease()
        return self.next_id

    def exchange(self, lease: MemoryLease, report: MoneyReport, holders: int) -> int:
        """What the lease has been granted since it began."""
        assert self.ceiling is not None
        self.statements += 1
        kept = max(report.spent, min(lease.granted, report.kept))
        self.spent = max(0, self.spent + report.spent - lease.spent)
        self.leased += (kept - report.spent) - lease.held
        more = granted(
            left=self.ceiling - self.spent - self.leased, need=report.need, want=report.want, holders=holders
        )
        self.leased += more
        lease.granted, lease.spent = kept + more, report.spent
        if more:
            assert self.spent + self.leased <= self.ceiling
        self.highest = max(self.highest, self.spent + self.leased)
        return lease.granted

    def end(self, lease: MemoryLease, *, spent: int, reserved: int) -> None:
        self.spent += spent - lease.spent + reserved
        self.unconfirmed += reserved
        self.leased -= lease.held

    def reap(self, number: int) -> None:
        lease = self.leases.pop(number)
        self.spent += lease.held
        self.unconfirmed += lease.held
        self.leased -= lease.held

    def lease_rate(self, report: RateReport, now: float) -> RateAnswer:
        self.statements += 1
        rate = self.rates[report.kind]
        per_s = rate.per_s(now)
        amount = 0.0 if self.cool_until > now else report.amount
        start = max(rate.tat - report.returned / per_s, now - BURST_S)
        rate.tat = start + amount / per_s
        return RateAnswer(kind=report.kind, per_s=per_s, wait_s=start - now, amount=amount)


class MemoryAccounts:
    """The accounts as one process sees them; `way_s` is the time to them and back again."""

    def __init__(
        self, accounts: dict[str, MemoryAccount], *, clock: Clock, way_s: Callable[[], float] = lambda: 0.0
    ) -> None:
        self.accounts = accounts
        self.is_away = False
        self.exchanges = 0
        self._clock = clock
        self._way_s = way_s
        self.ids = {name: account.begin() for name, account in accounts.items()}

    def terms(self) -> list[AccountTerms]:
        return [account.terms(self._clock.now()) for account in self.accounts.values()]

    async def exchange(self, name: str, report: AccountReport) -> AccountAnswer:
        await self._clock.sleep(self._way_s() / 2.0)
        if self.is_away:
            raise AccountsAwayError("memory does not answer")
        if name not in self.accounts:
            raise ConfigError(f"the shared account {name!r} was removed")
        answer = self._answer(self.accounts[name], report)
        await self._clock.sleep(self._way_s() / 2.0)
        return answer

    def _answer(self, account: MemoryAccount, report: AccountReport) -> AccountAnswer:
        now, money = self._clock.now(), None
        self.exchanges += 1
        lease = account.leases.get(self.ids[account.name])
        holders = len(account.leases)
        if lease is None:
            self.ids[account.name] = account.begin()
        elif report.money is not None:
            given = account.exchange(lease, report.money, holders)
            assert account.ceiling is not None
            money = MoneyAnswer(
                granted=given, ceiling=account.ceiling, spent=account.spent, leased=account.leased, holders=holders
            )
        if report.cool_s:
            account.cool_until = max(account.cool_until, now + report.cool_s)
        for kind, per_minute in report.learned.items():
            rate = account.rates.setdefault(kind, MemoryRate(None))
            rate.learned, rate.learned_until = per_minute, now + 60.0
        rates = {}
        if report.looks:
            rates = {kind: RateAnswer(kind=kind, per_s=rate.per_s(now)) for kind, rate in account.rates.items()}
        rates |= {each.kind: account.lease_rate(each, now) for each in report.rates}
        return AccountAnswer(
            holders=holders,
            is_gone=lease is None,
            money=money,
            rates=tuple(rates.values()),
            cool_s=max(0.0, account.cool_until - now),
        )

    async def end(self, name: str, *, spent: int, reserved: int) -> None:
        account = self.accounts[name]
        if (lease := account.leases.pop(self.ids[name], None)) is not None:
            account.end(lease, spent=spent, reserved=reserved)

    async def aclose(self) -> None:
        pass

"""Many workers on one limit and one budget, in virtual time: share, overshoot, fairness.

The gate and what supplies it are the real ones; the database is its arithmetic in memory, some milliseconds away; the
provider is strict. Nothing is drawn from a table: the seconds are those of an event loop whose clock jumps.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections import deque
from dataclasses import dataclass, field, replace

from batchwork.clock import SystemClock
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ledger import Ledger
from batchwork.core.policy import RatePolicy
from batchwork.core.window import AdaptiveWindow
from batchwork.engine.accounts import AccountSession
from batchwork.engine.gate import Denied, Gate, Need
from perf._harness import arguments, show_table, verdict
from tests.support.memory_accounts import MemoryAccount, MemoryAccounts
from tests.support.virtual_time import run_virtual, virtual_now

_WAY_S = 0.005  # to the database and back
_LATENCY_S = 1.0
_SETTLING_S = 5.0
_LEAST_BURST, _BURST_S = 5.0, 0.05  # what the provider bears at once above its rate: calls, and seconds of it
_NANO = 1_000_000
_LEAST_SHARE, _MOST_REFUSED, _FAIR = 0.97, 0.005, 0.8


@dataclass
class Provider:
    """Lets so many calls a second through, and a few at once."""

    per_s: float
    taken: int = 0
    refused: int = 0
    level: float = 0.0
    at: float = 0.0

    def lets_through(self) -> bool:
        now = virtual_now()
        burst = max(_LEAST_BURST, _BURST_S * self.per_s)
        self.level = min(burst, self.level + (now - self.at) * self.per_s)
        self.at = now
        if self.level < 1.0:
            self.refused += 1
            return False
        self.level -= 1.0
        self.taken += 1
        return True


@dataclass
class Worker:
    """A process that would start as many calls as it may."""

    number: int
    window: int
    pause_s: float = 0.0  # between two calls of one that has few
    until_s: float = float("inf")
    done: int = 0
    spent: int = 0
    denied: int = 0
    waits: deque[float] = field(default_factory=lambda: deque(maxlen=1000))

    async def work(self, session: AccountSession, provider: Provider, dice: random.Random, calls: int) -> None:
        gate = Gate(
            clock=SystemClock(),
            ledger=Ledger(ceiling=None, also=session.ledgers),
            rates=RatePolicy(),
            window=AdaptiveWindow(self.window, opening=None),
            shared=[session] if session.has_rates else [],
        )
        session.attach(gate)
        caller = gate.join(bound=self.window, on_room=lambda: None)
        left = calls

        async def slot() -> None:
            nonlocal left
            while left > 0 and virtual_now() < self.until_s:
                left -= 1
                asked = virtual_now()
                need = Need(order=calls - left, input_tokens=1, output_tokens=1, worst_nano=_NANO)
                answer = await gate.admit(caller, need)
                if isinstance(answer, Denied):
                    self.denied += 1
                    return
                self.waits.append(virtual_now() - asked)
                if provider.lets_through():
                    await asyncio.sleep(_LATENCY_S * dice.lognormvariate(0.0, 0.4))
                    cost = int(_NANO * dice.uniform(0.5, 1.0))
                    self.done, self.spent = self.done + 1, self.spent + cost
                    gate.release(answer, charged_nano=cost)
                else:
                    gate.release(
                        answer, charged_nano=0, failure=Failure(kind=FailureKind.RATE_LIMITED, message="too fast")
                    )
                if self.pause_s:
                    await asyncio.sleep(self.pause_s * dice.uniform(0.5, 1.5))

        await asyncio.gather(*(slot() for _ in range(self.window)))


@dataclass(frozen=True, kw_only=True)
class Outcome:
    workers: list[Worker]
    account: MemoryAccount
    provider: Provider
    seconds: float
    leases: float  # statements that change the account's rows, per second


async def simulate(
    count: int,
    *,
    per_s: float | None,
    ceiling: int | None,
    seconds: float,
    calls: int,
    trickles: int = 0,
) -> Outcome:
    """`count` workers, some of which have little to do, for so long or until nothing is left."""
    dice = random.Random(1)
    window = max(40, int(3.0 * _LATENCY_S * (per_s or 0.0) / (count - trickles)))
    rates = {} if per_s is None else {"requests": per_s * 60.0}
    account = MemoryAccount.of("all", ceiling=ceiling, **rates)
    provider = Provider(per_s=per_s or 1e9)
    workers = [
        Worker(
            number=number,
            window=1 if number < trickles else window,
            pause_s=2.0 if number < trickles else 0.0,
            until_s=_SETTLING_S + seconds,
        )
        for number in range(count)
    ]
    ended: list[float] = []

    async def process(worker: Worker) -> None:
        await asyncio.sleep(dice.uniform(0.0, 1.0))
        store = MemoryAccounts(
            {"all": account}, clock=SystemClock(), way_s=lambda: _WAY_S * dice.lognormvariate(0.0, 0.5)
        )
        session = AccountSession(store, store.terms(), clock=SystemClock(), max_wait_s=900.0)
        await worker.work(session, provider, dice, calls)
        ended.append(virtual_now())
        await session.aclose()

    tasks = [asyncio.create_task(process(worker)) for worker in workers]
    if per_s is not None:
        await asyncio.sleep(_SETTLING_S)
        provider.taken = provider.refused = account.statements = 0
        for worker in workers:
            worker.done = 0
        await asyncio.sleep(seconds)
        outcome = Outcome(
            workers=[replace(worker) for worker in workers],
            account=account,
            provider=replace(provider),
            seconds=seconds,
            leases=account.statements / seconds,
        )
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return outcome
    await asyncio.gather(*tasks)
    return Outcome(
        workers=workers, account=account, provider=provider, seconds=max(ended), leases=account.statements / max(ended)
    )


def rate_row(count: int, per_s: float, seconds: float, trickles: int) -> tuple[list[str], bool]:
    outcome = run_virtual(simulate(count, per_s=per_s, ceiling=None, seconds=seconds, calls=10**9, trickles=trickles))
    provider = outcome.provider
    share = provider.taken / (per_s * seconds)
    refused = provider.refused / (provider.taken + provider.refused)
    busy = sorted(worker.done for worker in outcome.workers[trickles:])
    even = busy[0] / (sum(busy) / len(busy))
    waits = sorted(wait for worker in outcome.workers[:trickles] for wait in worker.waits)
    typical = waits[len(waits) // 2] if waits else 0.0
    good = share >= _LEAST_SHARE and refused <= _MOST_REFUSED and even >= _FAIR
    row = [
        f"{count} on {per_s:g}/s",
        f"{share:.1%}",
        f"{refused:.2%}",
        f"{even:.2f}",
        f"{typical:.2f} s" if waits else "-",
        f"{outcome.leases:.0f}",
    ]
    return row, good


def money_row(count: int, calls_paid: int) -> tuple[list[str], bool]:
    ceiling = calls_paid * _NANO
    demand = 4 * calls_paid // count
    outcome = run_virtual(simulate(count, per_s=None, ceiling=ceiling, seconds=1e6, calls=demand))
    spent = sum(worker.spent for worker in outcome.workers)
    over = max(0, outcome.account.highest - ceiling)
    done = sorted(worker.done for worker in outcome.workers)
    even = done[0] / (sum(done) / len(done))
    row = [
        f"{count} on {calls_paid:,} dearest calls",
        f"{spent / ceiling:.2%}",
        str(over),
        f"{even:.2f}",
        f"{outcome.seconds:.0f} s",
        f"{outcome.leases:.0f}",
    ]
    return row, spent >= 0.99 * ceiling and over == 0 and outcome.account.spent == spent and not outcome.account.leased


def main() -> int:
    smoke = arguments(__doc__ or "").smoke
    seconds = 20.0 if smoke else 60.0
    fleets = [(4, 100.0, 1), (20, 300.0, 5)]
    budgets = [(6, 1_000), (20, 2_000)]
    if not smoke:
        fleets = [(4, 100.0, 1), (8, 500.0, 2), (50, 200.0, 10), (200, 1000.0, 40)]
        budgets = [(6, 1_000), (50, 10_000), (200, 100_000)]
    rates = [rate_row(count, per_s, seconds, trickles) for count, per_s, trickles in fleets]
    show_table(
        ["workers on one limit", "used", "refused", "least / mean", "wait of a trickle", "leases/s"],
        [row for row, _ in rates],
    )
    money = [money_row(count, calls) for count, calls in budgets]
    show_table(
        ["workers on one budget", "used", "overshoot", "least / mean", "took", "leases/s"], [row for row, _ in money]
    )
    return verdict(
        "accounts",
        f"{rates[-1][0][0]}: {rates[-1][0][1]} used, {rates[-1][0][2]} refused;"
        f" {money[-1][0][0]}: {money[-1][0][1]} used, {money[-1][0][2]} over",
        f">= {_LEAST_SHARE:.0%} of a limit, <= {_MOST_REFUSED:.1%} refused, the least {_FAIR:.0%} of the mean;"
        " >= 99% of a budget, overshoot 0",
        ok=all(is_good for _, is_good in (*rates, *money)),
        timed=False,
    )


if __name__ == "__main__":
    sys.exit(main())

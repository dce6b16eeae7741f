from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from batchwork.clock import SystemClock
from batchwork.core.breaker import Pause
from batchwork.core.ledger import Ledger
from batchwork.core.policy import RatePolicy
from batchwork.core.reply import Limit, ReportedLimits
from batchwork.core.window import AdaptiveWindow
from batchwork.engine.accounts import AccountSession
from batchwork.engine.gate import Caller, Denied, Gate, Grant
from tests.support.gates import in_virtual_time, need
from tests.support.memory_accounts import MemoryAccount, MemoryAccounts
from tests.support.virtual_time import virtual_now

_WAY_S = 0.01


class Process:
    """One process with a gate of its own on shared accounts."""

    def __init__(self, *accounts: MemoryAccount, max_wait_s: float = 900.0) -> None:
        clock = SystemClock()
        self.store = MemoryAccounts({each.name: each for each in accounts}, clock=clock, way_s=lambda: _WAY_S)
        self.session = AccountSession(self.store, self.store.terms(), clock=clock, max_wait_s=max_wait_s)
        self.gate = Gate(
            clock=clock,
            ledger=Ledger(ceiling=None, also=self.session.ledgers),
            rates=RatePolicy(),
            window=AdaptiveWindow(100, opening=None),
            shared=[self.session] if self.session.has_rates else [],
        )
        self.session.attach(self.gate)
        self.pauses: list[Pause] = []
        self.caller: Caller = self.gate.join(bound=100, on_room=lambda: None, on_pause=self.pauses.append)

    async def admit(self, worst: int = 0, tokens: int = 1) -> Grant | Denied:
        return await self.gate.admit(self.caller, need(worst=worst, tokens=tokens))

    async def call(self, worst: int, cost: int, latency_s: float = 0.1) -> bool:
        """Whether there was money for it."""
        grant = await self.admit(worst)
        if isinstance(grant, Denied):
            return False
        await asyncio.sleep(latency_s)
        self.gate.release(grant, charged_nano=cost)
        return True


@asynccontextmanager
async def processes(
    count: int, *accounts: MemoryAccount, max_wait_s: float = 900.0
) -> AsyncIterator[tuple[Process, ...]]:
    started = tuple(Process(*accounts, max_wait_s=max_wait_s) for _ in range(count))
    yield started
    for each in started:
        await each.session.aclose()


@in_virtual_time
async def test_processes_use_a_budget_up_and_are_told_when_nothing_is_left() -> None:
    team = MemoryAccount.of("team", ceiling=1000)
    async with processes(3, team) as started:
        done = await asyncio.gather(*(process.call(10, 7) for process in started for _ in range(100)))
        assert sum(done) == 142  # what is left after them is less than the worst case of one
    assert (team.spent, team.leased, team.unconfirmed) == (994, 0, 0)
    assert team.highest <= 1000


@in_virtual_time
async def test_two_rests_that_are_too_small_do_not_block_each_other() -> None:
    team = MemoryAccount.of("team", ceiling=100)
    async with processes(2, team) as (one, other):
        assert await one.call(45, 45)
        assert await other.call(45, 1)
        first, second = await asyncio.gather(one.call(54, 54), other.call(54, 54))
        assert (first, second) in ((True, False), (False, True))
        assert virtual_now() < 5.0
    assert team.spent == 100


@in_virtual_time
async def test_whoever_is_idle_gives_its_rest_back_within_some_seconds() -> None:
    team = MemoryAccount.of("team", ceiling=1000)
    async with processes(2, team) as (one, other):
        await asyncio.gather(*(one.call(10, 10) for _ in range(40)))
        await asyncio.sleep(2.0)
        assert team.leased == 0
        assert await other.call(600, 600)


@in_virtual_time
async def test_a_process_whose_lease_ran_out_goes_on_with_a_new_one_and_nothing_is_booked_twice() -> None:
    team = MemoryAccount.of("team", ceiling=1000)
    async with processes(1, team) as (stopped,):
        grant = await stopped.admit(100)
        assert isinstance(grant, Grant)
        team.reap(stopped.store.ids["team"])
        assert team.spent >= 100
        booked = team.spent
        await asyncio.sleep(1.0)
        stopped.gate.release(grant, charged_nano=60)
        await asyncio.sleep(1.0)
        assert team.spent == booked
        assert await stopped.call(50, 50)
    assert (team.spent, team.leased) == (booked + 50, 0)


@in_virtual_time
async def test_calls_of_all_processes_are_spaced_by_one_rate() -> None:
    haiku = MemoryAccount.of("haiku", requests=600.0)
    async with processes(3, haiku) as started:
        begun = virtual_now()
        await asyncio.gather(*(process.call(0, 0) for process in started for _ in range(20)))
        assert 5.4 <= virtual_now() - begun - 0.1 <= 6.3  # 60 calls at 10 a second


@in_virtual_time
async def test_a_wait_that_the_provider_asks_of_one_holds_for_all_within_a_second() -> None:
    haiku = MemoryAccount.of("haiku", requests=60_000.0)
    async with processes(2, haiku) as (one, other):
        await asyncio.gather(one.call(0, 0), other.call(0, 0))
        one.gate.cool_down(30.0)
        cooled_at = virtual_now()
        await asyncio.sleep(1.0)
        assert await other.call(0, 0, latency_s=0.0)
        assert virtual_now() - cooled_at >= 30.0


@in_virtual_time
async def test_a_limit_that_one_learns_from_headers_is_known_to_all_within_a_second() -> None:
    haiku = MemoryAccount.of("haiku", requests=6000.0)
    async with processes(2, haiku) as (one, other):
        grant = await one.admit()
        assert isinstance(grant, Grant)
        told = ReportedLimits(
            requests=Limit(per_minute=600.0, remaining=0.0), input_tokens=Limit(per_minute=60_000.0, remaining=0.0)
        )
        one.gate.release(grant, charged_nano=0, limits=told)
        await asyncio.sleep(1.0)
        known = {bucket.kind: round(bucket.per_s, 3) for bucket in other.session.buckets}
        assert known == {"requests": 9.9, "input_tokens": 990.0}
        assert await other.call(0, 0)  # "0 remaining" counts everybody's calls, and lowers nobody's part


@in_virtual_time
async def test_while_nobody_answers_nothing_starts_and_at_last_every_run_pauses() -> None:
    team = MemoryAccount.of("team", ceiling=10**6)
    async with processes(1, team, max_wait_s=60.0) as (one,):
        under_way = await one.admit(10)
        assert isinstance(under_way, Grant)
        one.store.is_away = True
        await asyncio.sleep(1.5)
        waiting = asyncio.create_task(one.admit(10))
        await asyncio.sleep(20.0)
        one.gate.release(under_way, charged_nano=5)  # what is under way ends as ever
        assert not waiting.done()
        assert not one.pauses
        one.store.is_away = False
        grant = await waiting
        assert isinstance(grant, Grant)
        one.gate.release(grant, charged_nano=5)
        one.store.is_away = True
        await asyncio.sleep(1.5)
        waiting = asyncio.create_task(one.admit(10))
        await asyncio.sleep(70.0)
        assert [pause.cause for pause in one.pauses][:1] == ["accounts"]
        assert "BATCHWORK_SHARED" in one.pauses[0].remedy
        one.gate.close(one.caller)
        assert await waiting is Denied.CLOSED


@in_virtual_time
async def test_an_account_that_is_removed_pauses_whoever_uses_it() -> None:
    team = MemoryAccount.of("team", ceiling=1000)
    async with processes(1, team) as (one,):
        assert await one.call(10, 10)
        del one.store.accounts["team"]
        await asyncio.sleep(6.0)
        assert "was removed" in one.pauses[0].reason
        one.store.accounts["team"] = team


@in_virtual_time
async def test_several_accounts_hold_together() -> None:
    team, project = MemoryAccount.of("team", ceiling=1000), MemoryAccount.of("project", ceiling=50)
    haiku = MemoryAccount.of("haiku", requests=600.0)
    async with processes(1, team, project, haiku) as (one,):
        done = await asyncio.gather(*(one.call(10, 10) for _ in range(20)))
        assert sum(done) == 5
    assert (team.spent, project.spent) == (50, 50)


@pytest.mark.parametrize("holders", [2, 20])
def test_whoever_has_little_to_do_waits_about_a_turn(holders: int) -> None:
    @in_virtual_time
    async def run() -> None:
        haiku = MemoryAccount.of("haiku", requests=6000.0)
        async with processes(holders, haiku) as (trickle, *busy):
            for process in busy:
                for _ in range(90):
                    asyncio.get_running_loop().create_task(process.call(0, 0, latency_s=0.5))
            await asyncio.sleep(0.5)
            asked_at = virtual_now()
            await trickle.call(0, 0, latency_s=0.0)
            assert virtual_now() - asked_at <= 2.0
            await asyncio.sleep(60.0)

    run()

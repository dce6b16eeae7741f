"""What the statements on shared accounts do: the same as the arithmetic in plain Python, whoever else talks to them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest

from batchwork.clock import SystemClock
from batchwork.core.dsn import Dsn
from batchwork.core.errors import AccountsAwayError, ConfigError
from batchwork.core.lease import AccountReport, MoneyReport, RateReport
from tests.support.memory_accounts import MemoryAccount
from tests.support.postgres_server import PostgresServer, free_port, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
if why_not() is None:
    import psycopg

    from batchwork.postgres.account_store import PostgresAccounts
    from batchwork.postgres.account_tables import remove_account, set_account
    from batchwork.postgres.connection import connect

_names = iter(range(1_000_000))


async def made(postgres: PostgresServer, *, ceiling: int | None = None, per: str | None = None, **rates: float) -> str:
    name = f"store {next(_names)}"
    async with await connect(Dsn.parse(postgres.address, needs_journal=False)) as connection:
        assert await set_account(connection, name, ceiling=ceiling, per=per, rates=rates)
    return name


async def process(postgres: PostgresServer, *names: str, lease_s: float = 30.0) -> PostgresAccounts:
    store = PostgresAccounts(Dsn.parse(postgres.address, needs_journal=False), clock=SystemClock(), lease_s=lease_s)
    await store.open(list(names))
    return store


def money(spent: int = 0, kept: int = 0, need: int = 0, want: int = 0) -> AccountReport:
    return AccountReport(money=MoneyReport(spent=spent, kept=kept, need=need, want=want))


def standing(postgres: PostgresServer, name: str) -> tuple[int, int, int]:
    (row,) = postgres.execute("SELECT spent, leased, unconfirmed FROM batchwork.account WHERE name = %s", name)
    return row[0], row[1], row[2]


def run(main: Callable[[], Awaitable[Any]]) -> Any:
    return asyncio.run(main())  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(3))
def test_the_statement_on_money_does_what_the_arithmetic_says(postgres: PostgresServer, seed: int) -> None:
    async def main() -> None:
        dice = random.Random(seed)
        ceiling = dice.choice((0, 1, 1000, 10**12))
        name = await made(postgres, ceiling=ceiling)
        model = MemoryAccount.of(name, ceiling=ceiling)
        stores = [await process(postgres, name) for _ in range(3)]
        leases = [model.leases[model.begin()] for _ in stores]
        for store in stores:
            await store.exchange(name, money())  # each learns how many there are
        for _ in range(40):
            who = dice.randrange(3)
            lease = leases[who]
            spent = lease.spent + dice.randint(0, max(0, lease.held))
            kept = dice.choice((spent, lease.granted, dice.randint(spent, max(spent, lease.granted))))
            need = dice.choice((0, 0, 1, dice.randint(0, max(1, ceiling // 5))))
            report = MoneyReport(spent=spent, kept=kept, need=need, want=dice.randint(0, max(1, ceiling // 3)))
            answer = (await stores[who].exchange(name, AccountReport(money=report))).money
            assert answer is not None
            assert answer.granted == model.exchange(lease, report, holders=3)
            assert (answer.spent, answer.leased, answer.holders) == (model.spent, model.leased, 3)
        for store, lease in zip(stores, leases, strict=True):
            reserved = lease.held // 2
            await store.end(name, spent=lease.spent, reserved=reserved)
            model.end(lease, spent=lease.spent, reserved=reserved)
            await store.aclose()
        assert (
            standing(postgres, name)
            == (model.spent, 0, model.unconfirmed)
            == (model.spent, model.leased, model.unconfirmed)
        )

    run(main)


def test_six_who_lease_at_once_never_pass_the_ceiling_and_the_check_stands_behind_it(postgres: PostgresServer) -> None:
    async def main() -> None:
        ceiling = 10_000
        name = await made(postgres, ceiling=ceiling)
        stores = [await process(postgres, name) for _ in range(6)]

        async def spend(store: PostgresAccounts, seed: int) -> int:
            dice, granted, spent = random.Random(seed), 0, 0
            for _ in range(60):
                kept = dice.randint(spent, granted)
                answer = (await store.exchange(name, money(spent, kept, need=dice.randint(1, 90), want=400))).money
                assert answer is not None
                granted = answer.granted
                assert answer.spent + answer.leased <= ceiling
                spent += dice.randint(0, granted - spent)
            await store.end(name, spent=spent, reserved=0)
            return spent

        spent = await asyncio.gather(*(spend(store, seed) for seed, store in enumerate(stores)))
        assert standing(postgres, name) == (sum(spent), 0, 0)
        assert sum(spent) <= ceiling
        for store in stores:
            await store.aclose()
        with pytest.raises(psycopg.errors.CheckViolation, match="never_above_the_ceiling"):
            postgres.execute("UPDATE batchwork.account SET leased = ceiling + 1, last = 1 WHERE name = %s", name)

    run(main)


def test_a_lease_that_ran_out_is_booked_and_its_owner_begins_a_new_one(postgres: PostgresServer) -> None:
    async def main() -> None:
        name = await made(postgres, ceiling=1000)
        dead = await process(postgres, name, lease_s=0.6)
        assert (await dead.exchange(name, money(need=300, want=300))).money is not None
        assert (await dead.exchange(name, money(spent=100, kept=300))).money is not None
        alive = await process(postgres, name, lease_s=0.6)
        late = 0
        while standing(postgres, name)[1]:  # not before the other has been connected for a lease itself
            await asyncio.sleep(0.1)
            late += 1
            assert late < 50
            assert not (await alive.exchange(name, AccountReport())).is_gone
        assert standing(postgres, name) == (300, 0, 200)
        back = await dead.exchange(name, money(spent=250, kept=300, need=100))
        assert back.is_gone
        again = (await dead.exchange(name, money(need=700, want=700))).money
        assert again is not None
        assert (again.granted, again.spent) == (700, 300)
        for store in (dead, alive):
            await store.end(name, spent=0, reserved=0)
            await store.aclose()

    run(main)


def test_a_new_period_begins_with_nothing_spent_and_what_is_held_stays_held(postgres: PostgresServer) -> None:
    async def main() -> None:
        name = await made(postgres, ceiling=1000, per="month")
        store = await process(postgres, name)
        await store.exchange(name, money(need=600, want=600))
        await store.exchange(name, money(spent=400, kept=600))
        assert standing(postgres, name) == (400, 200, 0)
        postgres.execute("UPDATE batchwork.account SET period = period - interval '1 month' WHERE name = %s", name)
        answer = (await store.exchange(name, money(spent=450, kept=600, need=750))).money
        assert answer is not None
        assert (answer.spent, answer.leased, answer.granted) == (50, 900, 1350)
        assert answer.left_s is not None
        assert 0 < answer.left_s <= 31 * 86_400
        # A clock that was set back gives no second budget.
        postgres.execute("UPDATE batchwork.account SET period = period + interval '1 month' WHERE name = %s", name)
        later = (await store.exchange(name, money(spent=460, kept=1350))).money
        assert later is not None
        assert later.spent == 60
        await store.end(name, spent=460, reserved=0)
        await store.aclose()

    run(main)


def test_stretches_of_a_rate_follow_each_other_whoever_asks(postgres: PostgresServer) -> None:
    async def main() -> None:
        name = await made(postgres, requests=6000.0, input_tokens=60_000.0)
        one, other = await process(postgres, name), await process(postgres, name)
        ask = AccountReport(rates=(RateReport(kind="requests", amount=50.0),), looks=True)
        ends = []
        for store in (one, other, one, other):
            answer = await store.exchange(name, ask)
            rates = {rate.kind: rate for rate in answer.rates}
            assert rates["input_tokens"].amount == 0.0
            assert rates["requests"].per_s == 100.0
            ends.append(rates["requests"].wait_s)
            assert answer.holders == 2
        gaps = [after - before for before, after in pairwise(ends)]
        assert all(0.2 <= gap <= 0.5 for gap in gaps)  # half a second each, less what passes between the questions
        back = AccountReport(rates=(RateReport(kind="requests", returned=150.0),))
        (returned,) = (await one.exchange(name, back)).rates
        assert returned.wait_s <= ends[-1] - 0.9
        await one.exchange(name, AccountReport(cool_s=20.0, learned={"requests": 600.0, "tokens": 1200.0}))
        told = await other.exchange(name, ask)
        assert 19.0 <= told.cool_s <= 20.0
        known = {rate.kind: (rate.per_s, rate.amount) for rate in told.rates}
        assert known == {"requests": (10.0, 0.0), "input_tokens": (1000.0, 0.0), "tokens": (20.0, 0.0)}
        for store in (one, other):
            await store.end(name, spent=0, reserved=0)
            await store.aclose()

    run(main)


def test_a_session_that_is_cut_off_is_away_and_then_goes_on_with_its_lease(postgres: PostgresServer) -> None:
    async def main() -> None:
        name = await made(postgres, ceiling=1000)
        store = await process(postgres, name)
        await store.exchange(name, money(need=100, want=100))
        postgres.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'batchwork accounts'"
        )
        with pytest.raises(AccountsAwayError, match="does not answer"):
            await store.exchange(name, money(spent=10, kept=100))
        answer = (await store.exchange(name, money(spent=10, kept=100))).money
        assert answer is not None
        assert (answer.granted, answer.spent) == (100, 10)
        async with await connect(Dsn.parse(postgres.address, needs_journal=False)) as connection:
            await remove_account(connection, name)
        with pytest.raises(ConfigError, match="was removed"):
            await store.exchange(name, money(spent=10, kept=100))
        await store.aclose()

    run(main)


def test_a_database_that_is_not_there_is_told_without_its_password() -> None:
    dsn = Dsn.parse(f"postgresql://me:hush-hush@127.0.0.1:{free_port()}/db", needs_journal=False)

    async def main() -> None:
        with pytest.raises(ConfigError, match="BATCHWORK_SHARED") as refused:
            await PostgresAccounts(dsn, clock=SystemClock()).open(["team"])
        assert "hush" not in str(refused.value)

    run(main)

"""The account of one run: what its processes lease of its rates stands one behind the other, whoever began it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import closing

import pytest

from batchwork.core.dsn import Dsn
from batchwork.core.lease import REQUESTS, AccountAnswer, AccountReport, RateReport
from tests.support.journals import BEGAN
from tests.support.postgres_server import PostgresServer, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
if why_not() is None:
    from batchwork.postgres.journal import JoinedJournal, PostgresJournal
    from batchwork.postgres.run_account import RunAccount

_LOOK = AccountReport(looks=True)


def test_the_rates_of_a_run_are_one_line_for_all_its_processes(postgres: PostgresServer) -> None:
    dsn = Dsn.parse(postgres.journal())

    async def wait_s(account: RunAccount) -> float:
        """How long it is until the stretch of this process begins; it lasts ten minutes."""
        report = AccountReport(rates=(RateReport(kind=REQUESTS, amount=6000),))
        (rate,) = (await account.exchange("run", report)).rates
        assert rate.per_s == 10.0
        return rate.wait_s

    async def both(first: RunAccount, second: RunAccount) -> None:
        await second.open(ceiling=None, rates={REQUESTS: 6.0}, begins=False)  # it is there before the owner
        await first.open(ceiling=None, rates={REQUESTS: 600.0}, begins=True)
        await second.open(ceiling=None, rates={REQUESTS: 6.0}, begins=False)
        assert await wait_s(first) <= 0.0
        assert 300.0 < await wait_s(second) <= 600.0
        assert 900.0 < await wait_s(first) <= 1200.0

    _with_two(dsn, both)


def test_what_one_process_learns_all_know_until_a_run_begins_to_which_nobody_has_told_it_lately(
    postgres: PostgresServer,
) -> None:
    dsn = Dsn.parse(postgres.journal())

    def rates(answer: AccountAnswer) -> Mapping[str, float]:
        return {rate.kind: rate.per_s for rate in answer.rates}

    async def both(first: RunAccount, second: RunAccount) -> None:
        await first.open(ceiling=None, rates={}, begins=True)
        await second.open(ceiling=None, rates={}, begins=False)
        assert rates(await second.exchange("run", _LOOK)) == {}
        await first.exchange("run", AccountReport(learned={REQUESTS: 60.0}, cool_s=100.0))
        answer = await second.exchange("run", _LOOK)
        assert rates(answer) == {REQUESTS: 1.0}
        assert answer.holders == 2
        assert answer.cool_s > 0.0
        await first.open(ceiling=None, rates={}, begins=True)
        assert rates(await second.exchange("run", _LOOK)) == {REQUESTS: 1.0}  # others are at work with it
        schema = f'"{dsn.schema}"'
        postgres.execute(f"UPDATE {schema}.rate SET learned_until = 'epoch'")
        await first.open(ceiling=None, rates={}, begins=True)
        assert rates(await second.exchange("run", _LOOK)) == {}
        asked = AccountReport(rates=(RateReport(kind=REQUESTS, amount=1.0),))
        assert rates(await second.exchange("run", asked)) == {REQUESTS: 0.0}  # there is no such limit any more

    _with_two(dsn, both)


def _with_two(dsn: Dsn, use: object) -> None:
    async def work() -> None:
        with closing(PostgresJournal(dsn, utc=lambda: 1000.0, shares=True)) as owner:
            owner.begin(BEGAN)
            with closing(JoinedJournal(dsn, utc=lambda: 1000.0)) as helper:
                accounts = [RunAccount(dsn, worker=each.worker) for each in (owner, helper)]
                try:
                    await use(*accounts)  # type: ignore[operator]
                finally:
                    for account in accounts:
                        await account.aclose()

    asyncio.run(work())

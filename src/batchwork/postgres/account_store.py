"""What a process tells the shared accounts in the database, and what they answer: one statement for each matter.

A lease is a single-row UPDATE: the amount is computed in SET from the row as it is when its lock is held, and read back
from the column `last`, so that no two processes can be given the same money (`core/lease.py` has the arithmetic). The
process's own row in `lease` is locked first, by everybody. Time is the database's alone.
"""

import asyncio
import logging
import os
import socket
from typing import Any

from batchwork.core.dsn import Dsn
from batchwork.core.errors import AccountsAwayError, ConfigError
from batchwork.core.lease import AccountAnswer, AccountReport, AccountTerms, MoneyAnswer
from batchwork.core.ports import Clock
from batchwork.postgres.account_tables import (
    PERIOD,
    PERIOD_LEFT_S,
    SPENT_SO_FAR,
    UNCONFIRMED_SO_FAR,
    read_accounts,
)
from batchwork.postgres.connection import LOST, AnyConnection
from batchwork.postgres.rate_leases import ANSWER_S, RateLeases, fields_of

_log = logging.getLogger(__name__)
LEASE_S = 30.0
_RENEW = 1.0 / 6.0  # of a lease: so often it is renewed, and others are looked at that were not

_HOLDERS = (
    "(SELECT count(*) FROM batchwork.lease h WHERE h.account = %(name)s AND h.until > statement_timestamp())::int"
)
_UNTIL = "clock_timestamp() + %(lease_s)s * interval '1 second'"
_SPENT = f"greatest(0, {SPENT_SO_FAR} + %(spent)s - me.spent)"
_LEASED = "(c.leased + (me.kept - %(spent)s) - (me.granted - me.spent))"
_LEFT = f"(c.ceiling - {_SPENT} - {_LEASED})"
_GRANTED = (
    f"(CASE WHEN {_LEFT} < greatest(%(need)s, 1) THEN 0 ELSE least({_LEFT},"
    f" greatest(%(need)s, least(%(want)s, {_LEFT} / (2 * %(holders)s)))) END)"
)
_MONEY = f"""
WITH me AS (
    SELECT id, granted, spent, greatest(%(spent)s, least(granted, %(kept)s)) AS kept
    FROM batchwork.lease WHERE id = %(id)s FOR UPDATE
), a AS (
    UPDATE batchwork.account c SET period = {PERIOD}, spent = {_SPENT}, unconfirmed = {UNCONFIRMED_SO_FAR},
        leased = {_LEASED} + {_GRANTED}, last = {_GRANTED}
    FROM me WHERE c.name = %(name)s
    RETURNING c.last, c.ceiling, c.spent, c.leased, {PERIOD_LEFT_S} AS left_s
)
UPDATE batchwork.lease l SET granted = me.kept + a.last, spent = %(spent)s, until = {_UNTIL}
FROM me, a WHERE l.id = me.id
RETURNING l.granted, a.ceiling, a.spent, a.leased, {_HOLDERS}, a.left_s
"""
_END = f"""
WITH me AS (DELETE FROM batchwork.lease WHERE id = %(id)s RETURNING granted, spent)
UPDATE batchwork.account c SET period = {PERIOD}, spent = {_SPENT} + %(reserved)s,
    unconfirmed = {UNCONFIRMED_SO_FAR} + %(reserved)s, leased = c.leased - (me.granted - me.spent), last = 0
FROM me WHERE c.name = %(name)s
"""
_OPEN = (
    f"INSERT INTO batchwork.lease (account, holder, until) VALUES (%(name)s, %(holder)s, {_UNTIL})"
    f" RETURNING id, {_HOLDERS} + 1"
)
_KEEP = f"UPDATE batchwork.lease SET until = {_UNTIL} WHERE id = %(id)s RETURNING id"
# What a process held whose lease has run out may be spent. Nobody's has while the database itself was away.
_REAP = """
WITH dead AS (
    SELECT id, account, granted - spent AS held FROM batchwork.lease
    WHERE until < clock_timestamp()
        AND pg_postmaster_start_time() < clock_timestamp() - %(lease_s)s * interval '1 second'
    ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM batchwork.lease l USING dead WHERE l.id = dead.id
), sums AS (
    SELECT account, sum(held)::bigint AS held, count(*) AS many FROM dead GROUP BY account
)
UPDATE batchwork.account c SET spent = c.spent + sums.held, leased = c.leased - sums.held,
    unconfirmed = c.unconfirmed + sums.held, last = 0
FROM sums WHERE c.name = sums.account RETURNING c.name, sums.many
"""


class PostgresAccounts(RateLeases):
    """The accounts in a database, for one process."""

    _title, _holders_of = "batchwork accounts", _HOLDERS

    def __init__(self, dsn: Dsn, *, clock: Clock, lease_s: float = LEASE_S) -> None:
        super().__init__(dsn, schema="batchwork")
        self._clock = clock
        self._lease_s = lease_s
        self._holder = f"{socket.gethostname()}:{os.getpid()}"
        self._connected_at = 0.0
        self._looked_at = float("-inf")  # for the leases of others
        self._ids: dict[str, int] = {}
        self._kept_at: dict[str, float] = {}

    async def open(self, names: list[str]) -> list[AccountTerms]:
        """Begin a lease on each account; a ConfigError when there is none of a name, or no database."""
        try:
            connection = await self._connect()
            terms = [account.terms for account in await read_accounts(connection, names)]
            for name in names:
                await self._begin(name)
        except (AccountsAwayError, *LOST) as error:
            await self.aclose()
            raise ConfigError(f"{self._away(error)} (BATCHWORK_SHARED)") from None
        except BaseException:
            await self.aclose()
            raise
        return terms

    async def _exchange(self, name: str, report: AccountReport) -> AccountAnswer:
        now, money = self._clock.now(), None
        is_gone = False
        if report.money is not None:
            row = await self._row(_MONEY, name, **fields_of(report.money), holders=max(1, self._holders[name]))
            is_gone = row is None
            if row is not None:
                granted, ceiling, spent, leased, holders, left_s = row
                money = MoneyAnswer(
                    granted=granted, ceiling=ceiling, spent=spent, leased=leased, holders=holders, left_s=left_s
                )
                self._holders[name], self._kept_at[name] = holders, now
        elif now >= self._kept_at[name] + self._lease_s * _RENEW:
            is_gone = await self._row(_KEEP, name) is None
            self._kept_at[name] = now
        if is_gone:
            await self._begin(name)
        rates, cool_s = await self._rates(name, report)
        await self._look_after_others(now)
        return AccountAnswer(holders=self._holders[name], is_gone=is_gone, money=money, rates=rates, cool_s=cool_s)

    async def _begin(self, name: str) -> None:
        row = await self._row(_OPEN, name, holder=self._holder)
        assert row is not None
        self._ids[name], self._holders[name] = row
        self._kept_at[name] = self._clock.now()

    async def _look_after_others(self, now: float) -> None:
        """Book what those held whose leases have run out; not before we have been connected for a lease ourselves."""
        if now < max(self._looked_at + self._lease_s * _RENEW, self._connected_at + self._lease_s):
            return
        self._looked_at = now
        for account, many in await self._rows(_REAP, "", lease_s=self._lease_s):
            _log.warning("%d leases on the account %s ran out: what they held is booked as spent", many, account)

    async def end(self, name: str, *, spent: int, reserved: int) -> None:
        """End the lease: what is still reserved is booked, for it may be spent, and the rest is given back."""
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._row(_END, name, spent=spent, reserved=reserved)
        except (TimeoutError, *LOST) as error:
            raise self._away(error) from None

    async def _connect(self) -> AnyConnection:
        connection = await super()._connect()
        self._connected_at = self._clock.now()
        return connection

    async def _row(self, statement: str, name: str, **values: Any) -> tuple[Any, ...] | None:
        rows = await self._rows(statement, name, id=self._ids.get(name), lease_s=self._lease_s, **values)
        return rows[0] if rows else None

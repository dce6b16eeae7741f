"""What a process tells the shared accounts in the database, and what they answer: one statement for each matter.

A lease is a single-row UPDATE: the amount is computed in SET from the row as it is when its lock is held, and read back
from the column `last`, so that no two processes can be given the same money (`core/lease.py` has the arithmetic). The
process's own row in `lease` is locked first, by everybody. Time is the database's alone.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Mapping
from typing import Any

import psycopg

from batchwork.core.dsn import Dsn
from batchwork.core.errors import AccountsAwayError, ConfigError
from batchwork.core.lease import (
    BURST_S,
    AccountAnswer,
    AccountReport,
    AccountTerms,
    MoneyAnswer,
    RateAnswer,
    RateReport,
)
from batchwork.core.ports import Clock
from batchwork.postgres.account_tables import (
    PER_MINUTE,
    PERIOD,
    PERIOD_LEFT_S,
    SPENT_SO_FAR,
    UNCONFIRMED_SO_FAR,
    read_accounts,
)
from batchwork.postgres.connection import LOST, AnyConnection, DatabaseAwayError, connect

_log = logging.getLogger(__name__)
LEASE_S = 30.0
_RENEW = 1.0 / 6.0  # of a lease: so often it is renewed, and others are looked at that were not
_ANSWER_S = 10.0  # for one answer of the database

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
# A commit of these need not wait for the disk: after a crash of the database at most one stretch is forgotten.
_NO_WAIT = "w AS (SELECT set_config('synchronous_commit', 'off', true))"
_NOW = "extract(epoch FROM statement_timestamp())::float8"
_BEGIN = f"greatest(r.tat - %(returned)s * 60 / ({PER_MINUTE}), {_NOW} - {BURST_S})"
_COOL_S = "greatest(0, extract(epoch FROM a.cool_until - clock_timestamp()))::float8"
_RATE = f"""
WITH {_NO_WAIT}
UPDATE batchwork.rate r SET start = {_BEGIN},
    tat = {_BEGIN} + CASE WHEN a.cool_until > clock_timestamp() THEN 0 ELSE %(amount)s * 60 / ({PER_MINUTE}) END
FROM batchwork.account a, w WHERE a.name = r.account AND r.account = %(name)s AND r.kind = %(kind)s
RETURNING ({PER_MINUTE}) / 60, r.start - extract(epoch FROM clock_timestamp())::float8, {_COOL_S}
"""
_LOOK = f"""
SELECT r.kind, ({PER_MINUTE}) / 60, {_COOL_S}, {_HOLDERS} FROM batchwork.rate r
JOIN batchwork.account a ON a.name = r.account WHERE r.account = %(name)s
"""
_LEARN = f"""
WITH {_NO_WAIT}
INSERT INTO batchwork.rate AS r (account, kind, learned, learned_until)
SELECT %(name)s, %(kind)s, %(per_minute)s, clock_timestamp() + interval '1 minute' FROM w
ON CONFLICT (account, kind) DO UPDATE SET learned_until = excluded.learned_until, learned =
    CASE WHEN r.learned_until > clock_timestamp() THEN least(r.learned, excluded.learned) ELSE excluded.learned END
"""
_COOL = """
UPDATE batchwork.account SET last = 0,
    cool_until = greatest(cool_until, clock_timestamp() + %(cool_s)s * interval '1 second') WHERE name = %(name)s
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


class PostgresAccounts:
    """The accounts in a database, for one process."""

    def __init__(self, dsn: Dsn, *, clock: Clock, lease_s: float = LEASE_S) -> None:
        self._dsn = dsn
        self._clock = clock
        self._lease_s = lease_s
        self._holder = f"{socket.gethostname()}:{os.getpid()}"
        self._connection: AnyConnection | None = None
        self._connected_at = 0.0
        self._looked_at = float("-inf")  # for the leases of others
        self._ids: dict[str, int] = {}
        self._kept_at: dict[str, float] = {}
        self._holders: dict[str, int] = {}

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

    async def exchange(self, name: str, report: AccountReport) -> AccountAnswer:
        """Tell an account, and ask it; a ConfigError when it was removed."""
        try:
            async with asyncio.timeout(_ANSWER_S):
                if self._connection is None:
                    await self._connect()
                return await self._exchange(name, report)
        except (TimeoutError, *LOST) as error:
            await self._drop()
            raise self._away(error) from None
        except psycopg.errors.ForeignKeyViolation:
            raise ConfigError(f"the shared account {name!r} was removed") from None

    async def _exchange(self, name: str, report: AccountReport) -> AccountAnswer:
        now, money, cool_s = self._clock.now(), None, 0.0
        rates: dict[str, RateAnswer] = {}
        is_gone = False
        if report.money is not None:
            row = await self._row(_MONEY, name, **_fields(report.money), holders=max(1, self._holders[name]))
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
        if report.cool_s > 0.0:
            await self._row(_COOL, name, cool_s=report.cool_s)
        for kind, per_minute in report.learned.items():
            await self._row(_LEARN, name, kind=kind, per_minute=per_minute)
        if report.looks:
            for kind, per_s, seconds, holders in await self._rows(_LOOK, name):
                rates[kind] = RateAnswer(kind=kind, per_s=per_s)
                cool_s, self._holders[name] = seconds, holders
        for each in report.rates:
            rates[each.kind], cool_s = await self._rate(name, each)
        await self._look_after_others(now)
        return AccountAnswer(
            holders=self._holders[name], is_gone=is_gone, money=money, rates=tuple(rates.values()), cool_s=cool_s
        )

    async def _rate(self, name: str, report: RateReport) -> tuple[RateAnswer, float]:
        row = await self._row(_RATE, name, **_fields(report))
        if row is None:
            raise ConfigError(f"the shared account {name!r} was removed")
        per_s, wait_s, cool_s = row
        amount = 0.0 if cool_s > 0.0 else report.amount
        return RateAnswer(kind=report.kind, per_s=per_s, wait_s=wait_s, amount=amount), cool_s

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
        for account, many in await self._rows(_REAP, ""):
            _log.warning("%d leases on the account %s ran out: what they held is booked as spent", many, account)

    async def end(self, name: str, *, spent: int, reserved: int) -> None:
        """End the lease: what is still reserved is booked, for it may be spent, and the rest is given back."""
        try:
            async with asyncio.timeout(_ANSWER_S):
                await self._row(_END, name, spent=spent, reserved=reserved)
        except (TimeoutError, *LOST) as error:
            raise self._away(error) from None

    async def aclose(self) -> None:
        """Let go of the connection."""
        await self._drop()

    async def _connect(self) -> AnyConnection:
        try:
            connection = self._connection = await connect(self._dsn, name="batchwork accounts")
        except DatabaseAwayError as error:
            raise AccountsAwayError(str(error)) from None
        self._connected_at = self._clock.now()
        return connection

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    def _away(self, error: BaseException) -> AccountsAwayError:
        if isinstance(error, AccountsAwayError):
            return error
        said = " ".join(self._dsn.without_password(str(error)).split()) or "no answer"
        return AccountsAwayError(f"{self._dsn} does not answer: {said}")

    async def _row(self, statement: str, name: str, **values: Any) -> tuple[Any, ...] | None:
        rows = await self._rows(statement, name, **values)
        return rows[0] if rows else None

    async def _rows(self, statement: str, name: str, **values: Any) -> list[tuple[Any, ...]]:
        if self._connection is None:
            raise AccountsAwayError(f"{self._dsn} does not answer: the connection was lost")
        parameters = {"name": name, "id": self._ids.get(name), "lease_s": self._lease_s, **values}
        cursor = await self._connection.execute(statement.encode(), parameters)
        return await cursor.fetchall() if cursor.description is not None else []


def _fields(report: Any) -> Mapping[str, Any]:
    return {name: getattr(report, name) for name in report.__struct_fields__}

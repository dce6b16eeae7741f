"""Rates that processes share through a database, leased in stretches, and the connection over which that is done.

Shared accounts and the account of one run keep their rates alike: in the tables `account` and `rate` of a schema. Time
is the database's alone.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar

import psycopg
from psycopg import sql

from batchwork.core.dsn import Dsn
from batchwork.core.errors import AccountsAwayError, ConfigError
from batchwork.core.lease import BURST_S, AccountAnswer, AccountReport, RateAnswer
from batchwork.postgres.connection import LOST, AnyConnection, DatabaseAwayError, connect

ANSWER_S = 10.0  # for one answer of the database
RATE_TABLE = """
CREATE TABLE IF NOT EXISTS rate (
    account text NOT NULL REFERENCES account ON DELETE CASCADE,
    kind text NOT NULL,
    stated double precision,
    learned double precision,
    learned_until timestamptz NOT NULL DEFAULT 'epoch',
    tat double precision NOT NULL DEFAULT 0,
    start double precision NOT NULL DEFAULT 0,
    PRIMARY KEY (account, kind)
) WITH (fillfactor = 50);
"""
STATE_RATE = """
INSERT INTO rate (account, kind, stated) VALUES (%(name)s, %(kind)s, %(per_minute)s)
ON CONFLICT (account, kind) DO UPDATE SET stated = excluded.stated, learned = NULL, learned_until = 'epoch'
"""
# What holds of a rate per minute: the stated one, unless the provider has lately told a lower one.
PER_MINUTE = (
    "CASE WHEN r.stated IS NULL THEN r.learned WHEN r.learned_until > clock_timestamp()"
    " THEN least(r.stated, r.learned) ELSE r.stated END"
)
# A commit of these need not wait for the disk: after a crash of the database at most one stretch is forgotten.
_NO_WAIT = "w AS (SELECT set_config('synchronous_commit', 'off', true))"
_NOW = "extract(epoch FROM statement_timestamp())::float8"
_BEGIN = f"greatest(r.tat - %(returned)s * 60 / ({PER_MINUTE}), {_NOW} - {BURST_S})"
_COOL_S = "greatest(0, extract(epoch FROM a.cool_until - clock_timestamp()))::float8"
_RATE = f"""
WITH {_NO_WAIT}
UPDATE rate r SET start = {_BEGIN},
    tat = {_BEGIN} + CASE WHEN a.cool_until > clock_timestamp() THEN 0 ELSE %(amount)s * 60 / ({PER_MINUTE}) END
FROM account a, w WHERE a.name = r.account AND r.account = %(name)s AND r.kind = %(kind)s
RETURNING ({PER_MINUTE}) / 60, r.start - extract(epoch FROM clock_timestamp())::float8, {_COOL_S}
"""
_LOOK = f"""
SELECT r.kind, ({PER_MINUTE}) / 60, {_COOL_S}, {{holders}} FROM account a LEFT JOIN rate r ON r.account = a.name
WHERE a.name = %(name)s
"""
_LEARN = f"""
WITH {_NO_WAIT}
INSERT INTO rate AS r (account, kind, learned, learned_until)
SELECT %(name)s, %(kind)s, %(per_minute)s, clock_timestamp() + interval '1 minute' FROM w
ON CONFLICT (account, kind) DO UPDATE SET learned_until = excluded.learned_until, learned =
    CASE WHEN r.learned_until > clock_timestamp() THEN least(r.learned, excluded.learned) ELSE excluded.learned END
"""
_COOL = """
UPDATE account SET last = 0,
    cool_until = greatest(cool_until, clock_timestamp() + %(cool_s)s * interval '1 second') WHERE name = %(name)s
"""


class RateLeases:
    """Accounts in one schema of a database, for one process: their rates, and the connection to them."""

    _title: ClassVar[str]  # what the server's own views call the connection
    _holders_of: ClassVar[str]  # how many share an account, in SQL

    def __init__(self, dsn: Dsn, *, schema: str) -> None:
        self._dsn, self._schema = dsn, schema
        self._connection: AnyConnection | None = None
        self._holders: dict[str, int] = {}

    async def exchange(self, name: str, report: AccountReport) -> AccountAnswer:
        """Tell an account, and ask it; a ConfigError when it was removed."""
        try:
            async with asyncio.timeout(ANSWER_S):
                if self._connection is None:
                    await self._connect()
                return await self._exchange(name, report)
        except (TimeoutError, *LOST) as error:
            await self.aclose()
            raise self._away(error) from None
        except psycopg.errors.ForeignKeyViolation:
            self._gone(name)
            raise

    async def _exchange(self, name: str, report: AccountReport) -> AccountAnswer:
        raise NotImplementedError

    async def _rates(self, name: str, report: AccountReport) -> tuple[tuple[RateAnswer, ...], float]:
        """What a report says and asks of rates: the stretches, and for how long nobody shall start a call."""
        cool_s, rates = 0.0, {}
        if report.cool_s > 0.0:
            await self._rows(_COOL, name, cool_s=report.cool_s)
        for kind, per_minute in report.learned.items():
            await self._rows(_LEARN, name, kind=kind, per_minute=per_minute)
        if report.looks:
            for kind, per_s, seconds, holders in await self._rows(_LOOK.format(holders=self._holders_of), name):
                cool_s, self._holders[name] = seconds, holders
                if kind is not None:
                    rates[kind] = RateAnswer(kind=kind, per_s=per_s)
        for each in report.rates:
            rows = await self._rows(_RATE, name, **fields_of(each))
            per_s, wait_s, cool_s = rows[0] if rows else self._gone(name)
            amount = 0.0 if cool_s > 0.0 else each.amount
            rates[each.kind] = RateAnswer(kind=each.kind, per_s=per_s, wait_s=wait_s, amount=amount)
        return tuple(rates.values()), cool_s

    def _gone(self, name: str) -> tuple[float, float, float]:
        """What is leased of a rate that is no longer there."""
        raise ConfigError(f"the shared account {name!r} was removed")

    async def aclose(self) -> None:
        """Let go of the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _connect(self) -> AnyConnection:
        try:
            connection = self._connection = await connect(self._dsn, name=self._title)
        except DatabaseAwayError as error:
            raise AccountsAwayError(str(error)) from None
        path = sql.SQL("SET search_path = {}, pg_catalog").format(sql.Identifier(self._schema))
        await connection.execute(path)
        return connection

    def _away(self, error: BaseException) -> AccountsAwayError:
        if isinstance(error, AccountsAwayError):
            return error
        said = " ".join(self._dsn.without_password(str(error)).split()) or "no answer"
        return AccountsAwayError(f"{self._dsn} does not answer: {said}")

    async def _rows(self, statement: str, name: str, **values: Any) -> list[tuple[Any, ...]]:
        if self._connection is None:
            raise AccountsAwayError(f"{self._dsn} does not answer: the connection was lost")
        cursor = await self._connection.execute(statement.encode(), {"name": name, **values})
        return await cursor.fetchall() if cursor.description is not None else []


def fields_of(report: Any) -> Mapping[str, Any]:
    """The fields of a report, by the names under which statements know them."""
    return {name: getattr(report, name) for name in report.__struct_fields__}

"""The tables of the shared accounts, and whoever sets, reads and removes accounts.

They stand in a schema of their own, beside the journals. An account's row is the only place where its money is
counted: `spent` in this period, and `leased` to processes that have not reported it as spent. No lease may pass the
ceiling, whoever writes it: the CHECK says so.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import msgspec
from psycopg.errors import InsufficientPrivilege, InvalidSchemaName, UndefinedTable

from batchwork.core.errors import ConfigError
from batchwork.core.lease import KINDS, AccountTerms
from batchwork.core.money import show
from batchwork.core.words import or_list
from batchwork.postgres.connection import AnyConnection
from batchwork.postgres.rate_leases import RATE_TABLE, STATE_RATE

FORMAT = 1
PERIODS = ("hour", "day", "week", "month", "year")
_LONGEST_NAME = 100
_MOST_NANO = 10**18  # sums stay far below what a bigint holds
_LOCK = 0x62776163  # whoever makes or changes the tables

_TABLES = f"""
CREATE SCHEMA IF NOT EXISTS batchwork;
SET search_path = batchwork, pg_catalog;
CREATE TABLE IF NOT EXISTS accounts_format (format int NOT NULL);
INSERT INTO accounts_format SELECT {FORMAT} WHERE NOT EXISTS (SELECT FROM accounts_format);
CREATE TABLE IF NOT EXISTS account (
    name text PRIMARY KEY,
    ceiling bigint CHECK (ceiling >= 0),
    per text,
    period timestamp NOT NULL DEFAULT 'epoch',
    spent bigint NOT NULL DEFAULT 0 CHECK (spent >= 0),
    leased bigint NOT NULL DEFAULT 0 CHECK (leased >= 0),
    unconfirmed bigint NOT NULL DEFAULT 0,
    last bigint NOT NULL DEFAULT 0,
    cool_until timestamptz NOT NULL DEFAULT 'epoch',
    CONSTRAINT never_above_the_ceiling CHECK (last <= 0 OR spent + leased <= ceiling)
) WITH (fillfactor = 50);
{RATE_TABLE}CREATE TABLE IF NOT EXISTS lease (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account text NOT NULL REFERENCES account ON DELETE CASCADE,
    holder text NOT NULL,
    began timestamptz NOT NULL DEFAULT clock_timestamp(),
    until timestamptz NOT NULL,
    granted bigint NOT NULL DEFAULT 0,
    spent bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
"""
# Where a period has ended, its spending is over; what is leased stays leased.
HAS_ROLLED = "(c.per IS NOT NULL AND c.period < date_trunc(c.per, timezone('UTC', statement_timestamp())))"
PERIOD = f"CASE WHEN {HAS_ROLLED} THEN date_trunc(c.per, timezone('UTC', statement_timestamp())) ELSE c.period END"
SPENT_SO_FAR = f"CASE WHEN {HAS_ROLLED} THEN 0 ELSE c.spent END"
UNCONFIRMED_SO_FAR = f"CASE WHEN {HAS_ROLLED} THEN 0 ELSE c.unconfirmed END"
PERIOD_LEFT_S = (
    "CASE WHEN c.per IS NULL THEN NULL ELSE extract(epoch FROM"
    " date_trunc(c.per, timezone('UTC', statement_timestamp())) + ('1 ' || c.per)::interval"
    " - timezone('UTC', statement_timestamp()))::float8 END"
)


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """An account as it stands, in nano-dollars and per minute."""

    name: str
    ceiling: int | None
    per: str | None
    spent: int
    leased: int
    unconfirmed: int
    period_left_s: float | None
    cool_s: float
    stated: dict[str, float]
    learned: dict[str, float]
    holders: tuple[str, ...]

    @property
    def terms(self) -> AccountTerms:
        """What it limits."""
        rates = {**self.stated, **{kind: min(rate, self.stated.get(kind, rate)) for kind, rate in self.learned.items()}}
        return AccountTerms(
            name=self.name, ceiling=self.ceiling, rates={kind: rate / 60.0 for kind, rate in rates.items()}
        )


async def make_tables(connection: AnyConnection) -> None:
    """Make the tables where they are not there; a ConfigError when they are of a later version, or may not be made."""
    try:
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            await connection.execute(_TABLES.encode())
    except InsufficientPrivilege as error:
        raise ConfigError(
            f"the tables of shared accounts cannot be made: {error.diag.message_primary}; let somebody who may"
            " CREATE in this database run the same command once, and GRANT USAGE, SELECT, INSERT, UPDATE, DELETE"
        ) from None
    await check_format(connection)


async def check_format(connection: AnyConnection) -> None:
    """Refuse tables that are not there or are of another version with a ConfigError."""
    try:
        row = await (await connection.execute("SELECT format FROM batchwork.accounts_format")).fetchone()
    except (UndefinedTable, InvalidSchemaName):
        row = None
    if row is None:
        raise ConfigError("there are no shared accounts in this database: `batchwork account set NAME` makes one")
    if row[0] != FORMAT:
        raise ConfigError(
            f"the shared accounts in this database have format {row[0]}, this batchwork knows {FORMAT}: use one version"
            " of batchwork on all machines"
        )


async def set_account(
    connection: AnyConnection, name: str, *, ceiling: int | None, per: str | None, rates: Mapping[str, float | None]
) -> bool:
    """Make an account, or change what is given of it; whether it is new. Raises ConfigError."""
    check_name(name)
    if per is not None and per not in PERIODS:
        raise ConfigError(f"per is {or_list(list(PERIODS))}, got {per!r}")
    if ceiling is not None and ceiling > _MOST_NANO:
        raise ConfigError(f"max_cost is at most {show(_MOST_NANO)}, got {show(ceiling)}")
    given = {kind: rate for kind, rate in rates.items() if rate is not None}
    await make_tables(connection)
    async with connection.transaction():
        inserted = await connection.execute(
            "INSERT INTO batchwork.account (name) VALUES (%s) ON CONFLICT DO NOTHING", (name,)
        )
        is_new = inserted.rowcount == 1
        if is_new and ceiling is None and not given:
            raise ConfigError(f"say what the account {name!r} limits: --max-cost, --rpm, --input-tpm or --output-tpm")
        await connection.execute(
            f"UPDATE batchwork.account c SET ceiling = coalesce(%(ceiling)s, c.ceiling), last = 0,"
            f" spent = {SPENT_SO_FAR}, unconfirmed = {UNCONFIRMED_SO_FAR}, per = coalesce(%(per)s, c.per),"
            " period = CASE WHEN coalesce(%(per)s, c.per) IS NULL THEN c.period"
            " ELSE date_trunc(coalesce(%(per)s, c.per), timezone('UTC', statement_timestamp())) END"
            " WHERE c.name = %(name)s",
            {"ceiling": ceiling, "per": per, "name": name},
        )
        for kind, rate in given.items():
            await connection.execute(STATE_RATE, {"name": name, "kind": kind, "per_minute": rate})
        row = await (
            await connection.execute("SELECT per, ceiling FROM batchwork.account WHERE name = %s", (name,))
        ).fetchone()
        if row is not None and row[0] is not None and row[1] is None:
            raise ConfigError("--per is the period of a budget: give --max-cost, too")
    return is_new


async def remove_account(connection: AnyConnection, name: str) -> None:
    """Remove an account; whoever uses it pauses. A ConfigError when it is not there."""
    await check_format(connection)
    async with connection.transaction():
        await connection.execute("DELETE FROM batchwork.lease WHERE account = %s", (name,))
        gone = await connection.execute("DELETE FROM batchwork.account WHERE name = %s", (name,))
    if not gone.rowcount:
        raise _unknown(name, [each.name for each in await read_accounts(connection)])


async def read_accounts(connection: AnyConnection, names: Iterable[str] | None = None) -> list[Account]:
    """All accounts, or those of these names in their order; a ConfigError for a name that is not there."""
    await check_format(connection)
    rows = await (await connection.execute(_READ.encode())).fetchall()
    found = {row[0]: _account(row) for row in rows}
    if names is None:
        return list(found.values())
    for name in (names := list(names)):
        if name not in found:
            raise _unknown(name, list(found))
    return [found[name] for name in names]


_READ = f"""
SELECT c.name, c.ceiling, c.per, {SPENT_SO_FAR}, c.leased, {UNCONFIRMED_SO_FAR}, {PERIOD_LEFT_S},
    greatest(0, extract(epoch FROM c.cool_until - clock_timestamp()))::float8,
    (SELECT coalesce(jsonb_object_agg(r.kind, r.stated), '{{}}') FROM batchwork.rate r
        WHERE r.account = c.name AND r.stated IS NOT NULL),
    (SELECT coalesce(jsonb_object_agg(r.kind, r.learned), '{{}}') FROM batchwork.rate r
        WHERE r.account = c.name AND r.learned IS NOT NULL
            AND (r.stated IS NULL OR r.learned_until > clock_timestamp())),
    (SELECT coalesce(array_agg(l.holder ORDER BY l.id), '{{}}') FROM batchwork.lease l
        WHERE l.account = c.name AND l.until > clock_timestamp())
FROM batchwork.account c ORDER BY c.name
"""


def _account(row: tuple[Any, ...]) -> Account:
    name, ceiling, per, spent, leased, unconfirmed, left_s, cool_s, stated, learned, holders = row
    return Account(
        name=name,
        ceiling=ceiling,
        per=per,
        spent=spent,
        leased=leased,
        unconfirmed=unconfirmed,
        period_left_s=left_s,
        cool_s=cool_s,
        stated={kind: stated[kind] for kind in KINDS if kind in stated},
        learned={kind: learned[kind] for kind in KINDS if kind in learned},
        holders=tuple(holders),
    )


def check_name(name: str) -> None:
    """Refuse what cannot be the name of an account."""
    if not name or len(name) > _LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise ConfigError(f"an account's name is 1 to {_LONGEST_NAME} printable characters, got {name[:120]!r}")


def _unknown(name: str, known: list[str]) -> ConfigError:
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {or_list(known, word='and')}" if known else ""
    return ConfigError(
        f"there is no shared account {name!r}; {hint or 'there are none'} (`batchwork account set {name} ...` makes it)"
    )

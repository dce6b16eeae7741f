"""Opens the shared accounts that a plan names, in the database that BATCHWORK_SHARED names."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

import psycopg

from batchwork.core.dsn import Dsn
from batchwork.core.errors import AccountsAwayError, ConfigError
from batchwork.core.ports import Clock
from batchwork.engine.accounts import AccountSession
from batchwork.postgres.account_store import PostgresAccounts
from batchwork.postgres.connection import AnyConnection, connect
from batchwork.settings import Settings

T = TypeVar("T")


def shared_database() -> Dsn:
    """The database of the shared accounts, else ConfigError."""
    shared = Settings.from_environment().shared
    if shared is None:
        raise ConfigError("shared accounts need a database: set BATCHWORK_SHARED=postgresql://HOST/DATABASE")
    try:
        return Dsn.parse(shared, needs_journal=False)
    except ConfigError as error:
        raise ConfigError(f"BATCHWORK_SHARED: {error}") from None


@asynccontextmanager
async def open_accounts(names: Sequence[str], *, clock: Clock, max_wait_s: float) -> AsyncIterator[AccountSession]:
    """Hold a lease on each of these accounts while the block runs; a ConfigError when there is none of a name."""
    store = PostgresAccounts(shared_database(), clock=clock)
    session = AccountSession(store, await store.open(list(names)), clock=clock, max_wait_s=max_wait_s)
    try:
        yield session
    finally:
        await session.aclose()


async def with_connection(use: Callable[[AnyConnection], Awaitable[T]]) -> T:
    """What `use` makes of a connection to the database of the shared accounts; what that says is told as our error."""
    dsn = shared_database()
    try:
        connection = await connect(dsn, name="batchwork account")
        try:
            return await use(connection)
        finally:
            await connection.close()
    except psycopg.Error as error:
        said = " ".join(dsn.without_password(str(error)).split())
        raise AccountsAwayError(f"{dsn} cannot be used for shared accounts: {said}") from None

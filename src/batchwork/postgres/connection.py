"""Connections to a database: opened, judged once, and opened again after they were lost.

Decides which server can be trusted with a journal: PostgreSQL 14 or later that syncs what it commits, is no read-only
replica, and is reached without a pooler that changes sessions between transactions.
"""

import logging
from collections.abc import Callable, Coroutine, Generator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from typing import Any, LiteralString

from batchwork.core.dsn import Dsn, is_remote
from batchwork.core.errors import ConfigError, JournalError
from batchwork.core.ports import Clock

try:
    import psycopg
except ImportError as error:  # pragma: no cover - the extra is what tests install
    raise ConfigError("a database as journal needs the extra `postgres`: pip install 'batchwork[postgres]'") from error

_log = logging.getLogger(__name__)
_OLDEST = 140000
# A peer that is gone is noticed within half a minute, whatever the machine's own settings are.
_DEFAULTS = {
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "25000",
    "client_encoding": "UTF8",
}
_JUDGED: LiteralString = (
    "SELECT pg_backend_pid(), pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on',"
    " current_setting('fsync'), current_setting('synchronous_commit')"
)
_PID: LiteralString = "SELECT pg_backend_pid()"
_POOLER_LOOKS = 4  # a pooler gives the session used last to whoever comes next, nearly always
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.1, 5.0

LOST = (psycopg.OperationalError, psycopg.InterfaceError)  # what a statement raises on a connection that was lost
AsyncConnection = psycopg.AsyncConnection[tuple[Any, ...]]
SyncConnection = psycopg.Connection[tuple[Any, ...]]


class DatabaseAwayError(JournalError):
    """The database cannot be reached; what was asked of it is undecided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Server:
    """What a new connection says of the server behind it."""

    version: int
    pid: int  # of the session, as the server says
    greeted_pid: int  # of the session, as whoever took the connection says
    is_read_only: bool
    fsync: str

    @property
    def has_pooler(self) -> bool:
        """Whether somebody stands in between: one who pools sessions greets in his own name."""
        return self.pid != self.greeted_pid

    def judge(self, dsn: Dsn) -> None:
        """Refuse a server that cannot keep a journal."""
        if self.version < _OLDEST:
            raise ConfigError(f"{dsn} is PostgreSQL {self.version // 10000}; batchwork needs 14 or later")
        if self.is_read_only:
            raise ConfigError(
                f"{dsn} is read only, as a replica is: name the primary (with several hosts in the address,"
                " target_session_attrs=read-write finds it)"
            )
        if self.fsync == "off":
            raise ConfigError(
                f"{dsn} runs with fsync=off: after a crash of its machine paid answers would be gone; set fsync=on in"
                " its postgresql.conf"
            )


async def connect(dsn: Dsn, *, name: str = "batchwork") -> AsyncConnection:
    """A connection that commits by itself, judged. `name` is what the server's own views call it.

    Raises:
        DatabaseAwayError: there is no server that takes it now.
        ConfigError: the server cannot keep a journal, or is behind a pooler that changes sessions.
    """
    async with AsyncExitStack() as undo:
        first = await _open(dsn, name)
        undo.push_async_callback(first.close)
        second: AsyncConnection | None = None
        judging = _judging(dsn, first.info)
        step = next(judging)
        while step is not None:
            if step.on_second and second is None:
                second = await undo.enter_async_context(await _open(dsn, name))
            cursor = await (second if second is not None and step.on_second else first).execute(step.sql)
            step = judging.send(await cursor.fetchone() if cursor.description else None)
        if second is not None:
            await second.close()
        undo.pop_all()
    return first


def connect_sync(dsn: Dsn, *, name: str = "batchwork") -> SyncConnection:
    """The same for one thread outside any event loop."""
    with ExitStack() as undo:
        first = undo.enter_context(_open_sync(dsn, name))
        second: SyncConnection | None = None
        judging = _judging(dsn, first.info)
        step = next(judging)
        while step is not None:
            if step.on_second and second is None:
                second = undo.enter_context(_open_sync(dsn, name))
            cursor = (second if second is not None and step.on_second else first).execute(step.sql)
            step = judging.send(cursor.fetchone() if cursor.description else None)
        if second is not None:
            second.close()
        undo.pop_all()
    return first


def connect_reader(dsn: Dsn) -> SyncConnection:
    """A connection for whoever only looks, at whatever server: a replica serves as well."""
    connection = _open_sync(dsn, "batchwork reader")
    connection.read_only = True
    return connection


async def _open(dsn: Dsn, name: str) -> AsyncConnection:
    try:
        return await psycopg.AsyncConnection.connect(autocommit=True, **_parameters(dsn, name))
    except LOST as error:
        raise away(dsn, error) from None  # the error's own frames hold the password


def _open_sync(dsn: Dsn, name: str) -> SyncConnection:
    try:
        return psycopg.Connection.connect(autocommit=True, **_parameters(dsn, name))
    except LOST as error:
        raise away(dsn, error) from None


def _parameters(dsn: Dsn, name: str) -> dict[str, Any]:
    return {**_DEFAULTS, "application_name": name, **dsn.options}


def away(dsn: Dsn, error: psycopg.Error) -> DatabaseAwayError:
    """Our error for a connection that could not be made, or was lost."""
    said = " ".join(dsn.without_password(str(error)).split())
    return DatabaseAwayError(f"{dsn} cannot be reached: {said}")


@dataclass(frozen=True, slots=True)
class _Step:
    """A statement by which a connection is judged."""

    sql: LiteralString
    on_second: bool = False  # on a connection beside it


def _judging(dsn: Dsn, info: psycopg.ConnectionInfo) -> Generator[_Step | None, Any, None]:
    """The statements by which a new connection is judged; their rows are sent back, None ends it."""
    pid, is_read_only, fsync, synchronous_commit = yield _Step(_JUDGED)
    server = _Server(
        version=info.server_version,
        pid=pid,
        greeted_pid=info.backend_pid,
        is_read_only=is_read_only,
        fsync=fsync,
    )
    server.judge(dsn)
    for _ in range(_POOLER_LOOKS if server.has_pooler else 0):
        # A pool of sessions never gives a second connection the session of the first.
        (theirs,), (ours,) = (yield _Step(_PID, on_second=True)), (yield _Step(_PID))
        if ours == theirs or ours != pid:
            raise ConfigError(
                f"{dsn} is behind a pooler that gives each transaction another session, so nobody could tell whether a"
                " worker is still alive: name the database's own port, or a pool with pool_mode=session"
            )
    if synchronous_commit == "off":  # for this session: what is committed is on disk
        yield _Step("SET synchronous_commit = on")
    told = info.get_parameters()
    hosts = told.get("host", told.get("hostaddr", ""))
    if "sslmode" not in told and any(map(is_remote, hosts.split(","))):
        _log.warning(
            "%s is on another machine and its address has no sslmode: what is sent may be read or changed on the way;"
            " add sslmode=verify-full (and sslrootcert=FILE)",
            dsn,
        )
    yield None


class Link:
    """One connection of a process, opened again with back-off after it was lost.

    Whoever uses it asks for `connection`, catches `LOST` and calls `restore`; what became of the statement that was
    under way, only the one who sent it can find out.
    """

    def __init__(self, dsn: Dsn, *, clock: Clock, max_wait_s: float, name: str = "batchwork") -> None:
        self.dsn = dsn
        self.connected_at = 0.0  # on the clock, when the present connection was opened
        self.on_open: Callable[[AsyncConnection], Coroutine[Any, Any, None]] | None = None  # sets up every new session
        self._clock = clock
        self._max_wait_s = max_wait_s
        self._name = name
        self._connection: AsyncConnection | None = None

    @property
    def connection(self) -> AsyncConnection:
        """The connection; `open` has opened it."""
        assert self._connection is not None
        return self._connection

    @property
    def is_up(self) -> bool:
        """Whether the connection, as far as anybody knows, is there."""
        return self._connection is not None and not self._connection.closed and not self._connection.broken

    async def open(self) -> AsyncConnection:
        """Open it; a database that is not there now raises at once."""
        connection = await connect(self.dsn, name=self._name)
        try:
            if self.on_open is not None:
                await self.on_open(connection)
        except BaseException:
            await connection.close()
            raise
        self._connection, self.connected_at = connection, self._clock.now()
        return connection

    async def restore(self, *, is_wanted: Callable[[], bool] = lambda: True) -> AsyncConnection:
        """A connection that works, after the last one failed: tried again until it is there.

        Raises:
            DatabaseAwayError: it did not come back in time, or nobody wants it any more.
        """
        await self.aclose()
        began, wait = self._clock.now(), _FIRST_WAIT_S
        while True:
            try:
                return await self.open()
            except (DatabaseAwayError, *LOST) as error:
                said = away(self.dsn, error) if isinstance(error, psycopg.Error) else error
                waited = self._clock.now() - began
                if waited >= self._max_wait_s or not is_wanted():
                    raise said from None
                if waited == 0.0:
                    _log.warning("%s; trying again for up to %.0f s", said, self._max_wait_s)
            await self._clock.sleep(wait)
            wait = min(wait * 2.0, _LONGEST_WAIT_S)

    async def aclose(self) -> None:
        """Let go of the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

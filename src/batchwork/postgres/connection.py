"""Connections to a database: opened, and judged once.

Decides which server can be trusted with a journal: PostgreSQL 14 or later that syncs what it commits, is no read-only
replica, and is reached without a pooler that changes sessions between transactions.
"""

import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import AsyncExitStack, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, LiteralString, TypeVar

from batchwork.core.dsn import Dsn
from batchwork.core.errors import ConfigError, DatabaseAwayError, JournalError

try:
    import psycopg
except ImportError as error:  # pragma: no cover - the extra is what tests install
    raise ConfigError("a database as journal needs the extra `postgres`: pip install 'batchwork[postgres]'") from error

__all__ = [
    "LOST",
    "AnyConnection",
    "DatabaseAwayError",
    "SyncConnection",
    "away",
    "connect",
    "connect_reader",
    "connect_sync",
    "in_our_words",
    "persistently",
]
_log = logging.getLogger(__name__)
_OLDEST = 140000
_TRIES = 3
T = TypeVar("T")
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

LOST = (psycopg.OperationalError, psycopg.InterfaceError)  # what a statement raises on a connection that was lost
AnyConnection = psycopg.AsyncConnection[tuple[Any, ...]]
SyncConnection = psycopg.Connection[tuple[Any, ...]]


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


async def connect(dsn: Dsn, *, name: str = "batchwork") -> AnyConnection:
    """A connection that commits by itself, judged. `name` is what the server's own views call it.

    Raises:
        DatabaseAwayError: there is no server that takes it now.
        ConfigError: the server cannot keep a journal, or is behind a pooler that changes sessions.
    """
    async with AsyncExitStack() as undo:
        first = await _open(dsn, name)
        undo.push_async_callback(first.close)
        second: AnyConnection | None = None
        judging = _judging(dsn, first.info)
        step = next(judging)
        while step is not None:
            if step.on_second and second is None:
                second = await _open(dsn, name)
                undo.push_async_callback(second.close)
            cursor = await (second if second is not None and step.on_second else first).execute(step.sql)
            step = judging.send(await cursor.fetchone() if cursor.description else None)
        if second is not None:
            await second.close()
        undo.pop_all()
    return first


def connect_sync(dsn: Dsn, *, name: str = "batchwork") -> SyncConnection:
    """The same for one thread outside any event loop."""
    with ExitStack() as undo:
        first = undo.enter_context(closing(_open_sync(dsn, name)))  # as a context itself, a lost one stays open
        second: SyncConnection | None = None
        judging = _judging(dsn, first.info)
        step = next(judging)
        while step is not None:
            if step.on_second and second is None:
                second = undo.enter_context(closing(_open_sync(dsn, name)))
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


async def _open(dsn: Dsn, name: str) -> AnyConnection:
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


@contextmanager
def in_our_words(dsn: Dsn) -> Iterator[None]:
    """What the driver raises in here, as our errors: a connection that was lost, or a statement that was refused."""
    try:
        yield
    except LOST as error:
        raise away(dsn, error) from None
    except psycopg.Error as error:
        said = dsn.without_password(error.diag.message_primary or str(error))
        raise JournalError(f"{dsn} cannot be used: {said}") from None


def persistently(attempt: Callable[[], T]) -> T:
    """What an attempt returns. It is made again when its connection is lost on the way, not when there is none."""
    for _ in range(_TRIES - 1):
        with suppress(*LOST):
            return attempt()
    return attempt()


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


def is_remote(host: str) -> bool:
    """Whether a connection to this host leaves the machine."""
    if not host or host.startswith(("/", "@")) or host == "localhost" or host.endswith(".localhost"):
        return False
    try:
        return not ip_address(host).is_loopback
    except ValueError:
        return True

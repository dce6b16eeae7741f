"""Which servers a journal is trusted to, and what is said of those that it is not."""

from __future__ import annotations

import asyncio
import logging
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from batchwork.core.dsn import Dsn
from batchwork.core.errors import ConfigError
from tests.support.postgres_server import PostgresServer, free_port, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
if why_not() is None:
    from batchwork.postgres import connection as connections
    from batchwork.postgres.connection import DatabaseAwayError, connect, connect_reader, connect_sync


def ask(dsn: str, sql: str) -> Any:
    async def main() -> Any:
        async with await connect(Dsn.parse(dsn)) as connection:
            return await (await connection.execute(sql)).fetchone()

    return asyncio.run(main())


def test_a_server_that_syncs_is_taken_and_commits_are_durable(postgres: PostgresServer) -> None:
    assert ask(postgres.journal(), "SHOW synchronous_commit") == ("on",)
    hasty = f"{postgres.journal()}&options=-c%20synchronous_commit%3Doff"
    assert ask(hasty, "SHOW synchronous_commit") == ("on",)
    assert ask(f"{postgres.journal()}&options=-c%20synchronous_commit%3Dlocal", "SHOW synchronous_commit") == ("local",)


@pytest.mark.parametrize(
    ("changed", "word"),
    [({"fsync": "off"}, "fsync=on"), ({"version": 130011}, "14 or later"), ({"is_read_only": True}, "primary")],
)
def test_a_server_that_cannot_keep_a_journal_is_refused_with_the_remedy(changed: dict[str, Any], word: str) -> None:
    good: dict[str, Any] = {"version": 150001, "pid": 7, "greeted_pid": 7, "is_read_only": False, "fsync": "on"}
    dsn = Dsn.parse("postgresql://h/db?journal=a")
    connections._Server(**good).judge(dsn)
    with pytest.raises(ConfigError, match=word):
        connections._Server(**{**good, **changed}).judge(dsn)


def test_no_text_of_a_refused_connection_has_the_password(postgres: PostgresServer) -> None:
    wrong = f"postgresql://nobody:hush-hush@127.0.0.1:{postgres.port}/postgres?journal=a"
    for attempt in (lambda: ask(wrong, "SELECT 1"), lambda: connect_reader(Dsn.parse(wrong))):
        with pytest.raises(DatabaseAwayError, match="cannot be reached") as refused:
            attempt()
        assert "hush" not in str(refused.value)
        assert refused.value.__cause__ is None


def test_another_machine_without_sslmode_is_warned_of(
    postgres: PostgresServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "is_remote", lambda _: True)
    with caplog.at_level(logging.WARNING):
        ask(f"{postgres.journal()}&sslmode=disable", "SELECT 1")
        assert caplog.text == ""
        ask(postgres.journal(), "SELECT 1")
    assert "verify-full" in caplog.text


@pytest.mark.parametrize(
    ("host", "remote"),
    [("", False), ("/run", False), ("localhost", False), ("127.0.0.2", False), ("::1", False), ("db.example", True)],
)
def test_loopback_and_sockets_stay_on_the_machine(host: str, remote: bool) -> None:
    assert connections.is_remote(host) is remote


@pytest.fixture
def pooler(postgres: PostgresServer, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """A real PgBouncer in front of the server, in the mode asked for: the address of a journal behind it."""
    program = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin")
    if program is None:
        pytest.skip("PgBouncer is not installed (apt-get install pgbouncer)")
    started = []

    def start(mode: str) -> str:
        port = free_port()
        folder = postgres.folder / f"pooler-{mode}"
        folder.mkdir()
        (folder / "users").write_text('"postgres" ""\n')
        (folder / "ini").write_text(
            f"[databases]\npostgres = host=127.0.0.1 port={postgres.port} user=postgres\n"
            f"[pgbouncer]\nlisten_addr=127.0.0.1\n"
            f"listen_port={port}\nauth_type=any\npool_mode={mode}\nunix_socket_dir=\n"
            "ignore_startup_parameters=extra_float_digits\n"
        )
        started.append(subprocess.Popen([program, "-q", folder / "ini"], **postgres.as_owner))
        until = time.monotonic() + 10
        while time.monotonic() < until:
            try:
                connect_reader(Dsn.parse(address := postgres.journal().replace(str(postgres.port), str(port)))).close()
            except DatabaseAwayError:
                time.sleep(0.05)
            else:
                return address
        raise RuntimeError("PgBouncer does not take connections")

    yield start
    for process in started:
        process.terminate()
        process.wait(10)


def test_a_pooler_of_transactions_is_refused_and_one_of_sessions_is_not(pooler: Callable[[str], str]) -> None:
    transactions, sessions = pooler("transaction"), pooler("session")
    for attempt in (lambda: ask(transactions, "SELECT 1"), lambda: connect_sync(Dsn.parse(transactions))):
        with pytest.raises(ConfigError, match="pool_mode=session"):
            attempt()
    assert ask(sessions, "SELECT 1") == (1,)
    connect_sync(Dsn.parse(sessions)).close()


def test_options_of_tls_are_passed_on_to_the_driver(tmp_path: Path) -> None:
    authority, stranger = trustme.CA(), trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    server = PostgresServer()
    try:
        server.stop()
        for name, pem in (("server.crt", issued.cert_chain_pems[0]), ("server.key", issued.private_key_pem)):
            path = server.data / name
            path.write_bytes(pem.bytes())
            path.chmod(0o600)
            if server.as_owner:
                shutil.chown(path, "postgres", "postgres")
        server.settings["ssl"] = "on"
        server.start()
        roots = [tmp_path / "ours.pem", tmp_path / "theirs.pem"]
        for each, root in zip((authority, stranger), roots, strict=True):
            each.cert_pem.write_to_path(str(root))
        checked = f"{server.journal()}&sslmode=verify-full&sslrootcert="
        assert ask(f"{checked}{roots[0]}", "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") == (True,)
        with pytest.raises(DatabaseAwayError, match="certificate"):
            ask(f"{checked}{roots[1]}", "SELECT 1")
    finally:
        server.close()

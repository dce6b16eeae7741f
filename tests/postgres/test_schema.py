"""The schema of a journal: made once, recognised, migrated or refused by name."""

from __future__ import annotations

from contextlib import closing

import pytest

from batchwork.core.dsn import Dsn
from batchwork.core.errors import ConfigError, JournalError
from tests.support.postgres_server import PostgresServer, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
if why_not() is None:
    from batchwork.postgres import schema
    from batchwork.postgres.journal import PostgresJournal
    from batchwork.postgres.reader import DatabaseReader


def _open(dsn: Dsn) -> PostgresJournal:
    return PostgresJournal(dsn, utc=lambda: 1000.0)


def test_a_journal_of_a_newer_format_is_refused_by_name_and_an_older_one_is_migrated(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = Dsn.parse(postgres.journal())
    _open(dsn).close()
    known = 1 + len(schema.MIGRATIONS)
    steps = ("CREATE TABLE new_in_next ()", "CREATE TABLE new_after ()")
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, *steps))
    _open(dsn).close()
    assert postgres.execute("SELECT count(*) FROM pg_tables WHERE tablename IN ('new_in_next', 'new_after')") == [(2,)]
    assert postgres.execute(f'SELECT format FROM "{dsn.schema}".meta') == [(known + 2,)]
    monkeypatch.undo()
    for attempt in (lambda: _open(dsn), lambda: DatabaseReader(dsn)):
        with pytest.raises(JournalError, match=f"journal format {known + 2}, this one knows {known}"):
            attempt()


def test_an_older_format_is_not_migrated_under_a_worker_of_that_time(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = Dsn.parse(postgres.journal())
    with closing(_open(dsn)):
        monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "CREATE TABLE new_in_next ()"))
        with pytest.raises(JournalError, match="may be at work on it"):
            _open(dsn)


def test_a_schema_of_somebody_else_is_refused_and_an_empty_one_is_taken(postgres: PostgresServer) -> None:
    theirs, empty = (Dsn.parse(postgres.journal()) for _ in range(2))
    postgres.execute(f'CREATE SCHEMA "{theirs.schema}"')
    postgres.execute(f'CREATE TABLE "{theirs.schema}".meta (id int)')
    postgres.execute(f'CREATE SCHEMA "{empty.schema}"')
    with pytest.raises(ConfigError, match="no journal of batchwork"):
        _open(theirs)
    _open(empty).close()


def test_a_user_who_may_not_make_a_schema_is_told_what_to_do(postgres: PostgresServer) -> None:
    dsn = Dsn.parse(postgres.journal().replace("postgres@", "modest@"))
    postgres.execute("CREATE ROLE modest LOGIN")
    with pytest.raises(ConfigError, match="CREATE SCHEMA"):
        _open(dsn)
    postgres.execute(f'CREATE SCHEMA "{dsn.schema}" AUTHORIZATION modest')
    _open(dsn).close()


def test_a_journal_that_is_not_there_is_not_made_by_looking(postgres: PostgresServer) -> None:
    dsn = Dsn.parse(postgres.journal())
    with pytest.raises(JournalError, match="there is no journal"):
        DatabaseReader(dsn)
    assert postgres.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", dsn.schema) == []

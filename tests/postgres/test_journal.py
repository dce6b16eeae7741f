"""The journal in a database says what the other journals say, and loses nothing with its connections."""

from __future__ import annotations

from contextlib import closing

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from batchwork.core.dsn import Dsn
from tests.support.journals import BEGAN, Pass, check_agreement, passes, row
from tests.support.postgres_server import PostgresServer, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
if why_not() is None:
    from batchwork.postgres import reader, writer
    from batchwork.postgres.journal import PostgresJournal
    from batchwork.postgres.reader import DatabaseReader


def open_journal(dsn: Dsn) -> PostgresJournal:
    return PostgresJournal(dsn, utc=lambda: 1000.0, max_wait_s=20.0)


# Without shrinking: every example makes a schema, and a failing one is small enough to read.
@settings(
    max_examples=8,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(runs=passes())
def test_the_database_the_memory_journal_and_the_fold_agree_after_every_run(
    postgres: PostgresServer, runs: list[Pass]
) -> None:
    dsn = Dsn.parse(postgres.journal())
    agreed = check_agreement(runs, lambda: open_journal(dsn), lambda: DatabaseReader(dsn))
    assert agreed >= max(len(run.rows[: run.read]) for run in runs)
    postgres.execute(f'DROP SCHEMA "{dsn.schema}" CASCADE')


def test_documents_that_one_statement_could_not_hold_go_ahead_of_their_group(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_BULKY", 1000)
    dsn = Dsn.parse(postgres.journal())
    with closing(open_journal(dsn)) as journal:
        journal.begin(BEGAN)
        for place in range(3):
            journal.place(place, row(f"p{place}", system=f"{place} " * 2000))
        systems = [entry.request.system for entry in journal.entries()]
    assert systems == [f"{place} " * 2000 for place in range(3)]


def test_answers_that_come_in_the_reverse_order_read_their_items_page_by_page(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_PAGE", 8)
    monkeypatch.setattr(reader, "_BODIES", 8)
    dsn = Dsn.parse(postgres.journal())
    with closing(open_journal(dsn)) as journal:
        journal.begin(BEGAN)
        for place in range(64):
            journal.release(journal.place(place, row(f"p{place}")).item)
    asked: list[str] = []
    ask = reader.DatabaseConnection.all
    monkeypatch.setattr(reader.DatabaseConnection, "all", lambda *given: asked.append(given[1]) or ask(*given))
    with closing(open_journal(dsn)) as journal:
        asked.clear()
        for item in reversed(range(64)):
            assert journal.take(item).item == item
            assert journal.request_of(item).messages[0].content == f"p{item}"
    assert len(asked) <= 2 * 64 // 8 + 1

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
    from batchwork.postgres import writer
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

"""A copy has the same events in the same order, and adds up to the same, whichever way it goes."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from batchwork.core.dsn import Dsn
from batchwork.core.errors import ConfigError, JournalDamagedError
from batchwork.core.runstate import fold
from batchwork.journal_copy import copy_journal
from batchwork.journals import open_journal, open_reader
from tests.support.journals import Pass, passes, run_pass, sqlite_journal, told
from tests.support.postgres_server import PostgresServer, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


def _everything(address: Any) -> tuple[Any, ...]:
    with closing(open_reader(address)) as reader:
        events = [(at, event) for _, at, event in reader.events_after(0, 100_000)]
        state = fold(event for _, event in events)
        folded = {number: [getattr(item, name) for name in item.__slots__] for number, item in state.items.items()}
        rows = {number: [getattr(reader.items.row(number), name) for name in item.__slots__]
                for number, item in state.items.items()}  # fmt: skip
        assert rows == folded
        return events, told(reader), reader.sums().run_id


@settings(
    max_examples=5,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(runs=passes())
def test_a_journal_goes_into_a_database_and_back_and_is_the_same(
    postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory, runs: list[Pass]
) -> None:
    folder = tmp_path_factory.mktemp("copy")
    first, back, dsn = folder / "first.db", folder / "back.db", Dsn.parse(postgres.journal())
    with closing(sqlite_journal(first)) as journal:
        for each in runs:
            run_pass(journal, each)
    copy_journal(first, dsn)
    copy_journal(dsn, back)
    assert _everything(dsn) == _everything(first) == _everything(back)
    # A run on the copy goes on as one on the original would.
    with (
        closing(sqlite_journal(back)) as in_file,
        closing(open_journal(dsn, utc=lambda: 1000.0, max_wait_s=5.0)) as in_database,
    ):
        states = [[state.item for state in run_pass(each, runs[-1])] for each in (in_file, in_database)]
    assert states[0] == states[1]
    assert _everything(dsn)[:2] == _everything(back)[:2]


def test_a_copy_replaces_nothing_and_leaves_nothing_when_it_fails(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, dsn = tmp_path / "j.db", Dsn.parse(postgres.journal())
    with closing(sqlite_journal(path)) as journal:
        run_pass(journal, Pass([("a", None)], ["succeeded"]))
    monkeypatch.setattr("batchwork.journal_copy._compare", _fail)
    for to in (dsn, tmp_path / "copy.db"):
        with pytest.raises(JournalDamagedError):
            copy_journal(path, to)
    assert sorted(each.name for each in tmp_path.iterdir() if "j.db" not in each.name) == []
    left = "SELECT count(*) FROM pg_namespace WHERE nspname IN (%s, %s)"
    assert postgres.execute(left, dsn.schema, dsn.renamed("part").schema) == [(0,)]
    monkeypatch.undo()
    copy_journal(path, dsn)
    for taken in (dsn, path):
        with pytest.raises(ConfigError, match="replaces nothing"):
            copy_journal(path, taken)


def _fail(*_: Any) -> None:
    raise JournalDamagedError("on purpose")

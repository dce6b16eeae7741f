"""A journal that is recorded again is whole, whatever events of the old one are lost."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from batchwork.core.runstate import fold
from batchwork.journal import JournalReader, check_whole, recover
from tests.support.journals import Pass, passes, run_pass, sqlite_journal


def lose(path: Path, share: float, dice: random.Random) -> int:
    """Delete events; how many."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        events = [seq for (seq,) in connection.execute("SELECT seq FROM event")]
        lost = [(seq,) for seq in events if dice.random() < share]
        connection.execute("PRAGMA secure_delete = ON")
        connection.executemany("DELETE FROM event WHERE seq = ?", lost[: len(events) - 1])
        connection.execute("VACUUM")
    return len(lost[: len(events) - 1])


@settings(max_examples=25, phases=[Phase.explicit, Phase.generate])
@given(passes(), st.sampled_from([0.0, 0.05, 0.3, 0.7]), st.integers(0, 99))
def test_a_recovered_journal_is_whole_and_its_tables_are_the_fold_of_its_events(
    runs: list[Pass], share: float, seed: int
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "j.db"
        with closing(sqlite_journal(path)) as journal:
            for run in runs:
                run_pass(journal, run)
            spent = journal.totals().spent_nano
        lost = lose(path, share, random.Random(seed))
        recovered = recover(path)
        assert recovered.lost_events >= lost
        check_whole(path)
        with closing(JournalReader(path)) as reader:
            state = fold(reader.events())
            for item, folded in state.items.items():
                row = reader.items.row(item)
                assert row is not None
                assert [getattr(row, name) for name in folded.__slots__] == [
                    getattr(folded, name) for name in folded.__slots__
                ]
            assert reader.totals().spent_nano == state.spent_nano
            assert reader.totals().spent_nano >= spent or not state.items
        with closing(sqlite_journal(path)) as journal:  # and a run goes on with it
            for run in runs:
                run_pass(journal, run)
        check_whole(path)

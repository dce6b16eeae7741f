"""The tables, the memory journal and the fold of the events say the same, whatever runs went over them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import Phase, given, settings

from batchwork.core.outcome import Status
from batchwork.core.runstate import fold
from batchwork.journal import JournalReader
from tests.support.journals import (
    BEGAN,
    Pass,
    memory_journal,
    passes,
    row,
    run_pass,
    settle,
    sqlite_journal,
    succeeded,
    told,
)


# Without shrinking: every example writes to disk, and a failing one is small enough to read.
@settings(max_examples=60, phases=[Phase.explicit, Phase.generate])
@given(passes())
def test_both_journals_and_the_fold_agree_after_every_run(runs: list[Pass]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "j.db"
        disk, memory = sqlite_journal(path), memory_journal(path)
        for run in runs:
            on_disk, in_memory = run_pass(disk, run), run_pass(memory, run)
            assert [state.item for state in on_disk] == [state.item for state in in_memory]
            assert told(disk) == told(memory)
            if not run.kept:
                disk.close()
                disk = sqlite_journal(path)
        disk.close()
        reader = JournalReader(path)
        state = fold(reader.events())
        rows = {item: reader.items.row(item) for item in state.items}
        for item, folded in state.items.items():
            row = rows[item]
            assert row is not None
            assert [getattr(row, name) for name in folded.__slots__] == [
                getattr(folded, name) for name in folded.__slots__
            ]
        outcomes = {entry.item: entry.outcome for entry in reader.entries() if entry.outcome is not None}
        assert {i: o.status for i, o in outcomes.items()} == {
            i: o.status for i, o in state.outcomes.items() if state.items[i].index is not None
        }
        totals = reader.totals()
        assert (totals.spent_nano, totals.unconfirmed_nano) == (state.spent_nano, state.unconfirmed_nano)
        reader.close()


def test_an_item_that_settles_before_its_place_is_read_is_found_settled(tmp_path: Path) -> None:
    first = sqlite_journal(tmp_path / "j.db")
    items = [state.item for state in run_pass(first, Pass(rows=[("a", None), ("b", None), ("c", None)]))]
    first.close()
    journal = sqlite_journal(tmp_path / "j.db")
    journal.begin(BEGAN)
    assert journal.place(0, row("a")).status is Status.PENDING
    journal.take(items[2])
    settle(journal, items[2], succeeded(2))
    journal.release(items[2])
    journal.flush()
    assert journal.place(2, row("c")).status is Status.SUCCEEDED
    journal.close()

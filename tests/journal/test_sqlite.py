"""The tables, the memory journal and the fold of the events say the same, whatever runs went over them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import Phase, given, settings

from batchwork.core.outcome import Status
from batchwork.journal import JournalReader
from tests.support.journals import (
    BEGAN,
    Pass,
    check_agreement,
    passes,
    row,
    run_pass,
    settle,
    sqlite_journal,
    succeeded,
)


# Without shrinking: every example writes to disk, and a failing one is small enough to read.
@settings(max_examples=60, phases=[Phase.explicit, Phase.generate])
@given(passes())
def test_both_journals_and_the_fold_agree_after_every_run(runs: list[Pass]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "j.db"
        agreed = check_agreement(runs, lambda: sqlite_journal(path), lambda: JournalReader(path))
    assert agreed >= max(len(run.rows[: run.read]) for run in runs)


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

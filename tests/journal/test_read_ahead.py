"""What a journal reads ahead of an input stays true while items settle out of turn."""

from __future__ import annotations

from pathlib import Path

from batchwork.core.outcome import Status
from tests.support.journals import BEGAN, Pass, row, run_pass, settle, sqlite_journal, succeeded


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

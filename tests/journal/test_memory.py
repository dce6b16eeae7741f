"""A transient journal remembers nothing but that the day's book must cover what is reserved."""

from __future__ import annotations

from pathlib import Path

from batchwork.core.event import Admitted, Event
from batchwork.core.ledger import Ledger
from batchwork.journal import DayBook, TransientJournal
from tests.support.journals import row
from tests.support.virtual_time import run_virtual


def test_every_row_is_a_new_item_and_nothing_is_kept() -> None:
    journal = TransientJournal(None)
    events: list[Event] = []
    journal.listener = events.append
    assert [journal.place(index, row("a")).item for index in (0, 1, 0)] == [0, 1, 0]
    journal.record(Admitted(item=0, reserved_nano=5))
    assert len(events) == 1
    assert (journal.count(), list(journal.entries()), journal.totals().spent_nano) == (0, [], 0)
    assert journal.batches.open() == []


def test_it_waits_until_the_days_book_covers_what_is_reserved(tmp_path: Path) -> None:
    async def main() -> int:
        ledger = Ledger(ceiling=1000)
        book = DayBook(tmp_path / "book", ledger=ledger, utc=lambda: 0.0)
        ledger.reserved = 300
        await TransientJournal(book).durable()
        covered = int((tmp_path / "book").read_bytes().split(b'"spent_nano":')[1].split(b",")[0])
        await book.aclose()
        return covered

    assert run_virtual(main()) >= 300

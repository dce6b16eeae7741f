"""A journal for one request over HTTP: its items live as long as the request, only its money is kept.

No two items are ever the same one here, so every call is a fresh call. `durable` waits until the day's
book on disk covers what is reserved, which is all that must survive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from batchwork.core.batch_book import BatchBook
from batchwork.core.errors import JournalError
from batchwork.core.event import Began, Event
from batchwork.core.intake import InputRow
from batchwork.core.outcome import Status
from batchwork.core.ports import Entry, Standing, Totals
from batchwork.core.request import Request
from batchwork.core.runstate import ItemState
from batchwork.journal.daybook import DayBook

_NO_BATCHES = BatchBook()  # somebody waits for the answers


class FleetingJournal:
    """Remembers nothing; sees to it that the day's book does."""

    def __init__(self, book: DayBook | None) -> None:
        self.listener: Callable[[Event], None] | None = None
        self._book = book
        self.batches = _NO_BATCHES

    def begin(self, began: Began) -> Standing:
        """Nothing was here before."""
        return Standing(run_id=began.run_id, spent_nano=0, unconfirmed_nano=0, recovered=0)

    def place(self, index: int, intake: InputRow) -> ItemState:
        """Always a new item."""
        return ItemState(index, intake.fingerprint, index)

    def reopen(self, item: int) -> ItemState:
        """Always a new item."""
        return ItemState(item, b"", item)

    def record(self, event: Event) -> None:
        """The ledger has booked it already."""
        if self.listener is not None:
            self.listener(event)

    async def durable(self) -> None:
        """Return when the book on disk covers everything that is reserved."""
        if self._book is not None:
            await self._book.cover()

    def take(self, item: int) -> ItemState:
        """Always a new item."""
        return self.reopen(item)

    def request_of(self, item: int) -> Request:
        """Nothing is kept."""
        raise JournalError(f"item {item} is not kept: a request over HTTP has no batches")

    def release(self, item: int) -> None:
        """Nothing is held."""

    def entries(
        self, start: int = 0, stop: int | None = None, *, statuses: frozenset[Status] | None = None, bodies: bool = True
    ) -> Iterator[Entry]:
        """Nothing is kept."""
        del start, stop, statuses, bodies
        return iter(())

    def count(self) -> int:
        """Nothing is kept."""
        return 0

    def counts(self, *, below: int | None = None) -> dict[Status, int]:
        """Nothing is kept."""
        del below
        return dict.fromkeys(Status, 0)

    def totals(self) -> Totals:
        """The money is the ledger's."""
        return Totals(spent_nano=0, unconfirmed_nano=0)

    def close(self) -> None:
        """Nothing to write."""

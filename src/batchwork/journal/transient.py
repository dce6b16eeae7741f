"""A journal for one request over HTTP: its items live as long as the request, only its money is kept.

Every item is a new one, so every call is a fresh call. `durable` waits until the day's book on disk covers what is
reserved, which is all that must survive.
"""

from __future__ import annotations

from batchwork.core.event import Event
from batchwork.core.intake import Intake
from batchwork.core.runstate import ItemState
from batchwork.journal.daybook import DayBook
from batchwork.journal.memory import MemoryJournal


class TransientJournal(MemoryJournal):
    """Remembers nothing; sees to it that the day's book does. It never has batches: somebody waits for the answers."""

    def __init__(self, book: DayBook | None) -> None:
        super().__init__()
        self._book = book

    def place(self, index: int, intake: Intake) -> ItemState:
        """A new item."""
        return ItemState(index, intake.fingerprint, index)

    def take(self, item: int) -> ItemState:
        """A new item."""
        return ItemState(item, b"", item)

    def reopen(self, item: int) -> ItemState:
        """A new item."""
        return self.take(item)

    def record(self, event: Event) -> None:
        """Tell the listener: the ledger has booked it already."""
        if self.listener is not None:
            self.listener(event)

    async def durable(self) -> None:
        """Return when the book on disk covers everything that is reserved."""
        if self._book is not None:
            await self._book.cover()

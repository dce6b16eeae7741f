"""A journal that takes items and events as they were in another one, instead of deciding which item a row is."""

from batchwork.core.event import BatchEvent, Began, Ended, Event, ItemEvent, Opened
from batchwork.core.intake import Intake
from batchwork.journal.rows import ItemRow, columns_digest
from batchwork.journal.sqlite import SqliteJournal

WRITE_EVERY = 1000  # events that are queued before they are written


class ReplayedJournal(SqliteJournal):
    """A new journal that is filled from another one's events, in their order."""

    def _follow(self, run_id: str | None) -> None:
        """Begin, under the other one's name where that is known."""
        self._sums.run_id = run_id or self._sums.run_id
        self._is_first = False
        self._placed: set[int] = set()  # places taken by what may not yet be written

    def replay(self, event: Event) -> None:
        """Record an event that is whole and about things that are there."""
        if isinstance(event, Opened):
            self.opened(event)
        elif isinstance(event, ItemEvent):
            self.happened(event)
        elif isinstance(event, Began | Ended):
            self.ran(event)
        else:
            assert isinstance(event, BatchEvent)
            self.record(event)

    def opened(self, event: Opened) -> None:
        """A row was read, for the first time or again."""
        if event.index in self._placed:  # look-ups must see who stands there
            self.flush()
            self._placed.clear()
        self._placed.add(event.index)
        row = self._rows.get(event.item)
        if row is None and event.item < self._sums.items:
            row = self._items.row(event.item)
        if row is None:
            row = ItemRow(event.item, event.fingerprint, event.occurrence)
            row.is_new = True
            self._sums.items = event.item + 1
        intake = Intake(fingerprint=event.fingerprint, request=event.request, columns=event.columns)
        self._open(row, event.index, intake, columns_digest(event.columns))
        self.release(event.item)

    def happened(self, event: ItemEvent) -> None:
        """Something happened to one item."""
        self.take(event.item)
        self.record(event)
        self.release(event.item)

    def ran(self, event: Began | Ended) -> None:
        """A run began or ended."""
        self.flush()
        self.record(event)
        if isinstance(event, Began):
            self._sums.began = self._sums.seq
        self.flush()
        self._placed.clear()

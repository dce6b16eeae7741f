"""The journals in memory: for runs that need not survive, as the plain twin of the durable one, and for requests."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

from batchwork.core.batch_book import BatchBook
from batchwork.core.event import Began, Event, Opened, Reopened
from batchwork.core.intake import InputRow
from batchwork.core.outcome import Status
from batchwork.core.ports import Entry, Standing, Totals
from batchwork.core.request import Request
from batchwork.core.runstate import ItemState, RunState, lost_call
from batchwork.journal.daybook import DayBook
from batchwork.journal.placer import Placer, outcome_at


class MemoryJournal:
    """Keeps everything in dictionaries; `durable` is at once."""

    def __init__(self) -> None:
        self.listener: Callable[[Event], None] | None = None
        self._state = RunState()
        self._identities: dict[tuple[bytes, int], int] = {}
        self._requests: dict[int, Request | None] = {}
        self._columns: dict[int, dict[str, Any] | None] = {}
        self._placer = Placer(self)
        self._run_id = ""

    def begin(self, began: Began) -> Standing:
        self._run_id = self._run_id or uuid.uuid4().hex[:12]
        recovered = self.book_lost_calls()
        self.record(began)
        self._placer = Placer(self)
        return Standing(
            run_id=self._run_id,
            spent_nano=self._state.spent_nano,
            unconfirmed_nano=self._state.unconfirmed_nano,
            recovered=recovered,
        )

    def book_lost_calls(self) -> int:
        if not self._state.reserved_nano:
            return 0
        open_calls = [state for state in self._state.items.values() if state.reserved_nano]
        for state in open_calls:
            self.record(lost_call(state))
        return len(open_calls)

    def at(self, index: int) -> ItemState | None:
        item = self._state.places.get(index)
        return None if item is None else self._state.items[item]

    def find(self, fingerprint: bytes, occurrence: int) -> ItemState | None:
        item = self._identities.get((fingerprint, occurrence))
        return None if item is None else self._state.items[item]

    def place(self, index: int, intake: InputRow) -> ItemState:
        state, occurrence = self._placer.identify(index, intake.fingerprint)
        if state is not None and state.index == index and self._columns[state.item] == intake.columns:
            return state
        item = state.item if state is not None else len(self._state.items)
        self._identities[intake.fingerprint, occurrence] = item
        self._requests.setdefault(item, intake.request)
        self._columns[item] = intake.columns
        self.record(Opened(item=item, index=index, fingerprint=intake.fingerprint, occurrence=occurrence))
        return self._state.items[item]

    def record(self, event: Event) -> None:
        self._state.apply(event)
        if self.listener is not None:
            self.listener(event)

    def reopen(self, item: int) -> ItemState:
        self.record(Reopened(item=item))
        return self._state.items[item]

    def take(self, item: int) -> ItemState:
        return self._state.items[item]

    def request_of(self, item: int) -> Request:
        request = self._requests[item]
        assert request is not None, "a bad row is never sent"
        return request

    @property
    def batches(self) -> BatchBook:
        return self._state.batches

    async def durable(self) -> None:
        """Nothing to wait for."""

    def release(self, item: int) -> None:
        """Nothing to forget: memory is all there is."""

    def entries(
        self,
        start: int = 0,
        stop: int | None = None,
        *,
        statuses: frozenset[Status] | None = None,
        bodies: bool = True,
        asked: bool = True,
    ) -> Iterator[Entry]:
        del bodies, asked
        places = self._state.places
        if stop is not None and stop - start < len(places):
            indexes = [i for i in range(start, stop) if i in places]  # one look-up for one result, not a walk over all
        else:
            indexes = sorted(i for i in places if i >= start and (stop is None or i < stop))
        for index in indexes:
            state = self._state.items[places[index]]
            if statuses is None or state.status in statuses:
                yield self._entry(index, state)

    def _entry(self, index: int, state: ItemState) -> Entry:
        return Entry(
            index=index,
            item=state.item,
            status=state.status,
            paid_nano=state.paid_nano,
            attempts=state.attempts,
            outcome=outcome_at(self._state.outcomes.get(state.item), index),
            request=self._requests[state.item],
            columns=self._columns[state.item],
        )

    def count(self) -> int:
        return len(self._state.places)

    def counts(self, *, below: int | None = None) -> dict[Status, int]:
        counts = dict.fromkeys(Status, 0)
        for index, item in self._state.places.items():
            if below is None or index < below:
                counts[self._state.items[item].status] += 1
        return counts

    def totals(self) -> Totals:
        return Totals(spent_nano=self._state.spent_nano, unconfirmed_nano=self._state.unconfirmed_nano)

    def close(self) -> None:
        """Nothing to write."""


class TransientJournal(MemoryJournal):
    """The journal of one request over HTTP: it forgets every item, and only the day's money is kept.

    Every item is a new one, so every call is a fresh call. It never has batches: somebody waits for the answers.
    """

    def __init__(self, book: DayBook | None) -> None:
        super().__init__()
        self._book = book

    def place(self, index: int, intake: InputRow) -> ItemState:
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

"""A journal in memory: for runs that need not survive, and as the plain twin of the durable one."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

from batchwork.core.batch_book import BatchBook
from batchwork.core.event import Attempted, Began, Event, Opened, Reopened
from batchwork.core.failure import FailureKind
from batchwork.core.intake import InputRow
from batchwork.core.outcome import AnyOutcome, Status
from batchwork.core.ports import Entry, Standing, Totals
from batchwork.core.request import Request
from batchwork.core.runstate import ItemState, RunState
from batchwork.journal.placing import Placer, outcome_at


class MemoryJournal:
    """Keeps everything in dictionaries; `durable` is at once."""

    def __init__(self) -> None:
        self.listener: Callable[[Event], None] | None = None
        self._state = RunState()
        self._identities: dict[tuple[bytes, int], int] = {}
        self._requests: dict[int, Request | None] = {}
        self._columns: dict[int, dict[str, Any] | None] = {}
        self._placer = Placer(self)
        self._run_id = uuid.uuid4().hex[:12]

    def begin(self, began: Began) -> Standing:
        """Start a run."""
        open_calls = [s for s in self._state.items.values() if s.reserved_nano]
        for state in open_calls:
            lost = Attempted(
                item=state.item, kind=FailureKind.CONNECTION, charged_nano=state.reserved_nano, unconfirmed=True
            )
            self.record(lost)
        self.record(began)
        self._placer = Placer(self)
        totals = self.totals()
        return Standing(
            run_id=self._run_id,
            spent_nano=totals.spent_nano,
            unconfirmed_nano=totals.unconfirmed_nano,
            recovered=len(open_calls),
        )

    def at(self, index: int) -> ItemState | None:
        """The item at this place of the latest input."""
        item = self._state.places.get(index)
        return None if item is None else self._state.items[item]

    def find(self, fingerprint: bytes, occurrence: int) -> ItemState | None:
        """The item of this identity."""
        item = self._identities.get((fingerprint, occurrence))
        return None if item is None else self._state.items[item]

    def place(self, index: int, intake: InputRow) -> ItemState:
        """The item that stands at `index`: one already known, or a new one."""
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
        """Apply one fact."""
        self._state.apply(event)
        if self.listener is not None:
            self.listener(event)

    def reopen(self, item: int) -> ItemState:
        """Take a failed item up again."""
        self.record(Reopened(item=item))
        return self._state.items[item]

    def take(self, item: int) -> ItemState:
        """The item."""
        return self._state.items[item]

    def request_of(self, item: int) -> Request:
        """What an item asks."""
        request = self._requests[item]
        assert request is not None, "a bad row is never sent"
        return request

    @property
    def batches(self) -> BatchBook:
        """What it knows of provider batches."""
        return self._state.batches

    async def durable(self) -> None:
        """Nothing to wait for."""

    def release(self, item: int) -> None:
        """Nothing to let go: memory is all there is."""

    def entries(
        self, start: int = 0, stop: int | None = None, *, statuses: frozenset[Status] | None = None, bodies: bool = True
    ) -> Iterator[Entry]:
        """Places in input order; the bodies are in memory anyway."""
        del bodies
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
        outcome: AnyOutcome | None = self._state.outcomes.get(state.item)
        return Entry(
            index=index,
            item=state.item,
            status=state.status,
            paid_nano=state.paid_nano,
            attempts=state.attempts,
            outcome=outcome_at(outcome, index),
            request=self._requests[state.item],
            columns=self._columns[state.item],
        )

    def count(self) -> int:
        """How many places the latest input has."""
        return len(self._state.places)

    def counts(self, *, below: int | None = None) -> dict[Status, int]:
        """How many of them stand where."""
        counts = dict.fromkeys(Status, 0)
        for index, item in self._state.places.items():
            if below is None or index < below:
                counts[self._state.items[item].status] += 1
        return counts

    def totals(self) -> Totals:
        """The money, over all runs."""
        return Totals(spent_nano=self._state.spent_nano, unconfirmed_nano=self._state.unconfirmed_nano)

    def close(self) -> None:
        """Nothing to write."""

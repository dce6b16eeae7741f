"""What a journal's events add up to: the definition of its tables, and their test oracle."""

from collections.abc import Iterable

import msgspec

from batchwork.core.batch_book import BatchBook
from batchwork.core.event import (
    Admitted,
    Attempted,
    BatchEvent,
    Ended,
    Event,
    ItemEvent,
    Opened,
    Reopened,
    Settled,
)
from batchwork.core.failure import FailureKind
from batchwork.core.outcome import AnyOutcome, Status

_ANSWERS = (Settled, Attempted)  # an item of a batch that was read has one of these
UNCHANGED = (0, 0, 0)  # spent, unconfirmed and reserved money


class ItemState(msgspec.Struct, gc=False, eq=False):
    """Where one item stands."""

    item: int
    fingerprint: bytes
    occurrence: int
    index: int | None = None  # its place in the latest input; None when it no longer stands there
    status: Status = Status.PENDING
    reserved_nano: int = 0  # set aside for a call that has not ended
    paid_nano: int = 0  # all its calls so far
    attempts: int = 0

    def apply(self, event: ItemEvent) -> tuple[int, int, int]:
        """Move on by one event; the change of (spent, unconfirmed, reserved) money it brings."""
        if isinstance(event, Settled):
            outcome = event.outcome
            self.status, self.attempts = outcome.status, outcome.attempts
            return self._charge(event.charged_nano, event.unconfirmed)
        if isinstance(event, Opened):
            self.index = event.index
            return UNCHANGED
        if isinstance(event, Admitted):
            self.reserved_nano = event.reserved_nano
            return 0, 0, event.reserved_nano
        if isinstance(event, Attempted):
            self.attempts += 1 if event.charged_nano >= 0 else -1  # below zero it takes one back
            return self._charge(event.charged_nano, event.unconfirmed)
        self.status = Status.PENDING
        return UNCHANGED

    def _charge(self, nano: int, unconfirmed: bool) -> tuple[int, int, int]:
        freed = self.reserved_nano
        if not nano and not freed:
            return UNCHANGED
        self.reserved_nano = 0
        self.paid_nano += nano
        return nano, nano if unconfirmed else 0, -freed


def lost_call(state: ItemState) -> Attempted:
    """The end of a call whose fate nobody knows: it is booked at its worst case."""
    kind = FailureKind.CONNECTION
    return Attempted(item=state.item, kind=kind, charged_nano=state.reserved_nano, unconfirmed=True)


class RunState:
    """All of it, in memory: fine for a test, too much for a million items."""

    def __init__(self) -> None:
        self.items: dict[int, ItemState] = {}
        self.places: dict[int, int] = {}
        self.outcomes: dict[int, AnyOutcome] = {}
        self.batches = BatchBook()
        self.spent_nano = 0
        self.unconfirmed_nano = 0
        self.reserved_nano = 0

    def apply(self, event: Event) -> None:
        """Move on by one event."""
        if isinstance(event, ItemEvent):
            self._apply_to_item(event)
        elif isinstance(event, BatchEvent):
            self.batches.apply(event)
        elif isinstance(event, Ended) and event.inputs is not None:
            for index in [i for i in self.places if i >= event.inputs]:
                self.items[self.places.pop(index)].index = None

    def _apply_to_item(self, event: ItemEvent) -> None:
        state = self.items.get(event.item)
        if isinstance(event, Opened):
            if state is None:
                state = self.items[event.item] = ItemState(event.item, event.fingerprint, event.occurrence)
            self._place(state, event.index)
        assert state is not None, f"event for an item that was never opened: {event}"
        spent, unconfirmed, reserved = state.apply(event)
        self.spent_nano += spent
        self.unconfirmed_nano += unconfirmed
        self.reserved_nano += reserved
        if self.batches.rides and isinstance(event, _ANSWERS):
            self.batches.answered(event.item)
        if isinstance(event, Settled):
            self.outcomes[event.item] = event.outcome
        elif isinstance(event, Reopened):
            self.outcomes.pop(event.item, None)

    def _place(self, state: ItemState, index: int) -> None:
        """An item takes a place; who stood there before loses it, and its own former place is empty."""
        holder = self.places.get(index)
        if holder is not None and holder != state.item:
            self.items[holder].index = None
        if state.index is not None and self.places.get(state.index) == state.item:
            del self.places[state.index]
        self.places[index] = state.item


def fold(events: Iterable[Event]) -> RunState:
    """The state that a sequence of events leads to."""
    state = RunState()
    for event in events:
        state.apply(event)
    return state

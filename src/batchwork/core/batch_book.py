"""What a journal's events add up to about provider batches: which are open, who rides in them, which were given up.

An item is in at most one open ticket: a batch that has answered it, whatever the answer, no longer holds it, although
it may hold others. So a kill at any instant leaves every item where exactly one later run finds it.
"""

from collections.abc import Container
from typing import Self

import msgspec

from batchwork.core.event import BatchClosed, BatchEvent, BatchIntended, BatchReopened, BatchSubmitted, BatchUploaded

# How a batch ends that a retry may ask once more: its results cannot be had, or a crash has hidden how it was.
LOST, UNSURE = "lost", "unsure"


class Ticket(BatchIntended, frozen=True, kw_only=True):
    """A batch that was intended, with those of its items whose answer has not been read.

    `chunk` is its number within the journal; older journals know only the sum of `worst_nano`. `batch_id` is None
    between the intent and the provider's answer: after a crash there, the provider may or may not have it. A ticket
    that is asked once more (`asked_again`) was given up before: what it still does not answer is sent again.
    """

    batch_id: str | None = None
    file_id: str | None = None  # the file it is made of, where its provider makes batches of files
    asked_again: bool = False
    lines: tuple[int, ...] = ()  # where its items stand in the batch, counted from 1; empty: in this order

    def without(self, answered: Container[int]) -> Self:
        """The same ticket for those of its items that are not answered."""
        left = [number for number, item in enumerate(self.items) if item not in answered]
        if len(left) == len(self.items):
            return self
        worst = tuple(self.worst_nano[number] for number in left) if self.worst_nano else ()
        lines = self.lines or range(1, len(self.items) + 1)
        return msgspec.structs.replace(
            self,
            items=tuple(self.items[number] for number in left),
            custom_ids=tuple(self.custom_ids[number] for number in left),
            worst_nano=worst,
            lines=tuple(lines[number] for number in left),
            reserved_nano=sum(worst) if self.worst_nano else self.reserved_nano,
        )


class BatchBook:
    """Provider batches as the events tell of them."""

    def __init__(self) -> None:
        self.ids: set[str] = set()  # every batch that this journal knows to be its own
        self._chunks = 0
        self._open: dict[int, Ticket] = {}
        self._lost: dict[int, Ticket] = {}
        self.rides: dict[int, int] = {}  # the open batch that an item rides in
        self._answered: dict[int, set[int]] = {}  # items of open batches that were read, by batch
        self._asked: dict[int, set[int]] = {}  # items that a lost batch is asked for once more, by batch
        self.reserved_nano = 0  # set aside for the items that ride
        self._worst: dict[int, int] = {}  # the same, item by item

    def apply(self, event: BatchEvent) -> None:
        """Move on by one event."""
        if isinstance(event, BatchIntended):
            self._chunks = max(self._chunks, event.chunk)
            for item, worst in zip(event.items, event.worst_nano, strict=False):
                self.reserved_nano += worst - self._worst.get(item, 0)
                self._worst[item] = worst
            self._open[event.chunk] = Ticket(**msgspec.structs.asdict(event))
            self._answered[event.chunk] = set()
            self.rides.update(dict.fromkeys(event.items, event.chunk))
        elif isinstance(event, BatchUploaded):
            self._open[event.chunk] = msgspec.structs.replace(self._open[event.chunk], file_id=event.file_id)
        elif isinstance(event, BatchSubmitted):
            self.ids.add(event.batch_id)
            self._open[event.chunk] = msgspec.structs.replace(self._open[event.chunk], batch_id=event.batch_id)
        elif isinstance(event, BatchReopened):
            if event.chunk not in self._open:
                ticket = msgspec.structs.replace(self._lost[event.chunk], asked_again=True)
                self._open[event.chunk] = ticket
                self._answered[event.chunk] = set(ticket.items)  # but for those that are asked for
            self._answered[event.chunk].difference_update(event.items)
            self._asked.setdefault(event.chunk, set()).update(event.items)
            self.rides.update(dict.fromkeys(event.items, event.chunk))
        else:
            self._close(event)

    def _close(self, event: BatchClosed) -> None:
        ticket = self._open.pop(event.chunk)
        del self._answered[event.chunk]
        for item in ticket.items:
            if self.rides.get(item) == event.chunk:
                self._alight(item)
        if ticket.asked_again:  # what was asked for once more is not asked for again: it is answered, or sent
            rest = self._lost[event.chunk].without(self._asked.pop(event.chunk, set()))
            self._lost[event.chunk] = rest
            if not rest.items:
                del self._lost[event.chunk]
        elif event.how in (LOST, UNSURE):
            self._lost[event.chunk] = ticket

    def answered(self, item: int) -> None:
        """An item has an outcome, or is to be tried again: it no longer rides."""
        if item in self.rides:
            self._answered[self._alight(item)].add(item)

    def _alight(self, item: int) -> int:
        """An item rides no longer; in which batch it did."""
        self.reserved_nano -= self._worst.pop(item, 0)
        return self.rides.pop(item)

    def open(self) -> list[Ticket]:
        """Batches that were intended and not closed, oldest first, with the items that still ride in them."""
        return [self.ticket(chunk) for chunk in self._open]

    def ticket(self, chunk: int) -> Ticket:
        """An open batch with the items that still ride in it."""
        return self._open[chunk].without(self._answered[chunk])

    def adopt(self, chunk: int, told: Self) -> Ticket:
        """Follow a batch of another process, as `told`, from now on; its money was set aside by that one."""
        self.ids |= told.ids
        self._open[chunk], self._answered[chunk] = told._open[chunk], told._answered[chunk]
        if chunk in told._asked:
            self._asked[chunk], self._lost[chunk] = told._asked[chunk], told._lost[chunk]
        ticket = self.ticket(chunk)
        self.rides.update(dict.fromkeys(ticket.items, chunk))
        self._worst.update((item, told._worst[item]) for item in ticket.items if item in told._worst)
        return ticket

    def let_go(self) -> None:
        """Leave all open batches to whoever follows them."""
        for followed in (self._open, self._answered, self.rides, self._worst):
            followed.clear()

    def number_from(self, first: int) -> None:
        """Let the batches to come have numbers above this one."""
        self._chunks = first

    def is_open(self, chunk: int) -> bool:
        """Whether a batch was intended and not closed."""
        return chunk in self._open

    def lost(self) -> list[Ticket]:
        """Batches that may be asked once more, oldest first: an item that failed as `result_lost` may be in one."""
        return [ticket for chunk, ticket in self._lost.items() if chunk not in self._open]

    def next_chunk(self) -> int:
        """The number of the next batch."""
        self._chunks += 1
        return self._chunks


def custom_id(run_id: str, chunk: int, index: int, key: str) -> str:
    """A request's name inside a batch: it names our run and batch, restores order, and is no position in an answer."""
    return f"{run_id}-{chunk}-{index}-{key[:8]}"


def index_of(name: str) -> int | None:
    """The input index behind a custom id of ours; None when it is not one."""
    parts = name.rsplit("-", 2)
    return int(parts[1]) if len(parts) == 3 and parts[1].isdigit() else None

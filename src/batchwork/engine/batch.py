"""One provider batch in the hands of a run, and what everybody shares who has to do with the run's batches."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from batchwork.core.batch_book import Ticket
from batchwork.core.bounds import WorstCase
from batchwork.core.breaker import Pause
from batchwork.core.ports import BatchBackend
from batchwork.core.stats import Tally
from batchwork.engine.life import Life
from batchwork.engine.parts import Parts
from batchwork.engine.waits import Waits


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchContext:
    """What building, creating, following and collecting the batches of one run have in common."""

    parts: Parts
    backend: BatchBackend
    tally: Tally
    waits: Waits
    worst: WorstCase
    journal_id: str
    again: deque[Life]  # items for a later batch
    pause: Callable[[Pause], None]
    is_cancelled: Callable[[], bool]


class SealedBatch:
    """The items of one batch, by custom id. One of an earlier run is looked up in the journal when its answer comes."""

    def __init__(self, ticket: Ticket, lives: dict[str, Life], lines: list[bytes]) -> None:
        self.ticket = ticket
        self.lives = lives
        self.lines = lines
        # What was given up was booked when it was: nothing is set aside for it a second time.
        self.reserved_nano = 0 if ticket.asked_again else ticket.reserved_nano
        self.waiting = dict(zip(ticket.custom_ids, ticket.items, strict=True))  # custom ids without an answer
        # What was set aside for each item; empty where only the sum is known, as in journals of 0.1.
        self.worst = dict(zip(ticket.custom_ids, ticket.worst_nano, strict=True)) if ticket.worst_nano else {}

    def release(self, nano: int) -> int:
        """Take an item's share out of what is reserved; what is really given back."""
        released = min(nano, self.reserved_nano)
        self.reserved_nano -= released
        return released

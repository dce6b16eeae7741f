"""One provider batch in the hands of a run: sealed, created, polled, collected."""

from batchwork.core.batch_book import Ticket
from batchwork.engine.life import Life


class SealedBatch:
    """The items of one batch, by custom id. One of an earlier run is looked up in the journal when its answer comes."""

    __slots__ = ("_worst", "lines", "lives", "reserved_nano", "ticket", "waiting")

    def __init__(self, ticket: Ticket, lives: dict[str, Life], lines: list[bytes]) -> None:
        self.ticket = ticket
        self.lives = lives
        self.lines = lines
        # What was given up was booked when it was: nothing is set aside for it a second time.
        self.reserved_nano = 0 if ticket.asked_again else ticket.reserved_nano
        self.waiting = dict(zip(ticket.custom_ids, ticket.items, strict=True))  # custom ids without an answer
        self._worst = dict(zip(ticket.custom_ids, ticket.worst_nano, strict=True)) if ticket.worst_nano else {}

    def worst(self, name: str) -> int | None:
        """What was set aside for one item; None when only the sum is known, as in journals of 0.1."""
        return self._worst.get(name)

    def release(self, nano: int) -> int:
        """Take an item's share out of what is reserved; what is really given back."""
        released = min(nano, self.reserved_nano)
        self.reserved_nano -= released
        return released

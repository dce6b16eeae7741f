"""An item on its way through provider batches: packed, sent, taken in, perhaps sent again."""

from __future__ import annotations

from batchwork.core.intake import Work
from batchwork.core.reply import Usage
from batchwork.core.request import Request
from batchwork.core.ticket import Ticket


class Rider:
    """One item that rides in a batch, and how often it has ridden."""

    __slots__ = (
        "attempts",
        "deferred",
        "expiries",
        "failures",
        "index",
        "item",
        "original",
        "paid_nano",
        "reasks",
        "request",
        "usage",
    )

    def __init__(
        self, *, item: int, index: int, request: Request, paid_nano: int, attempts: int, deferred: bool = False
    ) -> None:
        self.item = item
        self.index = index
        self.original = request  # what the input asks; `request` may carry the turns of a re-ask
        self.request = request
        self.usage: Usage | None = None
        self.paid_nano = paid_nano
        self.attempts = attempts
        self.deferred = deferred  # that is what the journal says of it
        self.reasks = 0
        self.failures = 0
        self.expiries = 0

    @classmethod
    def of(cls, work: Work) -> Rider:
        """The rider for an item that is to be done."""
        assert work.request is not None
        return cls(
            item=work.item,
            index=work.index,
            request=work.request,
            paid_nano=work.paid_nano,
            attempts=work.attempts,
            deferred=work.deferred,
        )


class Carriage:
    """The riders of one batch, by custom id. Who rode before a crash is looked up when its answer comes."""

    __slots__ = ("lines", "riders", "ticket", "waiting")

    def __init__(self, ticket: Ticket, riders: dict[str, Rider], lines: list[bytes]) -> None:
        self.ticket = ticket
        self.riders = riders
        self.lines = lines
        self.waiting = dict(zip(ticket.custom_ids, ticket.items, strict=True))  # custom ids without an answer

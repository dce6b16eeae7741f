"""An item on its way through provider batches: packed, sent, taken in, perhaps sent again."""

from __future__ import annotations

from batchwork.core.intake import Work
from batchwork.core.request import Request
from batchwork.core.runstate import ItemState
from batchwork.core.ticket import Ticket
from batchwork.engine.life import Life


class Rider(Life, kw_only=True, gc=False, eq=False):
    """One item that rides in a batch, and how often it has ridden."""

    item: int
    index: int
    expiries: int = 0
    deferred: bool = False  # that is what the journal says of it

    @classmethod
    def of(cls, work: Work) -> Rider:
        """The rider for an item that is to be done."""
        request = work.request
        assert request is not None
        return cls(
            *(request, request, work.attempts, work.paid_nano), item=work.item, index=work.index, deferred=work.deferred
        )

    @classmethod
    def known(cls, state: ItemState, request: Request) -> Rider:
        """The rider for an item of which an earlier run has left nothing but what stands in the journal."""
        index = state.index if state.index is not None else 0
        return cls(request, request, state.attempts, state.paid_nano, item=state.item, index=index)


class Carriage:
    """The riders of one batch, by custom id. Who rode before a crash is looked up when its answer comes."""

    __slots__ = ("lines", "riders", "ticket", "waiting")

    def __init__(self, ticket: Ticket, riders: dict[str, Rider], lines: list[bytes]) -> None:
        self.ticket = ticket
        self.riders = riders
        self.lines = lines
        self.waiting = dict(zip(ticket.custom_ids, ticket.items, strict=True))  # custom ids without an answer

"""One provider batch: what was put in, and the number the provider gave it."""

from collections.abc import Container
from typing import Self

import msgspec


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    """A batch that was intended, with those of its items whose answer has not been read.

    `batch_id` is None between the intent and the provider's answer: after a crash there, the provider may or may not
    have it. A ticket that is asked once more (`asked_again`) was given up before: what it still does not answer is sent
    again.
    """

    chunk: int  # counted from 1 within the journal
    items: tuple[int, ...]
    custom_ids: tuple[str, ...]
    reserved_nano: int
    intended_at: float  # UTC, on our clock
    batch_id: str | None = None
    worst_nano: tuple[int, ...] = ()  # by item; older journals know only their sum
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


def custom_id(run_id: str, chunk: int, index: int, key: str) -> str:
    """A request's name inside a batch: it names our run and batch, restores order, and is no position in an answer."""
    return f"{run_id}-{chunk}-{index}-{key[:8]}"


def index_of(name: str) -> int | None:
    """The input index behind a custom id of ours; None when it is not one."""
    parts = name.rsplit("-", 2)
    return int(parts[1]) if len(parts) == 3 and parts[1].isdigit() else None

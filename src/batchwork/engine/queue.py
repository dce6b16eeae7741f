"""Who stands in line at the gate: callers, what their calls need, and what they are told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import msgspec

from batchwork.core.breaker import Pause


class Denied(Enum):
    """Why a call will not start."""

    NO_MONEY = "no money"
    CLOSED = "closed"
    TOO_LATE = "too late"  # for another try


class Need(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a call asks of the gate. `order` is its rank within its caller: the lowest goes first."""

    order: int
    input_tokens: int
    output_tokens: int
    worst_nano: int


class Grant(msgspec.Struct, frozen=True, gc=False, eq=False):
    """A call that may start; given back with `Gate.release`."""

    caller: Caller
    need: Need
    at: float  # when it was given; the call is sent right after


class Caller:
    """One run or request that shares the gate with others."""

    def __init__(
        self, bound: int, on_room: Callable[[], None], on_pause: Callable[[Pause], None] | None = None
    ) -> None:
        self.bound = bound
        self.on_room = on_room  # called when it may bring more work
        self.on_pause = on_pause
        self.in_flight = 0
        self.closed = False
        self.queue: list[tuple[int, int, Wait]] = []
        self.parked: list[tuple[int, int, Wait]] = []
        self.least = self.dearest = 0  # bounds of what the parked ones need


@dataclass(slots=True, eq=False)
class Wait:
    """A call that stands in line."""

    need: Need
    future: asyncio.Future[Grant | Denied]

    def tell(self, answer: Grant | Denied) -> None:
        """Let it know, unless it has gone."""
        if not self.future.done():
            self.future.set_result(answer)

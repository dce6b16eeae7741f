"""What a run is made of, handed in by whoever assembles it."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from batchwork.core.event import Event
from batchwork.core.outcome import AnyOutcome, Pending
from batchwork.core.policy import Policy
from batchwork.core.ports import Backend, Checker, Clock, Journal
from batchwork.core.pricing import Price
from batchwork.engine.gate import Gate
from batchwork.engine.slices import Slices


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The concrete parts behind the protocols, and the callbacks of whoever watches."""

    backend: Backend
    journal: Journal
    gate: Gate
    clock: Clock
    policy: Policy
    price: Price | None  # None: not known
    checker: Checker | None = None
    on_event: Callable[[Event], None] | None = None  # told of outcomes; the journal's listener of everything else
    on_settled: Callable[[AnyOutcome], None] | None = None
    on_left: Callable[[Pending], None] | None = None  # told of items that were called for and have no outcome
    has_room: Callable[[], bool] | None = None  # whether whoever takes the outcomes can take more
    slices: Slices | None = None  # None: the input is not divided into jobs
    keep_bodies: bool = False  # the provider's JSON is recorded with every answer
    dice: Callable[[], float] = random.random

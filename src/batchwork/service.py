"""The opened parts that many requests share: a served model each, one ledger, one clock, the day's book."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from batchwork.core.errors import ConfigError
from batchwork.core.event import Event
from batchwork.core.ledger import Ledger
from batchwork.core.outcome import AnyOutcome, Pending
from batchwork.core.policy import Policy
from batchwork.core.ports import Backend, Checker, Clock
from batchwork.core.pricing import Price
from batchwork.core.stats import Tally
from batchwork.engine.gate import Gate
from batchwork.engine.live_run import LiveRun
from batchwork.engine.parts import Parts
from batchwork.engine.settler import listener_for
from batchwork.journal import DayBook, TransientJournal


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """One model of a service: its backend behind its gate, at its price."""

    model: str
    backend: Backend
    gate: Gate
    price: Price | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Opened by `assembly.open_service`.

    Every request makes its own passes with `live`: it is a caller of the gates with its own bound, and keeps nothing.
    """

    model: str  # the one that is asked unless a request names another
    policy: Policy
    checker: Checker | None
    models: dict[str, ServedModel]
    ledger: Ledger
    clock: Clock
    book: DayBook | None

    def live(
        self,
        model: str,
        *,
        batch_size: int,
        on_settled: Callable[[AnyOutcome], None] | None = None,
        on_left: Callable[[Pending], None] | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> LiveRun:
        """A pass of one request over its prompts for one model, with at most `batch_size` calls in flight."""
        self.check_open()
        served = self.models[model]
        journal = TransientJournal(self.book)
        journal.listener = listener_for(on_event)
        parts = Parts(
            backend=served.backend,
            journal=journal,
            gate=served.gate,
            clock=self.clock,
            policy=_bounded(self.policy, batch_size),
            price=served.price,
            checker=self.checker,
            on_event=on_event,
            on_settled=on_settled,
            on_left=on_left,
        )
        return LiveRun(parts, Tally())

    def check_open(self) -> None:
        """Raises ConfigError after the end of the block that the service was opened for."""
        if not self.models:
            raise ConfigError("the prompt service is closed: ask inside of its `async with` block")

    def close(self) -> None:
        """Serve no model any more; its backends are closed by whoever opened them."""
        self.models.clear()

    def turn_page(self) -> None:
        """Begin a new day's budget when there is a new day."""
        if self.book is not None and self.book.turn_page():
            for served in self.models.values():
                served.gate.money_changed()


class SharedLedger(Ledger):
    """A ledger behind several gates: money that comes back at one of them is news for all."""

    def __init__(self, *, ceiling: int | None, also: tuple[Ledger, ...] = ()) -> None:
        super().__init__(ceiling=ceiling, also=also)
        self.gates: list[Gate] = []

    def settle(self, reserved: int, spent: int) -> None:
        """Give a reservation back, book what was really spent, and let everybody look again."""
        super().settle(reserved, spent)
        if reserved:
            for gate in self.gates:
                gate.money_changed()


@lru_cache(maxsize=1024)
def _bounded(policy: Policy, batch_size: int) -> Policy:
    return replace(policy, max_in_flight=batch_size)

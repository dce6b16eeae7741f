"""The one place where concrete parts meet: what a run asks for -> an engine with backend, journal, clock, price."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from batchwork.backends import Setup, open_backend, traits_of
from batchwork.clock import SystemClock
from batchwork.core.errors import ConfigError, PriceUnknownError
from batchwork.core.event import Began, Event
from batchwork.core.intake import Intake
from batchwork.core.ledger import Ledger
from batchwork.core.outcome import AnyOutcome, Status
from batchwork.core.policy import Policy
from batchwork.core.ports import Backend, BatchBackend, Checker, Clock, Journal, Standing, Traits
from batchwork.core.pricing import FREE, Price, resolve
from batchwork.core.stats import Tally
from batchwork.core.window import AdaptiveWindow
from batchwork.engine.batches import BatchRun
from batchwork.engine.gate import Gate
from batchwork.engine.live import LiveRun
from batchwork.engine.opening import open_inputs, reopen_items
from batchwork.engine.parts import Parts
from batchwork.journal import MemoryJournal, SqliteJournal, set_aside
from batchwork.settings import Settings

AGAIN = frozenset({Status.FAILED, Status.DEFERRED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything a run asks for, validated before anything is opened."""

    model: str
    mode: Literal["live", "batch"] = "live"
    policy: Policy = field(default_factory=Policy)
    price: Price | None = None  # stated by the user; None: look it up
    journal: Path | None = None  # None: in memory
    fresh: bool = False
    backend: Backend | None = None  # the user's own; None: chosen by the model's name
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    checker: Checker | None = None
    on_event: Callable[[Event], None] | None = None
    settings: dict[str, Any] = field(default_factory=dict)  # kept in the journal for `retry`


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Opened parts: one backend behind one gate, writing one journal."""

    plan: Plan
    backend: Backend
    journal: Journal
    gate: Gate
    clock: Clock
    price: Price | None
    standing: Standing
    tally: Tally

    @property
    def uses_batches(self) -> bool:
        """Whether calls go through provider batches: asked for, and the backend has them."""
        return self.plan.mode == "batch" and isinstance(self.backend, BatchBackend)

    def start(
        self,
        *,
        on_settled: Callable[[AnyOutcome], None] | None = None,
        has_room: Callable[[], bool] | None = None,
    ) -> LiveRun | BatchRun:
        """A pass over an input."""
        parts = Parts(
            backend=self.backend,
            journal=self.journal,
            gate=self.gate,
            clock=self.clock,
            policy=self.plan.policy,
            price=self.price,
            checker=self.plan.checker,
            on_event=self.plan.on_event,
            on_settled=on_settled,
            has_room=has_room,
        )
        if self.uses_batches and isinstance(self.backend, BatchBackend):
            return BatchRun(parts, self.backend, self.tally, run_id=self.standing.run_id, price=self.price)
        return LiveRun(parts, self.tally)

    async def process(self, run: LiveRun | BatchRun, intakes: Iterable[Intake]) -> None:
        """Read an input and see it through."""
        await run.run(open_inputs(self.journal, intakes, self.tally))

    async def again(self, run: LiveRun | BatchRun) -> None:
        """Take the journal's failed and deferred items up again."""
        await run.run(reopen_items(self.journal, AGAIN, self.tally), is_input=False)


@asynccontextmanager
async def open_engine(plan: Plan, clock: Clock | None = None) -> AsyncIterator[Engine]:
    """Open what a plan asks for, and close it again whatever happens.

    Raises:
        ConfigError: an unknown model, or a budget without a known price.
        JournalError: the journal cannot be used.
    """
    clock = clock or SystemClock()
    backend, name = _open_backend(plan, clock)
    try:
        price = _price_of(plan, backend.traits, name, batch=plan.mode == "batch" and isinstance(backend, BatchBackend))
        journal = _open_journal(plan, clock)
        try:
            began = Began(
                run_id=getattr(journal, "run_id", "memory"),
                model=plan.model,
                max_cost_nano=plan.policy.max_cost_nano,
                settings=plan.settings,
            )
            _refuse_open_batches(plan, journal)
            standing = journal.begin(began)
            ledger = Ledger(ceiling=plan.policy.max_cost_nano, spent=standing.spent_nano)
            window = AdaptiveWindow(plan.policy.max_in_flight, slow_start=_starts_slowly(plan, backend))
            yield Engine(
                plan=plan,
                backend=backend,
                journal=journal,
                gate=Gate(clock=clock, ledger=ledger, rates=plan.policy.rates, window=window),
                clock=clock,
                price=price,
                standing=standing,
                tally=Tally(spent_before_nano=standing.spent_nano, unconfirmed_nano=standing.unconfirmed_nano),
            )
        finally:
            journal.close()
    finally:
        if plan.backend is None:
            await backend.aclose()


def _open_backend(plan: Plan, clock: Clock) -> tuple[Backend, str]:
    if plan.backend is not None:
        return plan.backend, plan.model
    setup = Setup(
        clock=clock,
        max_in_flight=plan.policy.max_in_flight,
        settings=Settings.from_environment(),
        base_url=plan.base_url,
        api_key=plan.api_key,
    )
    return open_backend(plan.model, setup)


def known_price(plan: Plan) -> Price | None:
    """What the plan's model costs, without opening anything; None when it is not known.

    Raises:
        PriceUnknownError: a budget needs a price and there is none.
    """
    traits, name = (plan.backend.traits, plan.model) if plan.backend is not None else traits_of(plan.model)
    return _price_of(plan, traits, name, batch=plan.mode == "batch" and traits.batches)


def _price_of(plan: Plan, traits: Traits, name: str, *, batch: bool) -> Price | None:
    if plan.price is not None:
        return plan.price
    if traits.free:
        return FREE
    price = resolve(name, provider=traits.price_provider, batch=batch)
    if price is None and plan.policy.max_cost_nano is not None:
        raise PriceUnknownError(
            f"the price of {plan.model!r} is not known, so max_cost cannot be kept; state it in dollars per million"
            " tokens: --price IN,OUT (in Python price=(IN, OUT))"
        )
    return price


def _refuse_open_batches(plan: Plan, journal: Journal) -> None:
    """Items that ride in a provider's batch are being paid for: sending them live would pay twice."""
    count = len(journal.open_batches())
    if count and plan.mode == "live":
        raise ConfigError(
            f"{plan.journal} has {count} batches open at the provider; take them up with --mode batch"
            " (mode='batch'), or use another journal"
        )


def _starts_slowly(plan: Plan, backend: Backend) -> bool:
    return backend.traits.limited and plan.policy.rates.rpm is None


def _open_journal(plan: Plan, clock: Clock) -> Journal:
    if plan.journal is None:
        return MemoryJournal()
    if not plan.journal.parent.is_dir():
        raise ConfigError(f"there is no folder {plan.journal.parent} for the journal {plan.journal}")
    if plan.fresh:
        set_aside(plan.journal)
    return SqliteJournal(plan.journal, utc=clock.utc)

"""The one place where concrete parts meet: what a run asks for -> an engine with backend, journal, clock, price."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from batchwork.backends import Setup, open_backend, traits_of
from batchwork.clock import SystemClock
from batchwork.core.errors import ConfigError, JournalError, PriceUnknownError
from batchwork.core.event import Began, Event
from batchwork.core.failure import FailureKind
from batchwork.core.intake import Intake, Work
from batchwork.core.ledger import Ledger
from batchwork.core.outcome import AnyOutcome, Status
from batchwork.core.policy import Policy, RatePolicy
from batchwork.core.ports import Backend, BatchBackend, Checker, Clock, Journal, Standing, Traits
from batchwork.core.price_tables import in_lanes, resolve
from batchwork.core.pricing import FREE, Price
from batchwork.core.rate import AdaptiveWindow
from batchwork.core.stats import Tally
from batchwork.engine.batch_run import BatchRun
from batchwork.engine.gate import Gate
from batchwork.engine.lanes import Lanes
from batchwork.engine.live import LiveRun
from batchwork.engine.opening import open_inputs, reopen_items
from batchwork.engine.parts import Parts
from batchwork.engine.reading import Later, ReadAhead
from batchwork.engine.telling import listener_for
from batchwork.journal import DayBook, FleetingJournal, JournalReader, MemoryJournal, SqliteJournal, set_aside
from batchwork.settings import Settings

_log = logging.getLogger(__name__)
# What a retry takes up: what failed or was deferred, and what an interrupted run or retry left pending.
AGAIN = frozenset({Status.FAILED, Status.DEFERRED, Status.PENDING})
_NEWCOMERS = 0.1  # the share of a service's window that a request which already has calls under way leaves free


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything a run asks for, validated before anything is opened."""

    model: str
    mode: Literal["live", "batch"] = "live"
    policy: Policy = field(default_factory=Policy)
    price: Price | None = None  # stated by the user; None: look it up
    journal: Path | None = None  # None: in memory
    held: Journal | None = None  # one in memory that is gone on with
    fresh: bool = False
    retry_failed: frozenset[FailureKind] = frozenset()  # what has failed in these ways is taken up again, too
    backend: Backend | None = None  # the user's own; None: chosen by the model's name
    base_url: str | None = field(default=None, repr=False)  # there may be a key in it
    api_key: str | None = field(default=None, repr=False)
    checker: Checker | None = None
    on_event: Callable[[Event], None] | None = None
    lanes: Lanes | None = None  # how the input is divided into jobs; made for one run
    keep_bodies: bool = False  # the provider's JSON is kept with every answer, for files of raw results
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
        return self.plan.mode == "batch" and self.backend.traits.batches

    def parts(
        self,
        *,
        on_settled: Callable[[AnyOutcome], None] | None = None,
        has_room: Callable[[], bool] | None = None,
    ) -> Parts:
        """What a pass over an input is made of."""
        return Parts(
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
            lanes=self.plan.lanes,
            keep_bodies=self.plan.keep_bodies,
        )

    def start(
        self,
        *,
        on_settled: Callable[[AnyOutcome], None] | None = None,
        has_room: Callable[[], bool] | None = None,
    ) -> LiveRun | BatchRun:
        """A pass over an input."""
        parts = self.parts(on_settled=on_settled, has_room=has_room)
        if self.uses_batches and isinstance(self.backend, BatchBackend):
            return BatchRun(parts, self.backend, self.tally, run_id=self.standing.run_id)
        return LiveRun(parts, self.tally)

    async def process(self, run: LiveRun | BatchRun, intakes: Iterable[Intake], *, ahead: int = 0) -> None:
        """Read an input and see it through; one that may block is read `ahead` in a thread of its own."""
        if not ahead:
            await run.run(self._opened(intakes))
            return
        rows = ReadAhead(intakes, window=ahead, wake=run.wake)
        try:
            await run.run(self._opened(rows))
        finally:
            await rows.aclose()

    def _opened(self, rows: Iterable[Intake | Later]) -> Iterator[Work | Later | None]:
        again = self.plan.retry_failed
        return open_inputs(self.journal, rows, self.tally, again=again, asks_lost=self.uses_batches)

    async def again(self, run: LiveRun | BatchRun) -> None:
        """Take the journal's failed, deferred and pending items up again."""
        await run.run(reopen_items(self.journal, AGAIN, self.tally, asks_lost=self.uses_batches), is_input=False)


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
        price = _price_of(plan, backend.traits, name, batch=plan.mode == "batch" and backend.traits.batches)
        journal = _open_journal(plan, clock)
        journal.listener = listener_for(plan.on_event)
        try:
            began = Began(
                run_id=getattr(journal, "run_id", "memory"),
                model=plan.model,
                max_cost_nano=plan.policy.max_cost_nano,
                priced=price is not None,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One model of a service: its backend behind its gate, at its price."""

    model: str
    backend: Backend
    gate: Gate
    price: Price | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Opened parts that many requests share: a lane per model, one ledger, one clock.

    Every request makes its own passes with `live`: it is a caller of the gates with its own bound, and keeps nothing.
    """

    plan: Plan
    lanes: dict[str, Lane]
    ledger: Ledger
    clock: Clock
    book: DayBook | None

    def live(
        self,
        model: str,
        *,
        batch_size: int,
        on_settled: Callable[[AnyOutcome], None] | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> LiveRun:
        """A pass of one request over its prompts for one model, with at most `batch_size` calls in flight."""
        lane = self.lanes[model]
        journal = FleetingJournal(self.book)
        journal.listener = listener_for(on_event)
        parts = Parts(
            backend=lane.backend,
            journal=journal,
            gate=lane.gate,
            clock=self.clock,
            policy=_bounded(self.plan.policy, batch_size),
            price=lane.price,
            checker=self.plan.checker,
            on_event=on_event,
            on_settled=on_settled,
        )
        return LiveRun(parts, Tally())

    def turn_page(self) -> None:
        """Begin a new day's budget when there is a new day."""
        if self.book is not None and self.book.turn_page():
            for lane in self.lanes.values():
                lane.gate.money_changed()


@lru_cache(maxsize=1024)
def _bounded(policy: Policy, batch_size: int) -> Policy:
    return replace(policy, max_in_flight=batch_size)


class _SharedLedger(Ledger):
    """A ledger behind several gates: money that comes back at one of them is news for all."""

    __slots__ = ("gates",)

    def __init__(self, *, ceiling: int | None) -> None:
        super().__init__(ceiling=ceiling)
        self.gates: list[Gate] = []

    def settle(self, reserved: int, spent: int) -> None:
        """Give a reservation back, book what was really spent, and let everybody look again."""
        super().settle(reserved, spent)
        if reserved:
            for gate in self.gates:
                gate.money_changed()


@asynccontextmanager
async def open_service(
    plan: Plan,
    *,
    models: Iterable[str] = (),
    book: Path | None = None,
    dress: Callable[[Backend, str], Backend] | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[Service]:
    """Open what many requests share, and close it again whatever happens.

    `plan.model` is served, and `models` beside it. With `book` the plan's `max_cost_nano` is a day's budget that
    the file remembers. `dress` may wrap a backend, for example to trace its calls.

    Raises:
        ConfigError: an unknown model, or a budget without a known price.
        JournalError: the day's book cannot be used.
    """
    clock = clock or SystemClock()
    ledger = _SharedLedger(ceiling=plan.policy.max_cost_nano)
    lanes: dict[str, Lane] = {}
    async with AsyncExitStack() as stack:
        for model in dict.fromkeys((plan.model, *models)):
            own = replace(plan, model=model)
            backend, name = _open_backend(own, clock)
            if plan.backend is None:
                stack.push_async_callback(backend.aclose)
            window = AdaptiveWindow(plan.policy.max_in_flight, slow_start=_starts_slowly(plan, backend))
            gate = Gate(clock=clock, ledger=ledger, rates=plan.policy.rates, window=window, newcomers=_NEWCOMERS)
            price = _price_of(own, backend.traits, name, batch=False)
            dressed = backend if dress is None else dress(backend, name)
            lanes[model] = Lane(model=model, backend=dressed, gate=gate, price=price)
        if len(lanes) > 1:
            ledger.gates.extend(lane.gate for lane in lanes.values())
        day = None if book is None else DayBook(book, ledger=ledger, utc=clock.utc)
        if day is not None:
            stack.push_async_callback(day.aclose)
        yield Service(plan=plan, lanes=lanes, ledger=ledger, clock=clock, book=day)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is known of a plan's calls without opening anything."""

    price: Price | None  # None: not known
    traits: Traits
    batches: bool  # they go through provider batches


def known_terms(plan: Plan) -> Terms:
    """What the plan's calls cost and how they are made.

    Raises:
        PriceUnknownError: a budget needs a price and there is none.
    """
    traits, name = (
        (plan.backend.traits, plan.model) if plan.backend is not None else traits_of(plan.model, plan.base_url)
    )
    batches = plan.mode == "batch" and traits.batches
    price = _price_of(plan, traits, name, batch=batches)
    return Terms(price=price, traits=traits, batches=batches)


def _price_of(plan: Plan, traits: Traits, name: str, *, batch: bool) -> Price | None:
    listed, provider = traits.price_model or name, traits.price_provider
    if plan.price is not None:
        return in_lanes(plan.price, listed, provider=provider)
    if traits.free:
        return FREE
    table = Settings.from_environment().price_table()
    price = None if table is None else table.find(listed, provider=provider, batch=batch)
    if price is not None:
        return in_lanes(price, listed, provider=provider)
    price = resolve(listed, provider=provider, batch=batch)
    if price is None and plan.policy.max_cost_nano is not None:
        raise PriceUnknownError(
            f"the price of {plan.model!r} is not known, so max_cost cannot be kept; state it in dollars per million"
            " tokens: --price IN,OUT (in Python price=(IN, OUT)), or in a file that BATCHWORK_PRICES names"
        )
    return price


def _refuse_open_batches(plan: Plan, journal: Journal) -> None:
    """Items that ride in a provider's batch are being paid for: sending them live would pay twice."""
    count = len(journal.batches.open())
    if count and plan.mode == "live":
        raise ConfigError(
            f"{plan.journal} has {count} batches open at the provider; take them up with --mode batch"
            " (mode='batch'), or use another journal"
        )


def _tell_of_batches(aside: Path) -> None:
    """What a journal that is set aside has at the provider is being paid for: it must not be forgotten with it."""
    with suppress(JournalError), closing(JournalReader(aside)) as reader:  # one that cannot be read cannot tell
        if tickets := reader.open_batches():
            names = ", ".join(ticket.batch_id or "one whose number is not known" for ticket in tickets)
            _log.warning(
                "%s has %d batches open at the provider (%s); `batchwork retry %s` takes them up",
                *(aside, len(tickets), names, aside),
            )


def _starts_slowly(plan: Plan, backend: Backend) -> bool:
    """With limits of its own, and none of them stated."""
    return backend.traits.limited and plan.policy.rates == RatePolicy()


def _open_journal(plan: Plan, clock: Clock) -> Journal:
    if plan.journal is None:
        return plan.held if plan.held is not None else MemoryJournal()
    if not plan.journal.parent.is_dir():
        raise ConfigError(f"there is no folder {plan.journal.parent} for the journal {plan.journal}")
    if plan.fresh and (aside := set_aside(plan.journal)) is not None:
        _tell_of_batches(aside)
    return SqliteJournal(plan.journal, utc=clock.utc)

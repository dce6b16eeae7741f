"""Opens the concrete parts of a plan: backend, journal, gate, clock and price meet here.

Decides which price and which limit hold, that no live run goes over open batches, and how many calls a provider meets
first.
"""

import logging
import math
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from batchwork.backends import Setup, near_models, open_backend, open_embedder, traits_of
from batchwork.clock import LoopClock
from batchwork.core.dsn import Dsn, JournalAddress
from batchwork.core.errors import ConfigError, JournalError, PriceUnknownError
from batchwork.core.event import Began
from batchwork.core.ledger import Ledger
from batchwork.core.money import show, to_dollars
from batchwork.core.policy import RatePolicy
from batchwork.core.ports import Backend, Clock, Journal, SharedJournal, Traits
from batchwork.core.price_tables import in_lanes, resolve
from batchwork.core.pricing import FREE, Price
from batchwork.core.stats import Tally
from batchwork.core.window import AdaptiveWindow
from batchwork.core.words import counted, or_list
from batchwork.engine.accounts import AccountSession
from batchwork.engine.engine import Engine, Supplied
from batchwork.engine.gate import Gate
from batchwork.engine.settler import listener_for
from batchwork.journal import DayBook, MemoryJournal
from batchwork.journals import is_there, open_journal, open_reader, put_aside
from batchwork.plan import Plan
from batchwork.service import ServedModel, Service, SharedLedger
from batchwork.settings import Settings

_log = logging.getLogger(__name__)
_NOTHING = Supplied()
_BEARABLE = 100  # calls at once that an ordinary account bears
_NEWCOMERS = 0.1  # the share of a service's window that a request which already has calls under way leaves free


@asynccontextmanager
async def open_engine(plan: Plan, supplied: Supplied = _NOTHING) -> AsyncIterator[Engine]:
    """Open what a plan asks for, and close it again whatever happens. Raises ConfigError and JournalError."""
    clock = LoopClock()
    kept = with_kept_limit(plan)
    if kept is not plan:
        _log.warning(
            "no limit was given: that of the earlier runs on %s, %s, still holds (--max-cost or max_cost= raises it)",
            *(plan.journal, show(kept.policy.max_cost_nano)),
        )
    plan = kept
    async with AsyncExitStack() as stack:
        accounts = await _open_accounts(plan, clock, stack)
        backend, name = _open_backend(plan, supplied, clock, stack)
        batch = plan.mode == "batch" and backend.traits.batches
        price = _price_of(plan, backend.traits, name, batch=batch, accounts=accounts)
        journal = stack.enter_context(closing(_open_journal(plan, supplied, clock, in_batches=batch)))
        journal.listener = listener_for(supplied.on_event)
        read = msgspec.structs.replace(  # a retry reads what the runs before it have
            supplied.input,
            is_first=not supplied.input.is_retry and not journal.count(),
            is_alone=isinstance(journal, SharedJournal) and not journal.is_shared,
        )
        began = Began(
            run_id=getattr(journal, "run_id", "memory"),
            model=plan.model,
            max_cost_nano=plan.policy.max_cost_nano,
            priced=price is not None,
            settings={**plan.settings, **supplied.remembered},
            input=read,
        )
        _refuse_open_batches(plan, journal)
        standing = journal.begin(began)
        own = await _open_run_account(plan, journal, clock, stack)
        sessions = [session for session in (accounts, own) if session is not None]
        also = tuple(ledger for session in sessions for ledger in session.ledgers)
        ceiling, rates = (plan.policy.max_cost_nano, plan.policy.rates) if own is None else (None, RatePolicy())
        gate = _supplied_by(
            sessions,
            clock=clock,
            ledger=Ledger(ceiling=ceiling, spent=standing.spent_nano, also=also),
            rates=rates,
            window=AdaptiveWindow(plan.policy.max_in_flight, opening=_opening(plan, backend, accounts)),
        )
        yield Engine(
            plan=plan,
            backend=backend,
            journal=journal,
            gate=gate,
            clock=clock,
            policy=plan.policy,
            price=price,
            checker=supplied.checker,
            on_event=supplied.on_event,
            on_settled=supplied.on_settled,
            has_room=supplied.has_room,
            slices=supplied.slices,
            keep_bodies=plan.keep_bodies,
            standing=standing,
            tally=Tally(
                total=supplied.input.total,
                spent_before_nano=standing.spent_nano,
                unconfirmed_nano=standing.unconfirmed_nano,
                started_at=clock.now(),
            ),
        )


async def _open_run_account(plan: Plan, journal: Journal, clock: Clock, stack: AsyncExitStack) -> AccountSession | None:
    """The ceiling and the rates of a run on which several processes work: leased from its journal."""
    if not isinstance(journal, SharedJournal) or not journal.is_shared:
        return None
    from batchwork.postgres.run_account import open_run_account  # noqa: PLC0415 - what it needs is an extra

    assert isinstance(plan.journal, Dsn)
    opened = open_run_account(plan.journal, plan.policy, worker=journal.worker, begins=journal.begins, clock=clock)
    return await stack.enter_async_context(opened)


def with_kept_limit(plan: Plan) -> Plan:
    """The plan with the limit of the latest run on its journal, where it has none: a limit holds over all runs."""
    last = None if plan.policy.max_cost_nano is not None else last_run(plan)
    if last is None or last.max_cost_nano is None:
        return plan
    settings = {**plan.settings, "max_cost": str(to_dollars(last.max_cost_nano))}
    return replace(plan, policy=replace(plan.policy, max_cost_nano=last.max_cost_nano), settings=settings)


def last_run(plan: Plan) -> Began | None:
    """The latest run on the journal that the plan goes on with; what is wrong with it is said when it is opened."""
    address = plan.journal
    if address is None or plan.fresh or not is_there(address):
        return None
    with suppress(JournalError), closing(open_reader(address)) as reader:
        return reader.last_run()
    return None


@asynccontextmanager
async def open_service(
    plan: Plan,
    supplied: Supplied = _NOTHING,
    *,
    models: Iterable[str] = (),
    book: Path | None = None,
    dress: Callable[[Backend, str], Backend] | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[Service]:
    """Open what many requests share, and close it again whatever happens.

    `plan.model` is served, and `models` beside it. With `book` the plan's `max_cost_nano` is a day's budget that
    the file remembers. `dress` may wrap a backend, for example to trace its calls. Raises ConfigError and JournalError.
    """
    clock = clock or LoopClock()
    served: dict[str, ServedModel] = {}
    async with AsyncExitStack() as stack:
        accounts = await _open_accounts(plan, clock, stack)
        ledger = SharedLedger(ceiling=plan.policy.max_cost_nano, also=() if accounts is None else accounts.ledgers)
        shared = [] if accounts is None else [accounts]
        for model in dict.fromkeys((plan.model, *models)):
            own = replace(plan, model=model)
            backend, name = _open_backend(own, supplied, clock, stack)
            opening = _opening(plan, backend, accounts, newcomers=_NEWCOMERS)
            window = AdaptiveWindow(plan.policy.max_in_flight, opening=opening)
            rates = plan.policy.rates
            gate = _supplied_by(shared, clock=clock, ledger=ledger, rates=rates, window=window, newcomers=_NEWCOMERS)
            price = _price_of(own, backend.traits, name, batch=False, accounts=accounts)
            dressed = backend if dress is None else dress(backend, name)
            served[model] = ServedModel(model=model, backend=dressed, gate=gate, price=price)
        if len(served) > 1:
            ledger.gates.extend(each.gate for each in served.values())
        day = None if book is None else DayBook(book, ledger=ledger, utc=clock.utc)
        if day is not None:
            stack.push_async_callback(day.aclose)
        yield Service(
            model=plan.model,
            policy=plan.policy,
            checker=supplied.checker,
            models=served,
            ledger=ledger,
            clock=clock,
            book=day,
        )


async def _open_accounts(plan: Plan, clock: Clock, stack: AsyncExitStack) -> AccountSession | None:
    """The accounts that the plan shares with other processes; given back with the stack."""
    if not plan.accounts:
        return None
    from batchwork.postgres.shared_accounts import open_accounts  # noqa: PLC0415 - what it needs is an extra

    opened = open_accounts(plan.accounts, clock=clock, max_wait_s=plan.policy.max_wait_s)
    return await stack.enter_async_context(opened)


def _supplied_by(sessions: Sequence[AccountSession], **parts: Any) -> Gate:
    """A gate, supplied from what is shared with other processes."""
    gate = Gate(**parts, shared=[session for session in sessions if session.has_rates])
    for session in sessions:
        session.attach(gate)
    return gate


def _open_backend(plan: Plan, supplied: Supplied, clock: Clock, stack: AsyncExitStack) -> tuple[Backend, str]:
    """The user's own backend, or one that is closed with the stack; and what the provider calls the model."""
    if supplied.backend is not None:
        return supplied.backend, plan.model
    setup = Setup(
        clock=clock,
        max_in_flight=plan.policy.max_in_flight,
        settings=Settings.from_environment(),
        base_url=plan.base_url,
        api_key=plan.api_key,
    )
    backend, name = open_backend(plan.model, setup) if plan.task == "ask" else open_embedder(plan.model, setup)
    stack.push_async_callback(backend.aclose)
    return backend, name


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is known of a plan's calls without opening anything."""

    price: Price | None  # None: not known
    traits: Traits
    batches: bool  # they go through provider batches


def known_terms(plan: Plan) -> Terms:
    """What the plan's calls cost and how they are made. PriceUnknownError: a budget needs a price and there is none."""
    traits, name = traits_of(plan.model, plan.base_url)
    batches = plan.mode == "batch" and traits.batches
    price = _price_of(plan, traits, name, batch=batches)
    return Terms(price=price, traits=traits, batches=batches)


def _price_of(
    plan: Plan, traits: Traits, name: str, *, batch: bool, accounts: AccountSession | None = None
) -> Price | None:
    listed, provider = traits.price_model or name, traits.price_provider
    if plan.price is not None:
        return in_lanes(plan.price, listed, provider=provider)
    if traits.free:
        return FREE
    table = Settings.from_environment().price_table()
    price = None if table is None else table.find(listed, provider=provider, batch=batch)
    if price is not None:
        return in_lanes(price, listed, provider=provider)
    price = resolve(listed, provider=provider, batch=batch, has_output=plan.task == "ask")
    ledgers = () if accounts is None else accounts.ledgers
    if price is None and (plan.policy.max_cost_nano is not None or ledgers):
        meant = near_models(plan.model)
        limit = "max_cost" if not ledgers else f"the shared account {ledgers[0].name!r}"
        raise PriceUnknownError(
            f"the price of {plan.model!r} is not known, so {limit} cannot be kept"
            + (f"; did you mean {or_list(meant)}? If not," if meant else ";")
            + " state it in dollars per million"
            " tokens: --price IN,OUT (in Python price=(IN, OUT)), or in a file that BATCHWORK_PRICES names"
        )
    return price


def _refuse_open_batches(plan: Plan, journal: Journal) -> None:
    """Items that ride in a provider's batch are being paid for: sending them live would pay twice."""
    count = len(journal.batches.open())
    if count and plan.mode == "live":
        raise ConfigError(
            f"{plan.journal} has {counted(count, 'batch', 'batches')} open at the provider; to go on, take"
            f" --mode batch (mode='batch'); `batchwork cancel {plan.journal}` gives them up; or use another journal"
        )


def _tell_of_batches(aside: JournalAddress) -> None:
    """What a journal that is set aside has at the provider is being paid for: it must not be forgotten with it."""
    with suppress(JournalError), closing(open_reader(aside)) as reader:  # one that cannot be read cannot tell
        if tickets := reader.open_batches():
            names = ", ".join(ticket.batch_id or "one whose number is not known" for ticket in tickets)
            _log.warning(
                "%s has %s open at the provider (%s); `batchwork retry %s` takes them up",
                *(aside, counted(len(tickets), "batch", "batches"), names, aside),
            )


def _opening(plan: Plan, backend: Backend, accounts: AccountSession | None, *, newcomers: float = 0.0) -> int | None:
    """How many calls a provider meets at first that has limits of its own, none of them stated; None: all that may be.

    A share of a service's window is kept for newcomers: beside it one request finds the whole opening.
    """
    has_rates = plan.policy.rates != RatePolicy() or (accounts is not None and accounts.has_rates)
    if not backend.traits.limited or has_rates:
        return None
    return math.ceil(_BEARABLE / (1.0 - newcomers))


def _open_journal(plan: Plan, supplied: Supplied, clock: Clock, *, in_batches: bool) -> Journal:
    if plan.journal is None:
        return supplied.journal if supplied.journal is not None else MemoryJournal()
    if isinstance(plan.journal, Path) and not plan.journal.parent.is_dir():
        raise ConfigError(f"there is no folder {plan.journal.parent} for the journal {plan.journal}")
    if plan.fresh and (aside := put_aside(plan.journal)) is not None:
        _log.warning("the journal as it was is %s", aside)
        _tell_of_batches(aside)
    return open_journal(
        plan.journal,
        utc=clock.utc,
        max_wait_s=plan.policy.max_wait_s,
        shares=plan.shares,
        joins=plan.joins,
        follows=plan.follows,
        in_batches=in_batches,
        shared_input=plan.shared_input,
        holds_vectors=plan.task == "embed",
    )

"""run, arun, stream, astream: many prompts in, outcomes out."""

import asyncio
import logging
import queue
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from batchwork._bridge import BackgroundLoop, run_sync, show_as
from batchwork.core.dsn import JournalAddress
from batchwork.core.errors import Interrupted
from batchwork.core.event import RunInput
from batchwork.core.outcome import AnyOutcome, Outcome
from batchwork.core.stats import account
from batchwork.engine.engine import Engine
from batchwork.input_source import InputSource, input_source
from batchwork.journals import named_journal, open_reader
from batchwork.notebook import in_notebook
from batchwork.options import RunOptions, plan_of, supplied_of
from batchwork.plan import Plan
from batchwork.results import Results, typed_outcome
from batchwork.run_session import RunSession

if TYPE_CHECKING:
    from batchwork.display import Display

_log = logging.getLogger(__name__)
_STREAM_AHEAD = 1000  # outcomes a consumer may lag behind before the run waits for it


def run(prompts: object, **options: Unpack[RunOptions]) -> Results:
    """Ask a model every prompt; the outcomes in input order.

    `prompts` is any iterable of strings, message lists, dicts or `Request`s; or, with `prompt=`, a table: a data frame
    (pandas, polars), an Arrow table or dataset, a Hugging Face dataset, a list of dicts. What is not a collection (a
    generator, a dataset) is read lazily, at most a window ahead, in a thread of its own: it may block without holding
    up anything.

    Options:
        model: `backend:name`, for example `"mock:echo"`. Required.
        mode: `"live"`, or `"batch"` for the provider's batches: half the price, within a day. A backend without
            batches runs live. `items_per_batch`, `max_parallel_batches` (5), `poll_interval` (5 s, growing to 60),
            `adopt_wait` (120 s: how long a batch whose creation got no clear answer is looked for), `results_wait`
            (900 s: how long the results of an ended batch may stay unreadable), `cancel_on_interrupt` go with it.
        base_url, api_key: another server that speaks the backend's wire, and its key. backend: one of your own.
        prompt: what is asked about each row of a table, with its columns in braces: `"Where is {city}?"`. template: the
            same as a file in the language of Jinja. per_row: the columns that hold a row's own options, for example
            `{"max_tokens": "limit", "temperature": "t", "system": "role"}`; an empty cell leaves it to the run.
        system, max_tokens (1024), schema, sampling, extra_body: what every request has unless it says otherwise.
        response_model: a Pydantic model that every answer must fit; `outcome.parsed` is an instance of it.
        max_in_flight (100): the most calls at once.
        max_cost: a ceiling in dollars over all runs on the journal; what no longer fits is `deferred`. Left out, that
            of the run before on the journal holds.
        account: the name of a shared account, or several: their budgets and rates hold for every process that names
            them, whatever its journal (`batchwork account set`; `BATCHWORK_SHARED` names their database).
        price: dollars per million tokens as `(input, output)`, where the price is not known or is another.
        rpm, input_tpm, output_tpm: rate limits per minute; what the provider reports is learned anyway.
        retries (5): how often a call that failed (500, timeout, cut connection) is sent again. max_wait (900 s): how
            long a refused item (429, 503, 529) is tried again from its first refusal on, and a quota is waited for.
        timeout (600 s a call; `timeout_per_1k_chars` adds seconds for every 1,000 of its prompt),
            max_consecutive_failures (10), reask (1),
            count_margin (0.05: what is added to a provider's count of tokens before `max_cost` trusts it).
        journal: a file that remembers everything, or a database, postgresql://HOST/DB?journal=NAME (the extra
            `postgres`); running again on it goes on. None keeps it in memory.
        fresh: set an existing journal aside under a new name and start anew.
        retry_in_place: what waits to be tried again keeps its place among `max_in_flight`; nothing starts instead.
        retry_failed: send what failed in an earlier run on the journal again, too; or only these kinds of failure.
        on_event: called with every event after it is recorded, with an outcome once it is on disk.
        notify: an address that gets a JSON notice by POST, or a command that gets it on its standard input: at the end,
            at a pause, at 50, 80 and 100% of `max_cost`. It is kept nowhere, and a notice that fails fails no run.
        progress: show on standard error how far the run is, and for what it waits; in a notebook it is shown unless
            you say False.
        view: show the run in a browser page while it goes on; its address is printed on standard error. Needs
            `journal=` and the extra `view`; `batchwork view JOURNAL` shows the same later.

    Raises:
        ConfigError: an option is wrong; nothing was sent.
        RunPaused: the breaker ended the run; its `.results` has what there is.
        KeyboardInterrupt: after a clean stop.
    """
    plan, given = _prepared(prompts, options)
    with _displayed(options) as display:
        session = _session(plan, given, options, on_open=None if display is None else display.opened)
        interrupt = session.interrupt if display is None else partial(session.interrupt_aloud, display.say)
        try:
            return run_sync(session.execute, interrupt=interrupt)
        except Interrupted:
            raise session.stopped() from None


def open_results(journal: str | JournalAddress, *, response_model: Any = None) -> Results:
    """What the runs on a journal have come to so far, whether or not they came to their end; nothing is sent.

    The output file of a run or the state file of a manager stand for the journal beside them. With `response_model`
    the answers are instances of it, as they were for the run.

    Raises:
        JournalError: there is no journal at that path, or it cannot be read.
    """
    reader = open_reader(named_journal(journal))
    last = reader.last_run()
    priced = last is not None and last.priced
    return Results(reader, accounting=account(reader.counts()), stopped=None, priced=priced, model=response_model)


async def arun(prompts: object, **options: Unpack[RunOptions]) -> Results:
    """The same as `run`, for asyncio."""
    plan, given = _prepared(prompts, options)
    with _displayed(options) as display:
        session = _session(plan, given, options, on_open=None if display is None else display.opened)
        try:
            return await session.execute()
        except asyncio.CancelledError as error:  # in a notebook, an interrupt
            show_as(error, session.how_to_go_on())
            raise


async def astream(prompts: object, **options: Unpack[RunOptions]) -> AsyncIterator[Outcome]:
    """Outcomes as they settle, whatever their order; `outcome.index` says which prompt it belongs to.

    What an earlier run on the journal has settled is not repeated.
    """
    ready: deque[AnyOutcome] = deque()
    changed = asyncio.Event()

    def take(outcome: AnyOutcome) -> None:
        ready.append(outcome)
        changed.set()

    session = _session(
        *_prepared(prompts, options), options, on_settled=take, has_room=lambda: len(ready) < _STREAM_AHEAD
    )
    task = asyncio.create_task(session.execute())
    task.add_done_callback(lambda _: changed.set())
    try:
        while not task.done() or ready:
            await changed.wait()
            changed.clear()
            while ready:
                yield typed_outcome(ready.popleft(), options.get("response_model"))
                session.wake()
        (await task).close()
    except asyncio.CancelledError as error:
        show_as(error, session.how_to_go_on())
        raise
    finally:
        if not task.done():
            session.interrupt()
            await asyncio.wait([task])
            task.exception()  # an abandoned stream has nobody to tell


def stream(prompts: object, **options: Unpack[RunOptions]) -> Iterator[Outcome]:
    """The same as `astream`, from synchronous code: the run goes on while the consumer works."""
    ready: queue.SimpleQueue[AnyOutcome | None] = queue.SimpleQueue()
    has_room = lambda: ready.qsize() < _STREAM_AHEAD  # noqa: E731
    session = _session(*_prepared(prompts, options), options, on_settled=ready.put, has_room=has_room)
    return _drain(session, ready, options.get("response_model"))


def _drain(session: RunSession, ready: queue.SimpleQueue[AnyOutcome | None], model: Any) -> Iterator[Outcome]:
    async def work() -> Results:
        try:
            return await session.execute()
        finally:
            ready.put(None)

    background = BackgroundLoop(work)
    ended = False
    try:
        background.pass_on_early(session.interrupt)
        while not ended:
            try:
                outcome = ready.get()
            except KeyboardInterrupt:
                background.call(session.interrupt)
                continue
            ended = outcome is None
            if outcome is not None:
                yield typed_outcome(outcome, model)
                background.call(session.wake)
    finally:
        if not ended:
            background.call(session.interrupt)
            background.wait()
    try:
        background.result(session.interrupt).close()
    except Interrupted:
        raise session.stopped() from None


def _prepared(prompts: object, options: RunOptions) -> tuple[Plan, InputSource]:
    """What a run follows and what it reads; a ConfigError where either makes no sense."""
    return plan_of(options), input_source(prompts, options)


@contextmanager
def _displayed(options: RunOptions) -> Iterator["Display | None"]:
    """A display of the run, where progress is asked for; in a notebook, unless it is refused."""
    wanted = options.get("progress")
    if not (in_notebook() if wanted is None else wanted):
        yield None
        return
    from batchwork.display import Display  # noqa: PLC0415 (rich takes longer to import than all the rest of a small run)

    display = Display()
    try:
        yield display
    finally:
        display.closed()


def _session(
    plan: Plan,
    given: InputSource,
    options: RunOptions,
    *,
    on_open: Callable[[Engine], None] | None = None,
    on_settled: Callable[[AnyOutcome], None] | None = None,
    has_room: Callable[[], bool] | None = None,
) -> RunSession:
    """A run over what is given. What is all there cannot block; anything lazier may, and is read apart."""
    return RunSession(
        replace(plan, shares=on_settled is None),  # whoever takes outcomes as they come would miss those of others
        given.rows,
        replace(supplied_of(options), input=RunInput(total=given.total), on_settled=on_settled, has_room=has_room),
        on_open=on_open,
        ahead=plan.policy.max_in_flight if given.may_block else 0,
    )

"""run, arun, stream, astream: many prompts in, outcomes out."""

import asyncio
import logging
import queue
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from batchwork._bridge import BackgroundLoop, clean_stop, run_sync
from batchwork.assembly import open_engine
from batchwork.core.errors import BatchworkError, Interrupted, JournalError, RunPaused
from batchwork.core.event import RunInput
from batchwork.core.failure import FailureKind
from batchwork.core.intake import InputRow
from batchwork.core.outcome import AnyOutcome, Outcome
from batchwork.core.stats import Accounting, account
from batchwork.core.words import IN_MEMORY, PYTHON, Door, counted
from batchwork.engine.engine import Engine, Supplied
from batchwork.engine.run import Run
from batchwork.input_source import InputSource, input_source
from batchwork.journal import JournalReader, journal_at
from batchwork.notebook import in_notebook
from batchwork.notify import Notifier
from batchwork.options import HIDDEN_ADDRESS, RunOptions, plan_of, supplied_of
from batchwork.plan import Plan
from batchwork.results import Results, typed_outcome
from batchwork.view_process import ViewProcess

if TYPE_CHECKING:
    from batchwork.display import Display

_log = logging.getLogger(__name__)
# What a wrong address brings about: a rerun with another one asks these again.
_FROM_AN_ADDRESS = frozenset(
    {FailureKind.REJECTED, FailureKind.CONNECTION, FailureKind.SERVER, FailureKind.AUTH, FailureKind.TIMEOUT}
)
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
        price: dollars per million tokens as `(input, output)`, where the price is not known or is another.
        rpm, input_tpm, output_tpm: rate limits per minute; what the provider reports is learned anyway.
        retries (5): how often a call that failed (500, timeout, cut connection) is sent again. max_wait (900 s): how
            long a refused item (429, 503, 529) is tried again from its first refusal on, and a quota is waited for.
        timeout (600 s a call; `timeout_per_1k_chars` adds seconds for every 1,000 of its prompt),
            max_consecutive_failures (10), reask (1),
            count_margin (0.05: what is added to a provider's count of tokens before `max_cost` trusts it).
        journal: a file that remembers everything; running again on it goes on. None keeps it in memory.
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


def open_results(journal: str | Path, *, response_model: Any = None) -> Results:
    """What the runs on a journal have come to so far, whether or not they came to their end; nothing is sent.

    The output file of a run or the state file of a manager stand for the journal beside them. With `response_model`
    the answers are instances of it, as they were for the run.

    Raises:
        JournalError: there is no journal at that path, or it cannot be read.
    """
    reader = JournalReader(journal_at(Path(journal)))
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
        except asyncio.CancelledError:  # in a notebook, an interrupt
            if display is not None:
                display.say(session.how_to_go_on())
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


def _drain(session: "RunSession", ready: queue.SimpleQueue[AnyOutcome | None], model: Any) -> Iterator[Outcome]:
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


class RunSession:
    """One run, from opening its parts to handing back its results. The doors differ only in who watches."""

    def __init__(
        self,
        plan: Plan,
        source: Iterable[InputRow] | None,
        supplied: Supplied,
        *,
        retry_failed: frozenset[FailureKind] | None = None,
        on_open: Callable[[Engine], None] | None = None,
        ahead: int = 0,
        door: Door | None = None,
        if_empty: str = "the input is empty",
    ) -> None:
        self._if_empty = if_empty  # what is said of an input without rows
        self._door = door or (IN_MEMORY if plan.journal is None else PYTHON)
        self._plan = plan
        self._source = source  # None: the journal's own failed and deferred items
        self._supplied = supplied
        self._retry_failed = plan.retry_failed if retry_failed is None else retry_failed
        self._on_open = on_open
        self._ahead = ahead  # how far a source that may block is read in a thread of its own; 0: in the loop
        self.engine: Engine | None = None  # once it is open
        self.still_running: list[str] = []  # the batches that go on at the provider after an interruption
        self._cancelled = False
        self._run: Run | None = None
        self._interrupts = 0
        self._viewer = ViewProcess(plan.journal) if supplied.view else None
        about = {"model": plan.model, "journal": None if plan.journal is None else str(plan.journal)}
        self._notifier = None if supplied.notify is None else Notifier(supplied.notify, about)

    async def execute(self) -> Results:
        """Run to the end. RunPaused: the breaker ended it. Interrupted: it was interrupted, and has stopped cleanly."""
        if self._notifier is None:
            return await self._execute()
        try:
            results = await self._execute()
        except BatchworkError as error:
            await self._notifier.broke_off(error, at_once=self.left_at_once)
            raise
        await self._notifier.closed(results.stopped)
        return results

    async def _execute(self) -> Results:
        elsewhere = _FROM_AN_ADDRESS if self._source is not None and self._has_moved() else frozenset()
        async with AsyncExitStack() as stack:
            if self._viewer is not None:
                stack.push_async_callback(asyncio.to_thread, self._viewer.close)
            engine = await stack.enter_async_context(open_engine(self._plan, self._supplied))
            self.engine = engine
            run = self._run = engine.start()
            if self._notifier is not None:
                self._notifier.opened(
                    engine.tally,
                    engine.clock,
                    engine.journal,
                    ceiling_nano=engine.gate.ledger.ceiling,
                    priced=engine.price is not None,
                    total=self._supplied.input.total,
                )
            if self._viewer is not None:
                self._viewer.start()
            if self._on_open is not None:
                self._on_open(engine)
            try:
                accounting = await self._see_through(engine, run, self._retry_failed | elsewhere)
            finally:
                if self._notifier is not None:
                    self._notifier.take_stock()
        if run.interrupted and not self._cancelled:
            raise Interrupted("the run was interrupted; what is finished is kept")
        source = engine.journal if self._plan.journal is None else JournalReader(self._plan.journal)
        stopped = "cancelled" if self._cancelled else run.stopped
        model = self._supplied.response_model
        results = Results(source, accounting=accounting, stopped=stopped, priced=engine.price is not None, model=model)
        if run.pause is not None:
            raise RunPaused(results=results, **run.pause.at(self._door))
        return results

    async def _see_through(self, engine: Engine, run: Run, retry_failed: frozenset[FailureKind]) -> Accounting:
        """Let the run do its work; where everything is then."""
        for _ in range(self._interrupts):
            run.interrupt()
        if self._cancelled:
            self.cancel()
        before = engine.journal.count() if self._source is None else 0
        if self._source is None and self._cancelled:
            await run.run(iter(()), is_input=False)
        elif self._source is None:
            await engine.again(run)
        else:
            await engine.process(run, self._source, ahead=self._ahead, retry_failed=retry_failed)
        if self._source is not None and self.exhausted and not engine.tally.read:
            _log.warning("%s: nothing was asked", self._if_empty)
        self.still_running = run.still_running
        return self._account(engine, before)

    def _has_moved(self) -> bool:
        """Whether the last run on the journal had another address, by which what failed there may have failed."""
        path = self._plan.journal
        if path is None or self._plan.fresh or not path.exists():
            return False
        with suppress(JournalError), closing(JournalReader(path)) as reader:  # what is wrong is said when it is opened
            last = reader.last_run()
            return last is not None and any(
                last.settings.get(name) != self._plan.settings.get(name) for name in ("base_url", HIDDEN_ADDRESS)
            )
        return False

    def _account(self, engine: Engine, before: int) -> Accounting:
        """Where every input is; what this run has read must be there, also when it has ended early."""
        counts, read = engine.journal.counts(), engine.tally.read
        if self._source is None:
            return account(counts, inputs=before)
        if self.exhausted:
            return account(counts, inputs=read)
        account(engine.journal.counts(below=read), inputs=read)
        return account(counts)

    @property
    def exhausted(self) -> bool:
        """The input was read to its end."""
        return self._run is not None and self._run.exhausted

    @property
    def left_at_once(self) -> bool:
        """It was interrupted a second time."""
        return self._interrupts > 1

    def interrupt(self) -> None:
        """Stop cleanly; called twice, stop at once."""
        self._interrupts += 1
        if self._run is not None:
            self._run.interrupt()

    def interrupt_aloud(self, say: Callable[[str], None]) -> None:
        """Interrupt it, and say what the first time does and what a second one would."""
        self.interrupt()
        if self.engine is None or self.left_at_once:
            return
        one, many = "call in flight is let finish", "calls in flight are let finish"
        if self.engine.uses_batches:
            one, many = "item at the provider goes on there", "items at the provider go on there"
            if self._plan.policy.batch.cancel_on_interrupt:
                one, many = "item at the provider is cancelled", "items at the provider are cancelled"
        kept = counted(self.engine.tally.in_flight, one, many)
        say(f"stopping: {kept}, press Ctrl-C again to leave at once")

    def stopped(self) -> KeyboardInterrupt:
        """What a synchronous door raises after an interruption: it says what is kept and how to go on."""
        return clean_stop(self.how_to_go_on())

    def how_to_go_on(self) -> str:
        """What is kept after an interruption, and how to go on."""
        text = f"stopped: {self._door.kept}; to go on, {self._door.again}"
        if left := self.still_running:
            named = ", ".join(left[:5]) + (", ..." if len(left) > 5 else "")
            text += f" ({counted(len(left), 'batch goes', 'batches go')} on at the provider meanwhile: {named})"
        return text

    def cancel(self) -> None:
        """Give up what is not finished, at the provider too; what is finished is kept. Called inside the loop."""
        self._cancelled = True
        if self._run is not None:
            self._run.cancel()

    def wake(self) -> None:
        """Whoever takes the outcomes can take more."""
        if self._run is not None:
            self._run.wake()


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
        plan,
        given.rows,
        replace(supplied_of(options), input=RunInput(total=given.total), on_settled=on_settled, has_room=has_room),
        on_open=on_open,
        ahead=plan.policy.max_in_flight if given.may_block else 0,
    )

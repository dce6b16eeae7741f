"""The run behind every door: it opens the engine, runs, is interrupted or cancelled, and hands back results."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import chain

from batchwork._bridge import clean_stop
from batchwork.assembly import last_run, open_engine
from batchwork.core.errors import BatchworkError, DatabaseAwayError, Interrupted, JournalFencedError, RunPaused
from batchwork.core.failure import FailureKind
from batchwork.core.intake import InputRow
from batchwork.core.stats import Accounting, account
from batchwork.core.words import IN_MEMORY, PYTHON, Door, counted
from batchwork.engine.engine import Engine, Supplied
from batchwork.engine.run import Run
from batchwork.journals import open_reader
from batchwork.notify import Notifier
from batchwork.options import HIDDEN_ADDRESS
from batchwork.plan import Plan
from batchwork.results import Results
from batchwork.view_process import ViewProcess

_log = logging.getLogger(__name__)
_MOST_REJOINS = 3  # in a row, without an item settled in between
# What a wrong address brings about: a rerun with another one asks these again.
_FROM_AN_ADDRESS = frozenset(
    {FailureKind.REJECTED, FailureKind.CONNECTION, FailureKind.SERVER, FailureKind.AUTH, FailureKind.TIMEOUT}
)


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
        self._has_helped = False  # what has failed meanwhile has failed in this run
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
        try:
            return await self._carried_out()
        except DatabaseAwayError as error:
            if self.engine is None:  # nothing was begun
                raise
            remedy = (
                f"When the database is back, {self._door.again}: what is recorded there is kept, and calls whose"
                " answers are not written are booked at their worst case and asked again."
            )
            raise RunPaused(reason=str(error), remedy=remedy, cause="journal") from error

    async def _carried_out(self) -> Results:
        """Help whoever reads the input, if somebody does; then everything is gone through here.

        Whoever was taken over while it was away joins again, if it can read its input once more.
        """
        rejoins, before = 0, None
        while True:
            try:
                if (results := await self._one_pass()) is not None:
                    return results
            except JournalFencedError as error:
                engine, before = None if self.engine is before else self.engine, self.engine
                has_worked = engine is not None and sum(engine.tally.settled.values()) > 0
                rejoins = 1 if has_worked else rejoins + 1
                if rejoins > _MOST_REJOINS or not self._can_go_on(engine):
                    raise
                _log.warning("%s; this process joins again", error)
            self._has_helped = True

    def _can_go_on(self, engine: Engine | None) -> bool:
        """Whether another pass can follow one that was cut off: an input that it has begun to read must be there."""
        has_read = engine is not None and not engine.is_helper and engine.tally.read > 0
        if self._interrupts or self._cancelled or not self._plan.shares:
            return False
        if self._plan.shared_input is not None:  # whoever hands in its rows joins anew, under another name
            return False
        return self._source is None or not has_read or _is_repeatable(self._source)

    async def _one_pass(self) -> Results | None:
        """One pass over the input, or None: over what another process has placed of it."""
        elsewhere = _FROM_AN_ADDRESS if self._source is not None and self._has_moved() else frozenset()
        async with AsyncExitStack() as stack:
            if self._viewer is not None:
                stack.push_async_callback(asyncio.to_thread, self._viewer.close)
            plan = replace(self._plan, follows=self._has_helped)
            engine = await stack.enter_async_context(open_engine(plan, self._supplied))
            self.engine = engine
            run = self._run = engine.start()
            if self._notifier is not None:
                self._notifier.opened(
                    engine.tally,
                    engine.clock,
                    engine.journal,
                    ceiling_nano=engine.policy.max_cost_nano,
                    priced=engine.price is not None,
                    total=self._supplied.input.total,
                )
            if self._viewer is not None:
                self._viewer.start()
            if self._on_open is not None:
                self._on_open(engine)
            try:
                again = frozenset() if self._has_helped else self._retry_failed | elsewhere
                accounting = await self._see_through(engine, run, again)
            finally:
                if self._notifier is not None:
                    self._notifier.take_stock()
        if engine.is_helper and not self._plan.joins and run.stopped in (None, "budget"):
            return None
        if run.interrupted and not self._cancelled:
            raise Interrupted("the run was interrupted; what is finished is kept")
        source = engine.journal if self._plan.journal is None else open_reader(self._plan.journal)
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
        if engine.is_helper:
            await engine.help(run, first_row=self._first_row())
            self.still_running = run.still_running
            return account(engine.journal.counts())
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

    def _first_row(self) -> bytes | None:
        """The first row of an input that cannot block, which is read again with the others."""
        if self._source is None or self._ahead or self._has_helped:
            return None
        rows = iter(self._source)
        first = next(rows, None)
        if first is not None and not _is_repeatable(self._source):
            self._source = chain((first,), rows)
        return None if first is None else first.fingerprint

    def _has_moved(self) -> bool:
        """Whether the last run on the journal had another address, by which what failed there may have failed."""
        last = last_run(self._plan)
        return last is not None and any(
            last.settings.get(name) != self._plan.settings.get(name) for name in ("base_url", HIDDEN_ADDRESS)
        )

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


def _is_repeatable(source: Iterable[InputRow]) -> bool:
    """Whether an input begins anew each time it is gone through; an iterator goes on."""
    return iter(source) is not iter(source)

"""One of several workers on the rows of a table that nobody sees as a whole: rows come in batches, answers go back.

The worker places the rows that it gets in a shared journal, works on whatever is placed there, and answers a batch when
all of it is settled, by whomever.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import msgspec

from batchwork.clock import SystemClock
from batchwork.core.block import RUN, SharedInput
from batchwork.core.errors import BatchworkError, ConfigError, DatabaseAwayError, JournalFencedError, RunPaused
from batchwork.core.intake import Intake, KeyedRow
from batchwork.core.outcome import Outcome
from batchwork.core.words import PYTHON
from batchwork.engine.engine import Engine, Supplied
from batchwork.plan import Plan
from batchwork.results import outcome_of
from batchwork.run_session import RunSession
from batchwork.tables import RESULT_TYPES, RowRequests, result_columns, result_values, table_of
from batchwork.tables.arrow import pyarrow

if TYPE_CHECKING:
    import pyarrow as pa

    from batchwork.postgres.keyed_journal import KeyedJournal

_LOOK_S = 0.2  # between two looks at the journal
_OFFER_LOOKS = 50  # after so many, what nobody works on is offered again
_END_S = 20.0  # for a worker to end cleanly


class RowWorker:
    """One worker of the run, from its first batch of rows to `end`."""

    def __init__(self, plan: Plan, supplied: Supplied, requests: RowRequests, *, key: str | None = None) -> None:
        assert plan.shared_input is not None
        self._plan, self._requests, self._key = plan, requests, key
        self._part = plan.shared_input
        self._supplied = replace(supplied, remembered={RUN: self._part.run})
        self._clock = SystemClock()
        self._session: RunSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work: asyncio.Task[None] | None = None
        self._journal: asyncio.Future[KeyedJournal] | None = None
        self._waiting = 0

    async def answer(self, batch: "pa.Table") -> "pa.Table":
        """The batch with its results beside it."""
        check_columns(self._requests, batch.column_names, self._key)
        rows = self._rows(batch)
        outcomes = await self._answers(rows) if rows else []
        return _with_results(batch, outcomes, has_answers=self._requests.has_schema)

    def _rows(self, batch: "pa.Table") -> list[KeyedRow]:
        # The journal keeps what was asked, and not what else the dataset has.
        named = [name for name in batch.column_names if name == self._key or name in self._requests.columns]
        intakes = self._requests.intakes(table_of(batch.select(named)))
        return [_keyed(intake, self._key) for intake in intakes]

    async def _answers(self, rows: Sequence[KeyedRow]) -> list[Outcome]:
        """The outcome of each row, whoever gets it; where this worker cannot go on, its error."""
        journal = await self._started()
        self._waiting += 1
        try:
            looks, since = 0, self._clock.now()
            items: list[int] = []
            while True:
                if self._work is None or self._work.done():
                    journal, looks = await self._started(), 0
                try:
                    if looks % _OFFER_LOOKS == 0:
                        items = await journal.place_all(rows)
                    found = await journal.settled(list(set(items)))
                    looks, since = looks + 1, self._clock.now()
                except DatabaseAwayError:
                    if self._clock.now() - since >= self._plan.policy.max_wait_s:
                        raise
                    found = None
                if found is not None:
                    outcomes = {entry.item: outcome_of(entry) for entry in found}
                    return [outcomes[item] for item in items]
                await self._clock.sleep(_LOOK_S)
        finally:
            self._waiting -= 1

    async def _started(self) -> "KeyedJournal":
        """The journal, in which this worker is at work. One that was taken for dead while it was stopped joins anew."""
        journal, work = self._journal, self._work
        if journal is None or work is None or (work.done() and _was_taken_for_dead(work)):
            journal, work = self._join(is_first=journal is None)
        either: list[asyncio.Future[Any]] = [journal, work]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            raise self._ended()
        return journal.result()

    def _join(self, *, is_first: bool) -> "tuple[asyncio.Future[KeyedJournal], asyncio.Task[None]]":
        if not is_first:  # under another name: whoever has this one now keeps it
            self._part = SharedInput(run=self._part.run, worker=f"{self._part.worker}+")
        plan = replace(self._plan, shared_input=self._part)
        self._session = RunSession(plan, None, self._supplied, on_open=self._opened)
        self._loop = asyncio.get_running_loop()
        self._journal, self._work = self._loop.create_future(), asyncio.create_task(_execute(self._session))
        return self._journal, self._work

    def _opened(self, engine: Engine) -> None:
        assert self._journal is not None
        self._journal.set_result(cast("KeyedJournal", engine.journal))

    def _ended(self) -> BatchworkError:
        """Why this worker works no more, in a form that can travel."""
        error = None if self._work is None or self._work.cancelled() else self._work.exception()
        if isinstance(error, BatchworkError) and not isinstance(error, RunPaused):
            return error
        return BatchworkError("the worker has ended" if error is None else str(error))

    def end(self) -> None:
        """Finish what is under way, and leave; for a thread beside the loop."""
        loop, work = self._loop, self._work
        if loop is not None and work is not None and not work.done() and loop.is_running():
            asyncio.run_coroutine_threadsafe(self._end(), loop).result(2 * _END_S)

    async def _end(self) -> None:
        assert self._work is not None
        assert self._session is not None
        if self._waiting or self._journal is None or not self._journal.done():
            self._session.interrupt()
        else:
            self._journal.result().end_input()
        if not (await asyncio.wait([self._work], timeout=_END_S))[0]:
            self._session.interrupt()
            self._session.interrupt()
            await asyncio.wait([self._work], timeout=_END_S / 2)


def _was_taken_for_dead(work: asyncio.Task[None]) -> bool:
    return not work.cancelled() and isinstance(work.exception(), JournalFencedError)


async def _execute(session: RunSession) -> None:
    (await session.execute()).close()


def check_columns(requests: RowRequests, names: Sequence[str], key: str | None) -> None:
    """Refuse, by a ConfigError, a dataset of these columns that lacks what is asked for, or the key."""
    table = table_of(pyarrow().table({name: [] for name in names}))
    table.name = "the dataset"
    requests.check(table, door=PYTHON)
    if key is not None and key not in names:
        raise ConfigError(
            f"key names the column {key!r}, which the dataset does not have. Columns there are: {', '.join(names)}."
        )


def _keyed(intake: Intake, key: str | None) -> KeyedRow:
    """The row under its key; one whose key is empty is bad."""
    if key is None:
        return KeyedRow(
            fingerprint=intake.fingerprint, request=intake.request, columns=intake.columns, problem=intake.problem
        )
    value = (intake.columns or {}).get(key)
    if value is None:
        intake = Intake.bad(f"the key, column {key!r}, is empty", intake.columns)
    return KeyedRow.of(intake, value)


def _with_results(batch: "pa.Table", outcomes: Sequence[Outcome], *, has_answers: bool) -> "pa.Table":
    """The columns of the batch, under names that are free, and ours."""
    pa = pyarrow()
    kinds = {int: pa.int64(), float: pa.float64(), str: pa.string()}
    names = (*RESULT_TYPES, "parsed") if has_answers else tuple(RESULT_TYPES)
    columns = result_columns(batch.column_names, names)
    values = [result_values(outcome) for outcome in outcomes]
    out = batch.rename_columns([columns.renamed.get(name, name) for name in batch.column_names])
    for name, kind in RESULT_TYPES.items():
        out = out.append_column(name, pa.array([row[name] for row in values], kinds[kind]))
    if has_answers:
        answers = [outcome.value for outcome in outcomes]
        texts = [None if each is None else msgspec.json.encode(each).decode() for each in answers]
        out = out.append_column("parsed", pa.array(texts, pa.string()))
    return out

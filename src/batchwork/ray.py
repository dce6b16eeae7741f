"""Asks a model about the rows of a Ray Dataset, with a journal in PostgreSQL: no call that is settled is paid again.

Ray moves the rows and starts actors; each actor is a worker of one run, which places the rows that come to it in the
journal and answers them from there. An actor that Ray starts again finds what it had settled.
"""

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack, cast

from batchwork.assembly import known_terms, refuse_to_share
from batchwork.clock import SystemClock
from batchwork.core.block import RUN, SharedInput
from batchwork.core.dsn import Dsn
from batchwork.core.errors import BatchworkError, ConfigError, DatabaseAwayError, RunPaused
from batchwork.core.intake import Intake, KeyedRow
from batchwork.core.outcome import Outcome
from batchwork.core.words import PYTHON
from batchwork.engine.engine import Engine
from batchwork.input_source import row_requests
from batchwork.journals import journal_address
from batchwork.options import RunOptions, defaults_of, plan_of, refuse_unknown, supplied_of
from batchwork.plan import Plan
from batchwork.results import outcome_of, typed_outcome
from batchwork.run_session import RunSession
from batchwork.settings import JOURNAL, Settings
from batchwork.tables import RESULT_TYPES, RowRequests, Table, plain_answer, result_columns, result_values, table_of

if TYPE_CHECKING:
    import pyarrow as pa
    from ray.data import Dataset

    from batchwork.postgres.keyed_journal import KeyedJournal

# What an actor, which nobody watches and which holds no secret, can be told.
_TAKEN = frozenset(
    (
        *("model", "prompt", "per_row", "system", "max_tokens", "schema", "response_model", "sampling", "extra_body"),
        *("max_in_flight", "max_cost", "account", "price", "retries", "timeout", "timeout_per_1k_chars", "max_wait"),
        *("max_consecutive_failures", "reask", "count_margin", "base_url", "journal"),
    )
)
_LOOK_S = 0.2  # between two looks at the journal
_OFFER_LOOKS = 50  # after so many, what nobody works on is offered again
_END_S = 20.0  # for an actor to end cleanly
_TASKS = 2  # blocks of the dataset that an actor has at once, so that the end of one does not empty its window


def run(
    dataset: "Dataset",
    *,
    key: str | None = None,
    workers: int | tuple[int, int] = (1, 8),
    in_order: bool = False,
    **options: Unpack[RunOptions],
) -> "Dataset":
    """Ask a model about every row of a Ray Dataset; the same rows with `response`, `status`, `error` and the cost.

    Lazy: nothing is sent until the dataset that comes back is consumed. It needs a Ray that is initialised, and
    batchwork with the extra `ray` on every node. A row that fails is a row whose `status` is `failed`.

    Options are those of `batchwork.run` for a table, as far as they concern the calls; and:
        journal: postgresql://HOST/DB?journal=NAME without a password, which comes from each node's own environment
            (PGPASSWORD, ~/.pgpass, a service file). Left out: the address in each node's BATCHWORK_JOURNAL.
        key: the column that tells rows apart. Without it rows that ask the same are one item, asked once.
        workers: how many actors there are, at least and at most; `max_in_flight` is each one's own.
        in_order: the rows come out in the order in which they went in; otherwise as Ray has them.

    Raises:
        ConfigError: an option is wrong, the dataset lacks a column, Ray is missing or not initialised.
    """
    strategy = _ray().ActorPoolStrategy(**_pool(workers), max_concurrent_calls_per_actor=_TASKS)
    requests, plan = _checked(options, key)
    if (names := _columns_of(dataset)) is not None:
        import pyarrow as pa  # noqa: PLC0415 - Ray Data has it

        _check_columns(requests, table_of(pa.table({name: pa.nulls(0) for name in names})), key)
    address = options.get("journal")
    told = {**options, "journal": address.text if isinstance(address, Dsn) else address}
    asked: Any = dataset.map_batches(
        RowActor,
        compute=strategy,
        batch_size=plan.policy.max_in_flight,
        batch_format="pyarrow",
        num_cpus=0.1,  # it waits for a provider; whole ones keep the pool from coming back when a node is lost
        fn_constructor_kwargs={"options": told, "key": key, "run": uuid.uuid4().hex},
    )
    if in_order:
        asked.context.execution_options.preserve_order = True
    return cast("Dataset", asked)


class RowActor:
    """What Ray has of a worker: when Ray lets go of it, the worker ends."""

    def __init__(self, **told: Any) -> None:
        self._worker = RowWorker(**told)

    async def __call__(self, batch: "pa.Table") -> "pa.Table":
        """The batch with its results beside it."""
        return await self._worker.answer(batch)

    def __del__(self) -> None:
        if (worker := getattr(self, "_worker", None)) is not None:
            worker.end()


class RowWorker:
    """One worker of the run, from its first batch of rows to `end`."""

    def __init__(self, *, options: RunOptions, key: str | None, run: str) -> None:
        self._options, self._key, self._run = options, key, run
        self._requests, self._plan = _checked(options, key)
        self._clock = SystemClock()
        self._session: RunSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work: asyncio.Task[None] | None = None
        self._journal: asyncio.Future[KeyedJournal] | None = None
        self._waiting = 0

    async def answer(self, batch: "pa.Table") -> "pa.Table":
        """The batch with its results beside it."""
        table = table_of(batch)
        _check_columns(self._requests, table, self._key)
        rows = self._rows(batch)
        outcomes = await self._answers(rows) if rows else []
        return _with_results(batch, outcomes, has_answers=bool({"schema", "response_model"} & set(self._options)))

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
                    raise self._ended()
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
                    model = self._options.get("response_model")
                    outcomes = {entry.item: typed_outcome(outcome_of(entry), model) for entry in found}
                    return [outcomes[item] for item in items]
                await self._clock.sleep(_LOOK_S)
        finally:
            self._waiting -= 1

    async def _started(self) -> "KeyedJournal":
        if self._journal is None or self._work is None:
            session = self._session = self._made()
            self._loop = asyncio.get_running_loop()
            self._journal = self._loop.create_future()
            self._work = asyncio.create_task(_execute(session))
        either: list[asyncio.Future[Any]] = [self._journal, self._work]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not self._journal.done():
            raise self._ended()
        return self._journal.result()

    def _made(self) -> RunSession:
        from ray import get_runtime_context  # noqa: PLC0415 - an extra

        # Ray starts an actor that was lost again under the same id: the one before it is gone.
        part = SharedInput(run=self._run, worker=f"ray-{get_runtime_context().get_actor_id()}")
        address = self._plan.journal or _journal_here()
        plan = replace(self._plan, journal=address, joins=True, shared_input=part)
        supplied = replace(supplied_of(self._options), remembered={RUN: self._run})
        return RunSession(plan, None, supplied, on_open=self._opened)

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


async def _execute(session: RunSession) -> None:
    (await session.execute()).close()


def _ray() -> Any:
    """Ray Data, which must be there and initialised: none is started here."""
    try:
        import psycopg  # noqa: F401, PLC0415
        import ray  # noqa: PLC0415 - an extra
        import ray.data  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(f"batchwork.ray needs {error.name}: pip install 'batchwork[ray]'") from error
    if not ray.is_initialized():
        raise ConfigError(
            "Ray is not initialised in this process, and none is started unasked: call ray.init(), or"
            " ray.init(address='auto') for a cluster"
        )
    return ray.data


def _pool(workers: object) -> dict[str, int]:
    least, most = (workers, workers) if isinstance(workers, int) else cast("tuple[int, int]", workers)
    if not (isinstance(least, int) and isinstance(most, int) and 1 <= least <= most):
        raise ConfigError(f"workers is a number of actors, or (least, most), got {workers!r}")
    return {"min_size": least, "max_size": most}


def _columns_of(dataset: object) -> list[str] | None:
    """The columns of a dataset, where they are known without reading it."""
    import ray.data  # noqa: PLC0415 - an extra

    if not isinstance(dataset, ray.data.Dataset):
        raise ConfigError(
            f"a Ray Dataset is needed, not a {type(dataset).__name__}: ray.data.from_items, from_pandas, read_csv and"
            " others make one; without Ray, batchwork.run takes tables"
        )
    names: list[str] | None = dataset.columns(fetch_if_missing=False)
    return names


def _checked(options: RunOptions, key: object) -> tuple[RowRequests, Plan]:
    """What is asked about each row, and the plan; a ConfigError where the options make no sense."""
    refuse_unknown(options, RunOptions.__annotations__)
    for name in options:
        if name not in _TAKEN:
            why = {
                "api_key": "keys come from each node's own environment",
                "template": "its file is on one machine; prompt= is the text itself",
                **dict.fromkeys(
                    ("rpm", "input_tpm", "output_tpm"), "a shared account (account=) holds for all workers"
                ),
                "retry_failed": "`batchwork retry JOURNAL` sends what failed again",
            }.get(name, "it is for a run in one process")
            raise ConfigError(f"batchwork.ray.run does not take {name}: {why}")
    if key is not None and not isinstance(key, str):
        raise ConfigError(f"key is the name of a column, got {key!r}")
    journal = options.get("journal")
    if journal is not None:
        _refuse_journal(journal_address(journal))
    plan = replace(plan_of(options), shares=True)
    refuse_to_share(plan)
    known_terms(plan)
    requests = row_requests(options, defaults_of(options))
    if requests is None:
        raise ConfigError('prompt= says what is asked about a row, for example prompt="Summarise: {text}"')
    return requests, plan


def _refuse_journal(address: object) -> None:
    if not isinstance(address, Dsn):
        raise ConfigError(
            f"the journal of a run on Ray is in a database, postgresql://HOST/DB?journal=NAME, and {address} is a file,"
            " which one process writes"
        )
    if address.has_password or "sslpassword" in address.options:
        raise ConfigError(
            f"the address {address} has a password, which Ray would keep and show: leave it out, and let each node have"
            f" it in PGPASSWORD, ~/.pgpass or a service file, or the whole address in {JOURNAL}"
        )


def _journal_here() -> Dsn:
    """The journal that this node's environment names."""
    given = Settings.from_environment().journal
    if given is None:
        raise ConfigError(
            f"journal= names no journal, and {JOURNAL} is not set on this node: it is postgresql://HOST/DB?journal=NAME"
        )
    address = journal_address(given)
    if not isinstance(address, Dsn):
        raise ConfigError(f"{JOURNAL} on this node is a file; a run on Ray needs postgresql://HOST/DB?journal=NAME")
    return address


def _check_columns(requests: RowRequests, table: Table, key: str | None) -> None:
    table.name = "the dataset"
    requests.check(table, door=PYTHON)
    if key is not None and key not in table.columns:
        raise ConfigError(
            f"key names the column {key!r}, which the dataset does not have. Columns there are:"
            f" {', '.join(table.columns)}."
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
    import msgspec  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415

    kinds = {int: pa.int64(), float: pa.float64(), str: pa.string()}
    names = (*RESULT_TYPES, "parsed") if has_answers else tuple(RESULT_TYPES)
    columns = result_columns(batch.column_names, names)
    values = [result_values(outcome) for outcome in outcomes]
    out = batch.rename_columns([columns.renamed.get(name, name) for name in batch.column_names])
    for name, kind in RESULT_TYPES.items():
        out = out.append_column(name, pa.array([row[name] for row in values], kinds[kind]))
    if has_answers:
        answers = [outcome.value for outcome in outcomes]
        texts = [None if each is None else msgspec.json.encode(plain_answer(each)).decode() for each in answers]
        out = out.append_column("parsed", pa.array(texts, pa.string()))
    return out

"""Asks a model about the rows of a Ray Dataset, with a journal in PostgreSQL: no call that is settled is paid again.

Ray moves the rows and starts actors; each actor is a worker of one run, which places the rows that come to it in the
journal and answers them from there. An actor that Ray starts again finds what it had settled.
"""

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack, cast

from batchwork.assembly import known_terms
from batchwork.core.address import is_plain
from batchwork.core.block import SharedInput
from batchwork.core.dsn import Dsn
from batchwork.core.errors import ConfigError
from batchwork.input_source import row_requests
from batchwork.journals import journal_address
from batchwork.options import RunOptions, defaults_of, plan_of, refuse_unknown, supplied_of
from batchwork.plan import Plan
from batchwork.row_worker import RowWorker, check_columns
from batchwork.settings import JOURNAL, Settings
from batchwork.tables import RowRequests

if TYPE_CHECKING:
    import pyarrow as pa
    from ray.data import Dataset

# What an actor, which nobody watches and which holds no secret, can be told.
_TAKEN = frozenset(
    (
        *("model", "prompt", "per_row", "system", "max_tokens", "schema", "response_model", "sampling", "extra_body"),
        *("max_in_flight", "max_cost", "account", "price", "retries", "timeout", "timeout_per_1k_chars", "max_wait"),
        *("rpm", "input_tpm", "output_tpm", "max_consecutive_failures", "reask", "count_margin", "base_url", "journal"),
    )
)
_WHY_NOT = {
    "api_key": "keys come from each node's own environment",
    "template": "its file is on one machine; prompt= is the text itself",
    "retry_failed": "`batchwork retry JOURNAL` sends what failed again",
}
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
    ray_data = _ray_data(dataset)
    requests, plan = _checked(options, key)
    if (names := dataset.columns(fetch_if_missing=False)) is not None:  # known without reading it
        check_columns(requests, names, key)
    address = options.get("journal")
    told = {**options, "journal": address.text if isinstance(address, Dsn) else address}
    asked: Any = dataset.map_batches(
        RowActor,
        compute=ray_data.ActorPoolStrategy(**_pool(workers), max_concurrent_calls_per_actor=_TASKS),
        batch_size=plan.policy.max_in_flight,
        batch_format="pyarrow",
        num_cpus=0.1,  # it waits for a provider; whole ones keep the pool from coming back when a node is lost
        fn_constructor_kwargs={"options": told, "key": key, "run": uuid.uuid4().hex},
    )
    if in_order:
        asked.context.execution_options.preserve_order = True
    return cast("Dataset", asked)


class RowActor:
    """What Ray has of a worker: it begins with the first batch of rows, and ends when Ray lets go of this."""

    def __init__(self, *, options: RunOptions, key: str | None, run: str) -> None:
        self._options, self._key, self._run = options, key, run
        self._worker: RowWorker | None = None

    async def __call__(self, batch: "pa.Table") -> "pa.Table":
        """The batch with its results beside it."""
        if self._worker is None:  # not sooner: what is wrong is told by a batch, where Ray passes it on
            self._worker = self._made()
        return await self._worker.answer(batch)

    def _made(self) -> RowWorker:
        from ray import get_runtime_context  # noqa: PLC0415 - an extra

        requests, plan = _checked(self._options, self._key)
        # Ray starts an actor that was lost again under the same id: the one before it is gone.
        part = SharedInput(run=self._run, worker=f"ray-{get_runtime_context().get_actor_id()}")
        plan = replace(plan, journal=plan.journal or _journal_here(), joins=True, shared_input=part)
        return RowWorker(plan, supplied_of(self._options), requests, key=self._key)

    def __del__(self) -> None:
        if self._worker is not None:
            self._worker.end()


def _ray_data(dataset: object) -> Any:
    """Ray Data, which must be there and initialised: none is started here."""
    try:
        import psycopg  # noqa: F401, PLC0415
        import ray  # noqa: PLC0415 - an extra
        import ray.data  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(f"batchwork.ray needs {error.name}: pip install 'batchwork[ray]'") from error
    if not isinstance(dataset, ray.data.Dataset):
        raise ConfigError(
            f"a Ray Dataset is needed, not a {type(dataset).__name__}: ray.data.from_items, from_pandas, read_csv and"
            " others make one; without Ray, batchwork.run takes tables"
        )
    if not ray.is_initialized():
        raise ConfigError(
            "Ray is not initialised in this process, and none is started unasked: call ray.init(), or"
            " ray.init(address='auto') for a cluster"
        )
    return ray.data


def _pool(workers: object) -> dict[str, int]:
    least, most = workers if isinstance(workers, tuple) and len(workers) == 2 else (workers, workers)
    if not (isinstance(least, int) and isinstance(most, int) and 1 <= least <= most):
        raise ConfigError(f"workers is a number of actors, or (least, most), got {workers!r}")
    return {"min_size": least, "max_size": most}


def _checked(options: RunOptions, key: object) -> tuple[RowRequests, Plan]:
    """What is asked about each row, and the plan; a ConfigError where the options make no sense."""
    refuse_unknown(options, RunOptions.__annotations__)
    for name in options:
        if name not in _TAKEN:
            why = _WHY_NOT.get(name, "it is for a run in one process")
            raise ConfigError(f"batchwork.ray.run does not take {name}: {why}")
    if key is not None and not isinstance(key, str):
        raise ConfigError(f"key is the name of a column, got {key!r}")
    journal = options.get("journal")
    if journal is not None:
        _refuse_journal(journal_address(journal))
    if not is_plain(options.get("base_url") or ""):
        raise ConfigError("base_url has more than an address in it, which may be a key that Ray would keep and show")
    plan = replace(plan_of(options), shares=True)
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

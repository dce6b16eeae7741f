"""Make a journal out of a state file that arrived alone: what is settled there is not asked again.

The values come from the result files where there are any; without them an item is known to have succeeded, and no more.
"""

import logging
from typing import Any

from batchwork.clock import SystemClock
from batchwork.core.dsn import JournalAddress
from batchwork.core.event import BatchIntended, BatchSubmitted, Began, Ended, Settled
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.money import nano_from_dollars
from batchwork.core.outcome import AnyOutcome, Failed, Succeeded
from batchwork.core.reply import Reply, Usage
from batchwork.journal import SqliteJournal
from batchwork.journals import open_journal
from batchwork.manager.finisher import IMPORTED
from batchwork.manager.options import PreparedJob
from batchwork.manager.result_files import ResultFiles
from batchwork.manager.state_file import FAILED, SUCCEEDED, ItemView, OpenBatch, State

_log = logging.getLogger(__name__)


def import_state(
    state: State, job: PreparedJob, path: JournalAddress, files: ResultFiles | None, *, settings: dict[str, Any]
) -> None:
    """Write a journal in which everything stands as the state says."""
    _log.warning("the state file came without its journal: what it has settled is taken over")
    journal = open_journal(path, utc=SystemClock().utc, max_wait_s=job.plan.policy.max_wait_s)
    try:
        journal.begin(
            Began(run_id=journal.run_id, model=state.model, priced=state.total_cost is not None, settings=settings)
        )
        items = [item for job in state.jobs for item in job.items]
        values = _values(state, files)
        placed_at: list[int] = []
        for index, row in enumerate(job.inputs.rows()):
            placed = journal.place(index, row)
            placed_at.append(placed.item)
            outcome = _outcome(items[index], values.get(index))
            if outcome is not None:
                taken = journal.take(placed.item)
                journal.record(Settled(item=taken.item, outcome=outcome, charged_nano=outcome.cost_nano or 0))
            journal.release(placed.item)
        for number, batch in enumerate(state.open_batches, start=1):
            _take_up(journal, number, batch, placed_at)
        journal.record(Ended(inputs=len(items), stopped="imported"))
    finally:
        journal.close()


def _take_up(journal: SqliteJournal, chunk: int, batch: OpenBatch, placed_at: list[int]) -> None:
    """A batch that goes on at the provider: the next run waits for it and takes its answers in."""
    assert batch.batch_id is not None, "refused before"
    journal.record(
        BatchIntended(
            chunk=chunk,
            items=tuple(placed_at[place] for place in batch.places()),
            custom_ids=batch.custom_ids,
            reserved_nano=nano_from_dollars(round(batch.reserved, 9)),
            at=batch.intended_at,
        )
    )
    journal.record(BatchSubmitted(chunk=chunk, batch_id=batch.batch_id))


def _values(state: State, files: ResultFiles | None) -> dict[int, Any]:
    if files is None or files.owner() not in (state.manager_id, ""):
        return {}
    return {
        item.original_index: value
        for job in state.jobs
        for item, value in zip(job.items, files.values(job.index), strict=False)
    }


def _outcome(item: ItemView, value: Any) -> AnyOutcome | None:
    cost = None if item.cost is None else nano_from_dollars(round(item.cost, 9))
    if item.status == SUCCEEDED:
        reply = Reply(text=value if isinstance(value, str) else "", usage=Usage(), stop_reason=IMPORTED)
        return Succeeded(index=item.original_index, reply=reply, parsed=value, attempts=1, cost_nano=cost)
    if item.status == FAILED:
        kind, _, message = (item.error or "internal: not known").partition(": ")
        known = kind in {each.value for each in FailureKind}
        failure = Failure(
            kind=FailureKind(kind) if known else FailureKind.INTERNAL,
            message=message if known else item.error or "not known",
        )
        return Failed(index=item.original_index, failure=failure, attempts=1, cost_nano=cost)
    return None

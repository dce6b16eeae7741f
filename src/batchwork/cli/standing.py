"""Where the runs on a journal stand and how the latest one ended: decided here for `run`, `retry` and `status`."""

import msgspec

from batchwork.clock import SystemClock
from batchwork.core.accounting import account_of
from batchwork.core.batch_book import Ticket
from batchwork.core.event import Began, Ended, RunInput
from batchwork.core.outcome import Deferred, Status
from batchwork.core.stats import Accounting
from batchwork.core.words import Door
from batchwork.journal import JournalReader
from batchwork.plan import account_names
from batchwork.progress import Snapshot, lines
from batchwork.summary import Summary, grouped


def summary_of(reader: JournalReader, door: Door, *, error: str | None = None) -> Summary:
    """What the runs on a journal have come to, and how the latest one ended.

    `error` is what ended it where the journal could not be told.
    """
    last, event = reader.last_run(), reader.last_event()
    ended = event if isinstance(event, Ended) else None
    stopped = None if ended is None else ended.stopped
    tickets = reader.open_batches()
    accounting = account_of(reader, tickets)
    failed = reader.entries(statuses=frozenset({Status.FAILED})) if accounting.failed else ()
    running = reader.writer() if ended is None and error is None and last is not None else None
    under_way, under_way_nano = reader.under_way() if ended is None else (0, 0)
    needed = _needed(reader, tickets) if accounting.deferred else []
    is_unread, missing = _unread(last, ended, accounting.inputs)
    return Summary(
        accounting=accounting,
        totals=reader.totals(),
        priced=last is None or last.priced,
        door=door,
        journal=reader.path,
        ceiling_nano=None if last is None else last.max_cost_nano,
        accounts=() if last is None else account_names(last.settings.get("account")),
        failures=grouped(None if entry.outcome is None else entry.outcome.error for entry in failed),
        has_ended=ended is not None or last is None,
        running=running,
        progress="" if running is None or last is None else lines(_pace(reader, last, accounting))[0],
        figures=None if ended is None else ended.figures,
        is_unread=is_unread and running is None,
        missing=missing if running is None else 0,
        open_batches=len(tickets),
        open_nano=sum(ticket.reserved_nano for ticket in tickets),
        under_way=under_way,
        under_way_nano=under_way_nano,
        needed_nano=sum(needed),
        least_nano=min(needed, default=0),
        paused=_pause(ended, door) if ended is not None and stopped == "paused" else None,
        interrupted=stopped in ("interrupted", "cancelled"),
        error=error or (ended.reason if ended is not None and stopped == "error" else None),
    )


def _pause(ended: Ended, door: Door) -> str:
    remedy = f"Mend the cause, then {door.again}." if ended.remedy is None else door.words(ended.remedy)
    reason = door.reason(ended.reason or "The provider did not let the run go on.")
    return f"{reason} {remedy}"


def _needed(reader: JournalReader, tickets: list[Ticket]) -> list[int]:
    """The worst cases of what waits for money."""
    inside = {item for ticket in tickets for item in ticket.items}
    deferred = reader.entries(statuses=frozenset({Status.DEFERRED}))
    outcomes = (entry.outcome for entry in deferred if entry.item not in inside)
    return [outcome.needed_nano for outcome in outcomes if isinstance(outcome, Deferred)]


def _unread(last: Began | None, ended: Ended | None, places: int) -> tuple[bool, int]:
    """Whether the input was never read to its end, and how many of its rows were not reached, as far as is known."""
    if last is None or last.input.was_read or (ended is not None and ended.inputs is not None):
        return False, 0
    if last.input.is_first and last.input.total == places:  # nothing else has ever stood in these places
        return False, 0
    return True, 0 if last.input.total is None else max(0, last.input.total - places)


def _pace(reader: JournalReader, last: Began, accounting: Accounting) -> Snapshot:
    """A run of another process at this instant, as far as its journal tells."""
    began_at, fresh = reader.pace()
    totals = reader.totals()
    return Snapshot(
        done=accounting.succeeded + accounting.failed,
        total=accounting.inputs if last.input.is_retry else last.input.total,
        fresh=fresh,
        elapsed_s=max(0.0, SystemClock().utc() - began_at),
        failed=accounting.failed,
        deferred=0,  # by an earlier run: this one may have the money
        spent_nano=totals.spent_nano if last.priced or totals.spent_nano else None,
        ceiling_nano=last.max_cost_nano,
        unconfirmed_nano=totals.unconfirmed_nano,
        in_flight=None,
    )


def input_of(reader: JournalReader) -> RunInput:
    """What a retry knows of the input that the runs before it have read."""
    last, event = reader.last_run(), reader.last_event()
    known = RunInput() if last is None else last.input
    was_read = known.was_read or (isinstance(event, Ended) and event.inputs is not None)
    return msgspec.structs.replace(known, is_retry=True, was_read=was_read)

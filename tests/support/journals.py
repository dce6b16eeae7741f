"""Drive a journal through whole runs, and tell what it says, in a form in which two journals can be compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batchwork.core.event import Admitted, Attempted, Began, Ended, Settled
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.intake import Intake
from batchwork.core.outcome import AnyOutcome, Deferred, Failed, Skipped, Status, Succeeded
from batchwork.core.ports import Journal
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Request
from batchwork.core.runstate import ItemState
from batchwork.journal import MemoryJournal, SqliteJournal

BEGAN = Began(run_id="r", model="mock:echo")
TAKEN_UP = (Status.PENDING, Status.DEFERRED)


def sqlite_journal(path: Path) -> SqliteJournal:
    return SqliteJournal(path, utc=lambda: 1000.0)


def memory_journal(path: Path) -> MemoryJournal:
    return MemoryJournal()


def row(text: str, columns: dict[str, Any] | None = None, **fields: Any) -> Intake:
    request = Request.ask(text, model="mock:echo", **fields)
    return Intake(fingerprint=request.fingerprint, request=request, columns=columns)


def succeeded(index: int, text: str = "yes", *, cost: int = 0) -> Succeeded:
    reply = Reply(text=text, usage=Usage(input_tokens=3, output_tokens=2))
    return Succeeded(index=index, reply=reply, attempts=1, cost_nano=cost)


def failed(index: int) -> Failed:
    return Failed(index=index, failure=Failure(kind=FailureKind.SERVER, message="down"), attempts=1)


OUTCOMES = {
    "succeeded": succeeded,
    "failed": failed,
    "deferred": lambda index: Deferred(index=index, needed_nano=5),
    "skipped": lambda index: Skipped(index=index, reason="told so"),
}


@dataclass
class Pass:
    """One run over an input: what its rows are, what becomes of those that are to be done, how far it is read."""

    rows: list[tuple[str, int | None]]
    fates: list[str] = field(default_factory=list)
    read: int | None = None  # None: to its end
    kept: bool = True  # the journal stays open for the next run


def settle(journal: Journal, item: int, outcome: AnyOutcome, charged: int = 0) -> None:
    journal.record(Settled(item=item, outcome=outcome, charged_nano=charged))


def run_pass(journal: Journal, run: Pass) -> list[ItemState]:
    """Go through an input as the engine does; the items its rows became."""
    journal.begin(BEGAN)
    states, fates = [], iter(run.fates)
    read = len(run.rows) if run.read is None else min(run.read, len(run.rows))
    for index, (text, column) in enumerate(run.rows[:read]):
        state = journal.place(index, row(text, None if column is None else {"c": column}))
        states.append(state)
        if state.status in TAKEN_UP:
            _meet(journal, state.item, index, next(fates, "pending"))
        journal.release(state.item)
    journal.record(Ended(inputs=read if read == len(run.rows) and run.read is None else None))
    return states


def _meet(journal: Journal, item: int, index: int, fate: str) -> None:
    if fate == "pending":
        return
    journal.record(Admitted(item=item, reserved_nano=100))
    if fate == "cut off":
        return
    if fate == "attempted":
        journal.record(Attempted(item=item, kind=FailureKind.SERVER, charged_nano=7, unconfirmed=True))
        return
    settle(journal, item, OUTCOMES[fate](index), charged=11)


def told(journal: Any) -> dict[str, Any]:
    """Everything the read side says."""
    return {
        "entries": [
            (
                entry.index,
                entry.item,
                entry.status,
                entry.paid_nano,
                entry.attempts,
                entry.outcome,
                entry.request and entry.request.messages,
                entry.columns,
            )
            for entry in journal.entries()
        ],
        "count": journal.count(),
        "counts": journal.counts(),
        "totals": journal.totals(),
    }

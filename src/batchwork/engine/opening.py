"""Open an input on a journal: what is settled already is passed over, the rest is work to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from batchwork.core.errors import BatchworkError, InputError
from batchwork.core.failure import FailureKind
from batchwork.core.intake import Intake, Work
from batchwork.core.outcome import Failed, Status
from batchwork.core.ports import Entry, Journal
from batchwork.core.request import Request
from batchwork.core.runstate import ItemState
from batchwork.core.stats import Tally
from batchwork.engine.reading import LATER, Later

_TAKEN_UP = frozenset({Status.PENDING, Status.DEFERRED})


def open_inputs(
    journal: Journal, intakes: Iterable[Intake | Later], tally: Tally, *, again: frozenset[FailureKind] = frozenset()
) -> Iterator[Work | Later | None]:
    """Work for every row that needs it, None for every row that is settled: the reader may want to breathe.

    `LATER` is passed on: the input has nothing yet.
    A row that has failed in one of the ways of `again` is work to do as well, unless the row itself is bad.

    Raises:
        InputError: the input itself raised half-way.
    """
    rows = iter(intakes)
    looks = len(again) < len(FailureKind) or bool(journal.batches.lost())
    while True:
        try:
            intake = next(rows, None)
        except BatchworkError:
            raise
        except Exception as error:  # the user's iterator is foreign code
            problem = f"the input raised {type(error).__name__} after row {tally.read}: {error}"
            if "thread" in str(error):
                problem += " (a lazy input is read in a thread of its own; a list is not)"
            raise InputError(problem) from error
        if intake is None:
            return
        if intake is LATER:
            yield LATER
            continue
        state = journal.place(tally.read, intake)
        tally.read += 1
        lost = False
        if again and state.status is Status.FAILED and intake.request is not None:
            kind = _failure_kind(journal, state) if looks else None
            if kind is None or kind in again:
                lost = kind is FailureKind.RESULT_LOST
                state = journal.reopen(state.item)
        if state.status not in _TAKEN_UP:
            tally.reused += 1
            journal.release(state.item)
            yield None
            continue
        yield _work(state, tally.read - 1, intake.request, intake.problem, lost=lost)


def _failure_kind(journal: Journal, state: ItemState) -> FailureKind | None:
    """How an item failed."""
    assert state.index is not None
    return _kind_in(next(iter(journal.entries(state.index, state.index + 1))))


def _kind_in(entry: Entry) -> FailureKind | None:
    return entry.outcome.failure.kind if isinstance(entry.outcome, Failed) else None


def reopen_items(journal: Journal, statuses: frozenset[Status], tally: Tally) -> Iterator[Work | None]:
    """Work for every item of the journal that stands at one of `statuses`."""
    for entry in journal.entries(statuses=statuses):
        tally.read += 1
        if entry.request is None:
            tally.reused += 1  # the row itself is bad: trying again cannot mend it
            yield None
            continue
        state = journal.reopen(entry.item) if entry.status is Status.FAILED else journal.take(entry.item)
        lost = _kind_in(entry) is FailureKind.RESULT_LOST
        yield _work(state, entry.index, entry.request, None, lost=lost)


def _work(state: ItemState, index: int, request: Request | None, problem: str | None, *, lost: bool) -> Work:
    return Work(
        item=state.item,
        index=index,
        request=request,
        problem=problem,
        paid_nano=state.paid_nano,
        attempts=state.attempts,
        deferred=state.status is Status.DEFERRED,
        lost=lost,
    )

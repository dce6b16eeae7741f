"""Open an input on a journal: what is settled already is passed over, the rest is work to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from batchwork.core.errors import BatchworkError, InputError
from batchwork.core.intake import Intake, Work
from batchwork.core.outcome import Status
from batchwork.core.ports import Journal
from batchwork.core.request import Request
from batchwork.core.runstate import ItemState
from batchwork.core.stats import Tally
from batchwork.engine.reading import LATER, Later

_TAKEN_UP = frozenset({Status.PENDING, Status.DEFERRED})


def open_inputs(
    journal: Journal, intakes: Iterable[Intake | Later], tally: Tally, *, again: bool = False
) -> Iterator[Work | Later | None]:
    """Work for every row that needs it, None for every row that is settled: the reader may want to breathe.

    `LATER` is passed on: the input has nothing yet.
    With `again` a row that has failed is work to do as well, unless the row itself is bad.

    Raises:
        InputError: the input itself raised half-way.
    """
    rows = iter(intakes)
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
        if again and state.status is Status.FAILED and intake.request is not None:
            state = journal.reopen(state.item)
        if state.status not in _TAKEN_UP:
            tally.reused += 1
            journal.release(state.item)
            yield None
            continue
        yield _work(state, tally.read - 1, intake.request, intake.problem)


def reopen_items(journal: Journal, statuses: frozenset[Status], tally: Tally) -> Iterator[Work | None]:
    """Work for every item of the journal that stands at one of `statuses`."""
    for entry in journal.entries(statuses=statuses):
        tally.read += 1
        if entry.request is None:
            tally.reused += 1  # the row itself is bad: trying again cannot mend it
            yield None
            continue
        state = journal.reopen(entry.item) if entry.status is Status.FAILED else journal.take(entry.item)
        yield _work(state, entry.index, entry.request, None)


def _work(state: ItemState, index: int, request: Request | None, problem: str | None) -> Work:
    return Work(
        item=state.item,
        index=index,
        request=request,
        problem=problem,
        paid_nano=state.paid_nano,
        attempts=state.attempts,
        deferred=state.status is Status.DEFERRED,
    )

"""Open an input on a journal: what is settled already is passed over, the rest is work to do."""

import logging
from collections.abc import Iterable, Iterator

from batchwork.core.difference import changed_parts
from batchwork.core.errors import BatchworkError, InputError
from batchwork.core.event import BatchReopened
from batchwork.core.failure import FailureKind
from batchwork.core.intake import InputRow, Work
from batchwork.core.outcome import Failed, Status
from batchwork.core.ports import Entry, ForeseeingJournal, Journal
from batchwork.core.request import Request
from batchwork.core.runstate import ItemState
from batchwork.core.stats import Tally
from batchwork.core.words import and_list, counted
from batchwork.engine.read_ahead import LATER, Later

_log = logging.getLogger(__name__)
_TAKEN_UP = frozenset({Status.PENDING, Status.DEFERRED})


def open_inputs(
    journal: Journal,
    intakes: Iterable[InputRow | Later],
    tally: Tally,
    *,
    again: frozenset[FailureKind] = frozenset(),
    asks_lost: bool = False,
) -> Iterator[Work | Later | None]:
    """Work for every row that needs it, None for every row that is settled: the reader may want to breathe.

    `LATER` is passed on: the input has nothing yet.
    A row that has failed in one of the ways of `again` is work to do as well, unless the row itself is bad, or its
    answer is in a batch that can be asked for it once more (`asks_lost`). Raises InputError where the input itself
    raised half-way.
    """
    rows = iter(intakes) if not isinstance(journal, ForeseeingJournal) else _foreseen(intakes, journal)
    lost = LostAnswers(journal, asks=asks_lost)
    needs_kind = len(again) < len(FailureKind) or bool(lost.chunks)
    riding = {item for ticket in journal.batches.open() for item in ticket.items}  # to be settled by this run
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
        if isinstance(intake, Later):
            yield LATER
            continue
        before = None if tally.read or journal.at(0) is None else next(iter(journal.entries(0, 1)), None)
        state = journal.place(tally.read, intake)
        if before is not None and state.status is Status.PENDING and before.item != state.item:
            _tell_of_another_question(journal, before, intake)
        tally.read += 1
        if again and state.status is Status.FAILED and intake.request is not None:
            index = tally.read - 1
            kind = _kind_in(next(iter(journal.entries(index, index + 1)))) if needs_kind else None
            if lost.holds(state.item, kind) and kind in again:
                lost.ask(state.item)
                tally.reused += not asks_lost
                yield None
                continue
            if kind is None or kind in again:
                state = journal.reopen(state.item)
        elif again and state.status is Status.FAILED and _is_bad_otherwise(journal, tally.read - 1, intake.problem):
            state = journal.reopen(state.item)
        if state.status not in _TAKEN_UP:
            tally.reused += state.item not in riding
            journal.release(state.item)
            yield None
            continue
        yield _work(state, tally.read - 1, intake.request, intake.problem)


def _foreseen(intakes: Iterable[InputRow | Later], journal: ForeseeingJournal) -> Iterator[InputRow | Later]:
    """The same rows, of which the journal is told some at a time: as many as the input has without waiting."""
    rows = iter(intakes)
    some: list[InputRow] = []
    for row in rows:
        if not isinstance(row, Later):
            some.append(row)
        if some and (row is LATER or len(some) >= journal.foresees):
            journal.foresee(some)
            yield from some
            some = []  # now that they are placed, the input may have more
        elif row is LATER:
            yield LATER
    if some:
        journal.foresee(some)
        yield from some


def _tell_of_another_question(journal: Journal, before: Entry, first: InputRow) -> None:
    """Answers to another question are no answers to this one: say so before everything is asked and paid again."""
    if before.request is None or first.request is None:
        return
    is_same_row = first.columns is not None and first.columns == before.columns
    answers = journal.counts()[Status.SUCCEEDED] + (before.status is Status.SUCCEEDED)
    if answers and (changed := changed_parts(before.request, first.request, is_same_row=is_same_row)):
        _log.warning(
            "another question than before, by %s: %s, and every row is asked and paid anew",
            and_list(changed),
            counted(answers, "answer in this journal does not serve", "answers in this journal do not serve"),
        )


def _is_bad_otherwise(journal: Journal, index: int, problem: str | None) -> bool:
    """Whether a row that failed as bad input is bad for another reason now, which is what it should say."""
    outcome = next(iter(journal.entries(index, index + 1))).outcome
    failure = outcome.failure if isinstance(outcome, Failed) else None
    return failure is not None and failure.kind is FailureKind.BAD_INPUT and failure.message != problem


def _kind_in(entry: Entry) -> FailureKind | None:
    return entry.outcome.failure.kind if isinstance(entry.outcome, Failed) else None


def reopen_items(
    journal: Journal, statuses: frozenset[Status], tally: Tally, *, asks_lost: bool = False
) -> Iterator[Work | None]:
    """Work for every item of the journal that stands at one of `statuses`."""
    lost = LostAnswers(journal, asks=asks_lost)
    for entry in journal.entries(statuses=statuses):
        tally.read += 1
        if entry.request is None:
            tally.reused += 1  # the row itself is bad: trying again cannot mend it
            yield None
        elif lost.holds(entry.item, _kind_in(entry)):
            lost.ask(entry.item)
            tally.reused += not asks_lost
            yield None
        else:
            state = journal.reopen(entry.item) if entry.status is Status.FAILED else journal.take(entry.item)
            yield _work(state, entry.index, entry.request, None)


class LostAnswers:
    """Answers that are, or were, in batches whose results could not be read. They may be paid for: they are asked for
    once more before anything is sent again, which only a run through batches can do.
    """

    def __init__(self, journal: Journal, *, asks: bool) -> None:
        self._journal = journal
        self._asks = asks
        self.chunks = {item: ticket.chunk for ticket in journal.batches.lost() for item in ticket.items}
        self._warned = False

    def holds(self, item: int, kind: FailureKind | None) -> bool:
        """Whether an item that failed in this way has its answer there."""
        return kind is FailureKind.RESULT_LOST and item in self.chunks

    def ask(self, item: int) -> None:
        """Let the batch be asked once more; both facts go to disk together, so that no kill comes in between."""
        if self._asks:
            self._journal.reopen(item)
            self._journal.record(BatchReopened(chunk=self.chunks[item], items=(item,)))
            self._journal.release(item)
        elif not self._warned:
            self._warned = True
            _log.warning(
                "some items were answered in batches whose results could not be read, and may be paid for: a retry with"
                " --mode batch (mode='batch') asks for them once more; live calls leave them as they are"
            )


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

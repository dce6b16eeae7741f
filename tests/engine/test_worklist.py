"""What is to be done of an input, and of what a journal holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from batchwork.core.errors import InputError
from batchwork.core.event import Settled
from batchwork.core.failure import FailureKind
from batchwork.core.intake import Intake
from batchwork.core.outcome import AnyOutcome, Failed, Status, Succeeded
from batchwork.core.request import Request
from batchwork.core.stats import Tally
from batchwork.engine.worklist import open_inputs, reopen_items
from batchwork.journal import MemoryJournal
from tests.support.scripted import failure, reply


def intakes(*prompts: str) -> Iterator[Intake]:
    for prompt in prompts:
        request = Request.ask(prompt, model="m")
        yield Intake(fingerprint=request.fingerprint, request=request, columns=None)


def opened(journal: MemoryJournal, rows: Iterable[Intake], again: frozenset[FailureKind] = frozenset()) -> list[object]:
    """The index of each row that is work, None for the others."""
    found = open_inputs(journal, rows, Tally(), again=again)
    return [work if work is None else work.index for work in found]  # type: ignore[union-attr]


def settled(*outcomes: AnyOutcome | None) -> MemoryJournal:
    """A journal of the rows a, b, c ... with these outcomes."""
    journal = MemoryJournal()
    names = [chr(ord("a") + index) for index in range(len(outcomes))]
    for index, (intake, outcome) in enumerate(zip(intakes(*names), outcomes, strict=True)):
        item = journal.place(index, intake).item
        if outcome is not None:
            journal.record(Settled(item=item, outcome=outcome))
        journal.release(item)
    return journal


def failed(index: int, kind: FailureKind) -> Failed:
    return Failed(index=index, failure=failure(kind), attempts=1, cost_nano=0)


def test_rows_that_are_settled_are_passed_over() -> None:
    journal = settled(Succeeded(index=0, reply=reply(), attempts=1, cost_nano=0), None)
    assert opened(journal, intakes("a", "b", "c")) == [None, 1, 2]


def test_a_failed_row_is_work_again_only_for_the_kinds_that_are_asked_for() -> None:
    journal = settled(failed(0, FailureKind.SERVER), failed(1, FailureKind.REFUSED))
    assert opened(journal, intakes("a", "b"), frozenset({FailureKind.SERVER})) == [0, None]


def test_a_retry_takes_up_what_failed_and_what_is_pending_and_leaves_bad_rows_alone() -> None:
    journal = settled(failed(0, FailureKind.SERVER), None)
    journal.place(2, Intake.bad("not a request"))
    works = list(reopen_items(journal, frozenset({Status.FAILED, Status.PENDING}), Tally()))
    assert [work if work is None else work.index for work in works] == [0, 1, None]


def test_an_input_that_raises_half_way_is_named_with_its_row() -> None:
    def rows() -> Iterator[Intake]:
        yield from intakes("a")
        raise OSError("disk gone")

    with pytest.raises(InputError, match="disk gone"):
        opened(MemoryJournal(), rows())


def test_a_row_that_is_bad_for_another_reason_now_says_so_after_a_retry() -> None:
    journal = MemoryJournal()
    row = Intake.bad(failure(FailureKind.BAD_INPUT).message)
    item = journal.place(0, row).item
    journal.record(Settled(item=item, outcome=failed(0, FailureKind.BAD_INPUT)))
    journal.release(item)
    broken = Intake(fingerprint=row.fingerprint, request=None, columns=None, problem="it is damaged")
    every = frozenset(FailureKind)
    assert opened(journal, [row], every) == [None]
    assert opened(journal, [broken], every) == [0]

"""Which provider batches are open, and who rides in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.batch_book import LOST, BatchBook
from batchwork.core.event import BatchClosed, BatchIntended, BatchReopened, BatchSubmitted


def intended(chunk: int, *items: int) -> BatchIntended:
    names = tuple(f"run-{chunk}-{item}-key" for item in items)
    worst = tuple(10 + item for item in items)
    return BatchIntended(chunk=chunk, items=items, custom_ids=names, reserved_nano=sum(worst), at=0.0, worst_nano=worst)


def test_a_batch_is_open_from_its_intent_to_its_end() -> None:
    book = BatchBook()
    book.apply(intended(1, 0, 1))
    (ticket,) = book.open()
    assert (ticket.batch_id, ticket.items) == (None, (0, 1))
    book.apply(BatchSubmitted(chunk=1, batch_id="b1"))
    assert book.open()[0].batch_id == "b1"
    assert book.ids == {"b1"}
    book.apply(BatchClosed(chunk=1, how="collected"))
    assert (book.open(), bool(book.rides), book.next_chunk()) == ([], False, 2)
    assert book.ids == {"b1"}, "a batch of ours stays one of ours"


def test_an_item_that_was_answered_no_longer_rides_and_frees_its_share() -> None:
    book = BatchBook()
    book.apply(intended(1, 0, 1, 2))
    book.answered(1)
    (ticket,) = book.open()
    assert (ticket.items, ticket.worst_nano, ticket.reserved_nano) == ((0, 2), (10, 12), 22)
    assert ticket.lines == (1, 3), "a provider that names a line counts them all"
    assert ticket.custom_ids == ("run-1-0-key", "run-1-2-key")


def test_an_item_rides_on_while_the_batch_that_answered_it_is_still_open() -> None:
    book = BatchBook()
    book.apply(intended(1, 0, 1))
    book.answered(0)
    book.apply(intended(2, 0))
    assert [ticket.items for ticket in book.open()] == [(1,), (0,)]
    book.apply(BatchClosed(chunk=1, how="collected"))
    assert [ticket.items for ticket in book.open()] == [(0,)]


def test_what_a_journal_of_0_1_does_not_say_stays_reserved_as_a_whole() -> None:
    book = BatchBook()
    book.apply(BatchIntended(chunk=1, items=(0, 1), custom_ids=("a", "b"), reserved_nano=50, at=0.0))
    book.answered(0)
    (ticket,) = book.open()
    assert (ticket.items, ticket.reserved_nano, ticket.worst_nano) == ((1,), 50, ())


def test_a_lost_batch_is_remembered_and_can_be_asked_once_more() -> None:
    book = BatchBook()
    book.apply(intended(1, 0, 1, 2))
    book.apply(BatchSubmitted(chunk=1, batch_id="b1"))
    book.answered(0)
    book.answered(1)
    book.apply(BatchClosed(chunk=1, how=LOST))
    assert [ticket.batch_id for ticket in book.lost()] == ["b1"]
    book.apply(BatchReopened(chunk=1, items=(1,)))
    (ticket,) = book.open()
    assert (ticket.items, ticket.batch_id, ticket.asked_again) == ((1,), "b1", True)
    book.apply(BatchClosed(chunk=1, how=LOST))
    assert book.open() == []


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=40))
def test_an_item_is_in_at_most_one_open_ticket_whatever_happens(steps: list[tuple[int, int]]) -> None:
    """Items board a batch only when they do not ride, as the engine does it; every other order is drawn at random."""
    book, chunk, riding = BatchBook(), 0, set[int]()
    for what, item in steps:
        if what < 3 and item not in riding:
            chunk += 1
            book.apply(intended(chunk, item, 100 + chunk))
            riding.add(item)
        elif what == 3:
            book.answered(item)
            riding.discard(item)
        elif what == 4 and book.open():
            closed = book.open()[0]
            book.apply(BatchClosed(chunk=closed.chunk, how="collected"))
            riding.difference_update(closed.items)
        rides = [one for ticket in book.open() for one in ticket.items]
        assert len(rides) == len(set(rides))
        assert riding <= set(rides)


def test_what_was_asked_once_more_is_not_asked_a_third_time_and_the_rest_of_the_batch_still_can_be() -> None:
    book = BatchBook()
    book.apply(intended(1, 0, 1))
    book.apply(BatchSubmitted(chunk=1, batch_id="b1"))
    book.apply(BatchClosed(chunk=1, how=LOST))
    book.apply(BatchReopened(chunk=1, items=(0,)))
    book.apply(BatchClosed(chunk=1, how="collected"))
    assert [ticket.items for ticket in book.lost()] == [(1,)]
    book.apply(BatchReopened(chunk=1, items=(1,)))
    assert book.lost() == []

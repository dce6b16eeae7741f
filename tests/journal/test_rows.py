"""A row comes back as it was or not at all; memory keeps a row until nobody needs it."""

from __future__ import annotations

import pytest

from batchwork.core.errors import JournalDamagedError
from batchwork.core.outcome import Status
from batchwork.journal.rows import SUM_COLUMNS, ItemRow, RowCache, Sums, columns_digest


def item_row(item: int = 4) -> ItemRow:
    made = ItemRow(item, b"f" * 16, 2, 7, Status.FAILED, 10, 20, 3)
    made.columns_digest, made.request_seq, made.columns_seq, made.settled_seq = -5, 11, 12, 13
    return made


@pytest.mark.parametrize("place", [None, 0, 7])
def test_a_row_comes_back_as_it_was(place: int | None) -> None:
    row = item_row()
    row.index = place
    assert ItemRow.stored(row.values()).values() == row.values()


@pytest.mark.parametrize("column", range(13))
def test_a_changed_value_is_damage(column: int) -> None:
    values = list(item_row().values())
    values[column] = b"g" * 16 if column == 1 else values[column] + 1
    with pytest.raises(JournalDamagedError, match="the row of item"):
        ItemRow.stored(tuple(values))


def test_columns_are_told_apart_by_their_digest() -> None:
    assert columns_digest(None) == 0
    assert columns_digest({"a": 1}) == columns_digest({"a": 1}) != columns_digest({"a": 2})
    assert columns_digest({"n": 10**30}) != columns_digest({"n": 10**30 + 1})


def test_a_row_is_forgotten_once_it_is_released_and_written() -> None:
    cache, row = RowCache(), item_row()
    cache.hold(row)
    cache.changed[row.item] = row
    cache.release(row.item)
    assert row.item in cache.rows, "it is not on disk yet"
    cache.write_changed()
    cache.release(row.item)
    assert row.item in cache.rows, "nor while it is on its way"
    assert cache.written() == [row]
    assert cache.rows == {}


def test_a_row_that_somebody_works_on_is_kept_when_it_is_written() -> None:
    cache, row = RowCache(), item_row()
    cache.hold(row)
    cache.changed[row.item] = row
    cache.write_changed()
    cache.written()
    assert cache.rows == {row.item: row}
    cache.release(row.item)
    assert cache.rows == {}


def test_rows_that_did_not_reach_the_disk_are_written_again_as_what_they_were() -> None:
    cache, new, moved = RowCache(), item_row(1), item_row(2)
    new.is_new = moved.moved = True
    for row in (new, moved):
        cache.hold(row)
        cache.changed[row.item] = row
    cache.write_changed()
    assert (new.is_new, moved.moved, cache.changed) == (False, False, {})
    cache.take_back([new], [moved])
    assert (new.is_new, moved.moved) == (True, True)
    assert cache.changed == {1: new, 2: moved}
    assert cache.written() == []


def sums() -> Sums:
    made = Sums(run_id="abc", seq=9, spent=100, unconfirmed=10, reserved=5, began=1, items=4, batches=2, noted=3)
    made.counts[Status.PENDING] = 1
    made.counts[Status.SUCCEEDED] = 3
    return made


def test_sums_come_back_as_they_were() -> None:
    assert Sums.stored(sums().values()) == sums()
    assert sums().places == 4
    assert sums().mark == ("abc", 9, 100)


def test_places_that_are_taken_away_together_with_them_are_not_counted() -> None:
    stored = Sums.stored(sums().values(without={Status.SUCCEEDED: 2}))
    assert (stored.counts[Status.SUCCEEDED], stored.places) == (1, 2)
    assert sums().counts[Status.SUCCEEDED] == 3


@pytest.mark.parametrize("column", range(len(SUM_COLUMNS)))
def test_a_changed_sum_is_damage(column: int) -> None:
    values = list(sums().values())
    values[column] = f"{values[column]}1" if isinstance(values[column], str) else values[column] + 1
    with pytest.raises(JournalDamagedError, match="its totals are damaged"):
        Sums.stored(tuple(values))

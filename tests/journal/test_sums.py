"""The sums come back as they were, or not at all."""

from __future__ import annotations

import pytest

from batchwork.core.errors import JournalDamagedError
from batchwork.core.outcome import Status
from batchwork.journal.sums import COLUMNS, Sums


def sums() -> Sums:
    made = Sums(run_id="abc", seq=9, spent=100, unconfirmed=10, reserved=5, began=1, items=4, batches=2, noted=3)
    made.counts[Status.PENDING] = 1
    made.counts[Status.SUCCEEDED] = 3
    return made


def test_they_come_back_as_they_were() -> None:
    assert Sums.stored(sums().values()) == sums()
    assert sums().places == 4
    assert sums().mark == ("abc", 9, 100)


def test_places_that_are_taken_away_together_with_them_are_not_counted() -> None:
    stored = Sums.stored(sums().values(without={Status.SUCCEEDED: 2}))
    assert (stored.counts[Status.SUCCEEDED], stored.places) == (1, 2)
    assert sums().counts[Status.SUCCEEDED] == 3


@pytest.mark.parametrize("column", range(len(COLUMNS)))
def test_a_changed_value_is_damage(column: int) -> None:
    values = list(sums().values())
    values[column] = f"{values[column]}1" if isinstance(values[column], str) else values[column] + 1
    with pytest.raises(JournalDamagedError, match="its totals are damaged"):
        Sums.stored(tuple(values))

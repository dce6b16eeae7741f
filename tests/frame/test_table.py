"""The door for tables."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from batchwork.frame import FrameError, describe_dataframe

NOISE = np.random.default_rng(0).standard_normal(300)


def test_a_table_is_its_columns_and_their_correlations() -> None:
    other = 2.0 * NOISE + 0.5 * np.random.default_rng(1).standard_normal(300)
    table = {"a": NOISE, "b": other, "c": np.random.default_rng(2).standard_normal(300), "name": ["x"] * 300}
    text = describe_dataframe(table)
    assert "correlations: a and b 0.9" in text
    assert "not numeric: name" in text
    assert describe_dataframe(pa.table({"a": NOISE}), output="full").columns["a"].count == 300
    assert describe_dataframe(np.zeros((5, 2)), output="json")["rows"] == 5


def test_two_random_walks_do_not_correlate_by_their_wandering() -> None:
    found = 0
    for seed in range(30):
        walks = np.cumsum(np.random.default_rng(seed).standard_normal((300, 2)), axis=0)
        found += bool(describe_dataframe(walks, output="full").correlations)
    assert found <= 3


SINE = 20.0 + 5.0 * np.sin(np.arange(200) / 4.0) + np.arange(200) / 50.0
WALK = np.cumsum(NOISE)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (SINE, 2.0 * SINE, "a and b 1."),
        (SINE.round(2), (9.0 - 2.0 * SINE).round(2), "a and b -1."),
        (WALK, WALK + NOISE[::-1], "a and b 0.9"),
        ([1, 2, 3, 4, 5], [10, 20, 30, 40, 50], "a and b 1."),
        ([1, 2, 3, 4], [1, 0, 1, 0], "none beyond chance"),
        ([float("nan")] * 20, range(20), "none beyond chance"),
    ],
)
def test_columns_that_tell_each_other_correlate_whatever_their_memory(first: Any, second: Any, said: str) -> None:
    assert f"correlations: {said}" in describe_dataframe({"a": first, "b": second})


def test_a_column_of_times_is_the_time_of_the_others() -> None:
    days = np.delete(np.arange("2026-01-01", "2026-03-01", dtype="datetime64[D]"), [20, 21])
    table = describe_dataframe({"when": days, "load": np.arange(days.size)}, output="full")
    assert (table.time, list(table.columns), table.skipped) == ("when", ["load"], {})
    assert (table.columns["load"].missing, table.columns["load"].slope_per) == (2, "day")


def test_numbers_of_the_rows_and_other_times_are_named_and_not_described() -> None:
    days = np.arange("2026-01-01", "2026-03-01", dtype="datetime64[D]")
    table = {"order_id": range(7, 66), "day": days, "year": days.astype("datetime64[Y]"), "load": NOISE[:59]}
    text = describe_dataframe(table)
    assert "not described: year (times, too; those in day are used); order_id (numbers of the rows)." in text
    assert describe_dataframe({"id": [1, 2, 3]}, output="full").set_aside == {}


def test_a_pair_that_chance_explains_is_said_to_be_left_out() -> None:
    other = np.cumsum(np.random.default_rng(2).standard_normal(300))
    assert "not listed: a and b 0." in describe_dataframe({"a": WALK, "b": other})


def test_a_table_without_rows_is_said_to_have_none() -> None:
    assert describe_dataframe({"a": [], "b": []}) == "table: no rows (columns a, b)."


def test_a_table_of_text_has_its_rows_counted() -> None:
    assert describe_dataframe({"name": ["anna", "bob"]}).startswith("table: rows 2, numeric columns 0\n")


def test_a_series_is_no_table() -> None:
    with pytest.raises(FrameError, match="describe_series"):
        describe_dataframe(NOISE)

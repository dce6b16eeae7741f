"""The door for tables."""

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


def test_a_series_is_no_table() -> None:
    with pytest.raises(FrameError, match="describe_series"):
        describe_dataframe(NOISE)

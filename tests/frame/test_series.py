"""The door for one series."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import batchwork.frame
from batchwork.frame import FrameError, compression, describe_series

NOISE = np.random.default_rng(0).standard_normal(300)


def test_an_unknown_output_is_named() -> None:
    with pytest.raises(FrameError, match="'words'"):
        describe_series([1.0], output="words")  # type: ignore[call-overload]


def test_the_public_names_are_these() -> None:
    assert set(batchwork.frame.__all__) == {
        "Anomaly", "ChangePoint", "Compression", "Correlation", "Description", "Distribution", "FileDescription",
        "FrameError", "Gaps", "Last", "Season", "Statistics", "TableDescription", "Trend", "Volatility", "compression",
        "describe_dataframe", "describe_file", "describe_series", "plot", "render",
    }  # fmt: skip


def test_importing_the_package_does_not_load_the_frame() -> None:
    program = "import sys, batchwork; sys.exit('batchwork.frame' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_context_and_unit_are_said() -> None:
    text = describe_series(NOISE, "temperature of hall 3", unit="C")
    assert text.startswith("temperature of hall 3: count 300")
    assert "unit C" in text


def test_a_description_is_a_fraction_of_the_numbers() -> None:
    long = compression(np.tile(NOISE, 34)[:10_000])
    assert compression(np.tile(NOISE, 2)[:500]).saved > 0.75
    assert long.saved > 0.98


def test_arrow_columns_are_series() -> None:
    full = describe_series(pa.chunked_array([[1.0, None], [3.0]]), output="full")
    assert (full.count, full.missing) == (2, 1)
    assert describe_series(pa.array([1, 2, 3]), output="full").count == 3


def test_anything_with_to_numpy_and_a_datetime_index_is_a_timed_series() -> None:
    class Column:
        name = "load"
        index = np.arange("2024-01-01", "2024-01-21", dtype="datetime64[D]")

        def to_numpy(self) -> np.ndarray:
            return np.arange(20.0)[::-1].copy()

    full = describe_series(Column(), output="full")
    assert full.context == "load"
    assert full.trend is not None
    assert full.trend.direction == "falling"

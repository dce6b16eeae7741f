"""The doors: text, JSON, tables, files, pictures."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import batchwork.frame
from batchwork.frame import FrameError, compression, describe_dataframe, describe_file, describe_series, plot, render

NOISE = np.random.default_rng(0).standard_normal(300)


def test_the_public_names_are_these() -> None:
    assert set(batchwork.frame.__all__) == {
        "Anomaly", "ChangePoint", "Compression", "Correlation", "Description", "Distribution", "FileDescription",
        "FrameError", "Gaps", "Last", "Season", "Statistics", "TableDescription", "Trend", "Volatility", "compression",
        "describe_dataframe", "describe_file", "describe_series", "plot", "render",
    }  # fmt: skip


def test_importing_the_package_does_not_load_the_frame() -> None:
    program = "import sys, batchwork; sys.exit('batchwork.frame' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_text_is_rendered_from_the_description_alone() -> None:
    assert render(describe_series(NOISE, output="full")) == describe_series(NOISE)


def test_every_statistic_has_its_label() -> None:
    text = describe_series(NOISE)
    labels = ["count", "missing", "mean", "median", "std", "min", "max", "range", "p5", "p25", "p75", "p95", "IQR"]
    for label in [*labels, "slope", "last", "first"]:
        assert f"{label} " in text


def test_context_and_unit_are_said() -> None:
    text = describe_series(NOISE, "temperature of hall 3", unit="C")
    assert text.startswith("temperature of hall 3: count 300")
    assert "unit C" in text


def test_json_is_plain_and_complete() -> None:
    data = json.loads(json.dumps(describe_series(NOISE, output="json")))
    assert data["count"] == 300
    assert data["statistics"]["mean"] == pytest.approx(float(NOISE.mean()))


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


def test_a_file_is_described_by_its_first_column_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "load.csv"
    days = np.arange("2024-01-01", "2024-03-01", dtype="datetime64[D]")
    lines = [f"{day},hall,{i * 0.5}" for i, day in enumerate(days)]
    path.write_text("date,place,load\n" + "\n".join(lines) + "\n")
    described = describe_file(path)
    assert described.column == "load"
    assert described.description.trend is not None
    assert described.description.trend.direction == "rising"


def test_a_missing_column_is_named_beside_those_there_are(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x;y\n1;2\n3;4\n")
    assert describe_file(path, "y").description.count == 2
    with pytest.raises(FrameError, match=r"no column 'z'; it has x, y"):
        describe_file(path, "z")


def test_a_file_without_numbers_or_without_anything_is_refused(tmp_path: Path) -> None:
    empty, words = tmp_path / "empty.csv", tmp_path / "words.csv"
    empty.write_text("")
    words.write_text("name\nanna\nbob\n")
    with pytest.raises(FrameError, match="is empty"):
        describe_file(empty)
    with pytest.raises(FrameError, match="item 0 is the text 'anna'"):
        describe_file(words)


def test_a_file_of_bare_numbers_has_no_header(tmp_path: Path) -> None:
    path = tmp_path / "bare.csv"
    path.write_text("1\n2\n4\n")
    assert describe_file(path).description.count == 3


def test_a_plot_is_a_picture(tmp_path: Path) -> None:
    values = NOISE + 5.0 * (np.arange(300) > 150)
    values[20] = 30.0
    assert plot(values, tmp_path / "series.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(FrameError, match=r"\.png or \.svg"):
        plot(values, tmp_path / "series.gif")

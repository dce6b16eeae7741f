"""The door for files and pictures."""

from pathlib import Path

import numpy as np
import pytest

from batchwork.frame import FrameError, describe_file, plot


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
    values = np.random.default_rng(0).standard_normal(300) + 5.0 * (np.arange(300) > 150)
    values[20] = 30.0
    assert plot(values, tmp_path / "series.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(FrameError, match=r"\.png or \.svg"):
        plot(values, tmp_path / "series.gif")

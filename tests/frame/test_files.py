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


def test_a_column_of_times_is_known_by_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "flow.csv"
    rows = [f"{day}.{month:02}.2026,{day + 31 * month}" for month in (1, 3) for day in range(1, 32)]
    path.write_text("gemessen am,flow\n" + "\n".join(rows) + "\n")
    described = describe_file(path)
    assert (described.column, described.description.missing, described.description.slope_per) == ("flow", 28, "day")
    assert described.values[:3] == [32, 33, 34]
    assert not any("text" in note for note in described.description.quality)


def test_row_numbers_are_no_column_and_equal_names_are_kept_apart(tmp_path: Path) -> None:
    path = tmp_path / "written_by_pandas.csv"
    path.write_text(",load,load,place\n0,1.5,10,hall\n1,,20,hall\n2,2.5,30,hall\n")
    described = describe_file(path)
    assert (described.column, described.others, described.values) == ("load", ("load (2)",), [1.5, None, 2.5])
    assert described.left_out == ("place",)


def test_between_semicolons_a_comma_is_a_decimal_point(tmp_path: Path) -> None:
    path = tmp_path / "halle.csv"
    path.write_text("Datum;Last\n01.01.2026;3,5\n02.01.2026;-4\n03.01.2026;\n")
    assert describe_file(path).values == [3.5, -4, None]


def test_a_header_without_rows_is_refused_with_its_names(tmp_path: Path) -> None:
    path = tmp_path / "header.csv"
    path.write_text("time,load\n")
    with pytest.raises(FrameError, match=r"has a header \(time, load\) and no rows"):
        describe_file(path)


def test_a_plot_is_a_picture(tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal(300) + 5.0 * (np.arange(300) > 150)
    values[20] = 30.0
    assert plot(values, tmp_path / "series.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(FrameError, match=r"\.png or \.svg"):
        plot(values, tmp_path / "series.gif")

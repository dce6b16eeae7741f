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
    with pytest.raises(FrameError, match="line 2 is the text 'anna'"):
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


@pytest.mark.parametrize(
    ("cells", "values", "unit"),
    [
        (["5%", "7.5 %", ""], [5, 7.5, None], "%"),
        (["$0.5", "-$2", "$3"], [0.5, -2, 3], "$"),
        (["1,5", "2", "-0,25"], [1.5, 2, -0.25], None),
        (["1,234.5", "7", "1,000"], [1234.5, 7, 1000], None),
        (["1.234,5", "1.000", "7"], [1234.5, 1000, 7], None),
        (["1,234,567 €", "1,000 €", "12 €"], [1234567, 1000, 12], "€"),
        (["1", "2.5", "offline", "4"], [1, 2.5, None, 4], None),
    ],
)
def test_cells_are_read_as_people_write_numbers(
    tmp_path: Path, cells: list[str], values: list[float | None], unit: str | None
) -> None:
    path = tmp_path / "cells.tsv"
    path.write_text("name\tv\n" + "".join(f"hall\t{cell}\n" for cell in cells), encoding="utf-8")
    found = describe_file(path)
    assert (found.column, found.values, found.description.unit) == ("v", values, unit)
    assert ("1 cell is no number and taken as missing (first 'offline' in line 4)" in found.description.quality) == (
        "offline" in cells
    )


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        (["1,000", "2,000", "500"], "'1,000' may be 1000 or 1.000: write it without the comma"),
        (["5%", "$3", "7"], "line 2 is the text '5%', not a number"),
        (["1", "A", "2", "B"], "line 3 is the text 'A', not a number"),
        (["01/02/2026", "01/03/2026"], "day and month cannot be told apart"),
    ],
)
def test_a_column_with_two_readings_is_refused_with_the_reason(tmp_path: Path, cells: list[str], why: str) -> None:
    path = tmp_path / "cells.tsv"
    path.write_text("v\tload\n" + "".join(f"{cell}\t{line}\n" for line, cell in enumerate(cells)))
    with pytest.raises(FrameError) as refused:
        describe_file(path, "v")
    assert str(refused.value) == f"{path} column 'v': {_in_full(why)}; columns of numbers: load"


def _in_full(why: str) -> str:
    return f"dates not read as time: {why}" if "told apart" in why else why


def test_a_file_in_another_encoding_is_read_when_it_is_named(tmp_path: Path) -> None:
    path = tmp_path / "alt.csv"
    path.write_text("größe\n1\n2\n", encoding="latin-1")
    assert describe_file(path, "größe", encoding="latin-1").values == [1, 2]
    with pytest.raises(FrameError, match=r"alt\.csv is not UTF-8 text: name its encoding"):
        describe_file(path)


def test_numbers_of_the_rows_are_not_the_column_that_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    path.write_text("id,year,load\n" + "".join(f"{row},{1990 + row},{row * row % 7}\n" for row in range(20)))
    found = describe_file(path)
    assert (found.column, found.left_out, found.description.slope_per) == ("load", ("id",), "year")
    assert describe_file(path, "id").description.count == 20


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

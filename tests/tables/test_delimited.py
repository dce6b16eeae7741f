"""CSV and TSV in."""

from pathlib import Path

import pytest

from batchwork.core.errors import InputError
from batchwork.tables import TableRow, open_table


def _file(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_csv_values_stay_text_and_records_may_span_lines(tmp_path: Path) -> None:
    path = _file(tmp_path, "a.csv", 'id,text\n1,"two\nlines, and ""quotes"""\n\n007,\u00fcber\n')
    table = open_table(path)
    assert table.columns == ("id", "text")
    assert list(table.rows()) == [
        TableRow(2, {"id": "1", "text": 'two\nlines, and "quotes"'}),
        TableRow(5, {"id": "007", "text": "\u00fcber"}),
    ]


def test_tabs_and_semicolons_are_understood(tmp_path: Path) -> None:
    assert list(open_table(_file(tmp_path, "a.tsv", "a\tb\n1\t2,3\n")).rows()) == [TableRow(2, {"a": "1", "b": "2,3"})]
    assert list(open_table(_file(tmp_path, "a.csv", "a;b\n1;2,3\n")).rows()) == [TableRow(2, {"a": "1", "b": "2,3"})]


def test_a_ragged_or_broken_csv_record_is_that_rows_problem(tmp_path: Path) -> None:
    path = _file(tmp_path, "a.csv", b'a,b\n1\n1,2,3\n\xff,2\n"x"y,2\nok,ok\n"open,2\nend,end\n')
    rows = list(open_table(path).rows())
    assert [row.number for row in rows] == [2, 3, 4, 5, 6, 7]
    problems = [row.problem for row in rows]
    assert problems[0] == "line 2 has 1 field, the header has 2"
    assert problems[1] == "line 3 has 3 fields, the header has 2"
    assert problems[2] == "line 4 is not UTF-8 text; if the file is in another encoding, name it: --encoding cp1252"
    assert problems[3] is not None
    assert problems[3].startswith("line 5 is not CSV")
    assert rows[4] == TableRow(6, {"a": "ok", "b": "ok"})
    assert problems[5] is not None
    assert "is a quote left open?" in problems[5]


def test_a_very_long_field_is_read(tmp_path: Path) -> None:
    path = _file(tmp_path, "a.csv", "a\n" + "x" * 3_000_000 + "\n")
    assert len(next(open_table(path).rows()).columns["a"]) == 3_000_000


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b,a\n1,2,3\n", "names 'a' twice"),
        ("a,,c\n1,2,3\n", "column 2 of the header has no name"),
        (b"\xff\xfea\x00\n\x00", "UTF-16"),
        (b"\xe9t\xe9,b\n1,2\n", "not UTF-8"),
        ('"a\n1\n', "header cannot be read"),
    ],
)
def test_a_csv_file_that_cannot_name_its_columns_is_an_error(tmp_path: Path, content: str | bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        open_table(_file(tmp_path, "a.csv", content))


@pytest.mark.parametrize(("content", "columns"), [("", ()), ("\n\n", ()), (b"\xef\xbb\xbf", ()), ("a,b\n", ("a", "b"))])
def test_a_file_without_rows_is_an_empty_table(tmp_path: Path, content: str | bytes, columns: tuple[str, ...]) -> None:
    table = open_table(_file(tmp_path, "a.csv", content))
    assert (table.columns, table.first(), list(table.rows())) == (columns, None, [])

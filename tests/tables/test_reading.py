import io
import json
from pathlib import Path

import pytest

from batchwork.core.errors import InputError
from batchwork.tables import TableRow, open_table, total_rows


def _file(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json", "A.JSONL"])
def test_json_lines_are_rows_with_their_line_numbers(tmp_path: Path, name: str) -> None:
    path = _file(tmp_path, name, '{"a": 1}\n\n  \n{"a": "zwei", "b": [1, {"c": null}]}')
    assert list(open_table(path).rows()) == [TableRow(1, {"a": 1}), TableRow(4, {"a": "zwei", "b": [1, {"c": None}]})]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"not json", "line 2 is not JSON"),
        (b'{"a": 1', "line 2 is not JSON"),
        (b'{"a": NaN}', "line 2 is not JSON"),
        (b"[1, 2]", "line 2 is not a JSON object: got array"),
        (b"17", "line 2 is not a JSON object: got int"),
        (b'{"a": "\xff"}', "line 2 is not JSON: it is not UTF-8 text (byte 0xff)"),
        (b'{"a": "\\ud800"}', "line 2 is not JSON: half of a surrogate pair"),
        (b'{"a": 1e999}', "line 2 is not usable JSON"),
        (b'{"a":' + b"[" * 100_000, "line 2 is not usable JSON: it is nested too deeply"),
    ],
)
def test_a_line_nobody_can_read_is_a_row_with_a_problem_and_the_others_go_on(
    tmp_path: Path, line: bytes, said: str
) -> None:
    path = _file(tmp_path, "a.jsonl", b'{"a": 0}\n' + line + b'\n{"a": 2}\n')
    first, bad, last = open_table(path).rows()
    assert (first.columns, last) == ({"a": 0}, TableRow(3, {"a": 2}))
    assert bad.number == 2
    assert bad.columns == {}
    assert bad.problem is not None
    assert bad.problem.startswith(said)
    assert bad.raw is not None
    assert len(bad.raw) <= 1_000
    bad.raw.encode()


def test_a_byte_order_mark_is_no_part_of_the_first_row(tmp_path: Path) -> None:
    assert list(open_table(_file(tmp_path, "a.jsonl", b'\xef\xbb\xbf{"a": 1}\n')).rows()) == [TableRow(1, {"a": 1})]
    assert list(open_table(_file(tmp_path, "a.csv", b"\xef\xbb\xbfa\n1\n")).rows()) == [TableRow(2, {"a": "1"})]
    bad = next(open_table(_file(tmp_path, "b.jsonl", b"\xef\xbb\xbf{\n{}")).rows())
    assert bad.problem is not None
    assert bad.problem.startswith("line 1 is not JSON")


def test_the_columns_of_json_lines_are_those_of_the_first_thousand_rows(tmp_path: Path) -> None:
    lines = [json.dumps({"a": i} if i < 999 else {"b": i} if i < 1000 else {"late": i}) for i in range(1500)]
    table = open_table(_file(tmp_path, "a.jsonl", "\n".join(lines)))
    assert table.columns == ("a", "b")
    assert table.lacking(["a", "late", "never"]) == ("never",)


def test_standard_input_is_read_once_and_keeps_the_rows_that_were_looked_at() -> None:
    lines = [json.dumps({"n": i, f"c{i // 1000}": 1}).encode() + b"\n" for i in range(2500)]
    table = open_table("-", stdin=io.BytesIO(b"".join(lines)))
    assert table.columns == ("n", "c0")
    assert [row.columns["n"] for row in table.rows()] == list(range(2500))
    assert table.columns == ("n", "c0")
    with pytest.raises(InputError, match="only once"):
        table.rows()


def test_standard_input_without_rows_is_an_error() -> None:
    with pytest.raises(InputError, match="standard input has no rows"):
        open_table("-", stdin=io.BytesIO(b"\n\n"))


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
    assert problems[2] == "line 4 is not UTF-8 text"
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
        ("", "is empty"),
        ("a,b\n", "has no rows"),
        (b"\xff\xfea\x00\n\x00", "UTF-16"),
        (b"\xe9t\xe9,b\n1,2\n", "not UTF-8"),
        ('"a\n1\n', "header cannot be read"),
    ],
)
def test_a_csv_file_that_cannot_name_its_columns_is_an_error(tmp_path: Path, content: str | bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        open_table(_file(tmp_path, "a.csv", content))


def test_what_cannot_be_opened_is_said_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.jsonl: there is no such file"):
        open_table(tmp_path / "gone.jsonl")
    with pytest.raises(InputError, match=r"gone\.xyz: there is no such file"):
        open_table(tmp_path / "gone.xyz")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=r"folder\.csv is a folder"):
        open_table(tmp_path / "folder.csv")
    with pytest.raises(
        InputError, match=r"'.xlsx' is not known; known are .jsonl, .ndjson, .json, .csv, .tsv, .parquet"
    ):
        open_table(_file(tmp_path, "a.xlsx", "x"))
    with pytest.raises(InputError, match=r"a\.jsonl has no rows"):
        open_table(_file(tmp_path, "a.jsonl", "\n"))
    with pytest.raises(InputError, match="jq -c"):
        open_table(_file(tmp_path, "a.json", '[{"a": 1},\n{"a": 2}]'))
    with pytest.raises(InputError, match="UTF-16"):
        open_table(_file(tmp_path, "u.jsonl", '{"a": 1}\n'.encode("utf-16")))
    with pytest.raises(InputError, match="cannot be read"):
        open_table("a\0.jsonl")


def test_rows_are_counted_without_reading_them(tmp_path: Path) -> None:
    assert total_rows(_file(tmp_path, "a.jsonl", '{"a": 1}\n{"a": 2}')) == 2
    assert total_rows(_file(tmp_path, "b.jsonl", '{"a": 1}\n{"a": 2}\n')) == 2
    assert total_rows(_file(tmp_path, "a.csv", 'a,b\n"x\ny",1\n"""\n""",2\n3,4')) == 3
    assert total_rows(_file(tmp_path, "empty.csv", "")) == 0
    assert total_rows("-") is None
    with pytest.raises(InputError, match="no such file"):
        total_rows(tmp_path / "gone.csv")


def test_quotes_across_block_boundaries_are_counted_right(tmp_path: Path) -> None:
    record = '"' + "line\n" * 300_000 + '",1\n'
    assert total_rows(_file(tmp_path, "a.csv", "a,b\n" + record * 3)) == 3


def test_a_table_is_read_lazily(tmp_path: Path) -> None:
    path = _file(tmp_path, "a.jsonl", '{"a": 1}\n' * 300_000)
    rows = open_table(path).rows()
    assert next(rows).number == 1
    assert next(rows).number == 2

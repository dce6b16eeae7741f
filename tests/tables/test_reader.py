"""Which reader a source gets, and how many rows it has."""

from io import BytesIO
from pathlib import Path

import pytest

from batchwork.core.errors import InputError
from batchwork.tables import TableRow, open_table, total_rows


def _file(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_byte_order_mark_is_no_part_of_the_first_row(tmp_path: Path) -> None:
    assert list(open_table(_file(tmp_path, "a.jsonl", b'\xef\xbb\xbf{"a": 1}\n')).rows()) == [TableRow(1, {"a": 1})]
    assert list(open_table(_file(tmp_path, "a.csv", b"\xef\xbb\xbfa\n1\n")).rows()) == [TableRow(2, {"a": "1"})]
    bad = next(open_table(_file(tmp_path, "b.jsonl", b"\xef\xbb\xbf{\n{}")).rows())
    assert bad.problem is not None
    assert bad.problem.startswith("line 1 is not JSON")


def test_standard_input_that_is_not_jsonl_is_refused_at_once_and_one_bad_line_is_not() -> None:
    with pytest.raises(InputError, match=r"standard input must be JSONL.*: line 1 is not JSON"):
        open_table("-", stdin=BytesIO(b"river,length\nRhine,1233\n"))
    rows = list(open_table("-", stdin=BytesIO(b'oh\n{"a": 1}\n')).rows())
    assert [row.problem is None for row in rows] == [False, True]


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

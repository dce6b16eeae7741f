"""JSON lines in: rows with their numbers, and lines nobody can read."""

import io
import json
from pathlib import Path

import pytest

from batchwork.core.errors import InputError
from batchwork.tables import TableRow, open_table


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


def test_standard_input_without_rows_is_an_empty_table() -> None:
    table = open_table("-", stdin=io.BytesIO(b"\n\n"))
    assert (table.first(), table.columns, list(table.rows())) == (None, (), [])

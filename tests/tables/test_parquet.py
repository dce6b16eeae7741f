import datetime as dt
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from batchwork.core.errors import ConfigError, InputError
from batchwork.tables import open_table, total_rows, write_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def _rewritten(path: Path, rows: list[dict[str, Any]], columns: tuple[str, ...] = ()) -> Any:
    with write_table(path, columns) as out:
        for row in rows:
            out.write(row)
    return pq.read_table(path)


def test_values_come_as_plain_json(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    values = {
        "text": ["a", None],
        "n": [1, 2],
        "x": [1.5, float("nan")],
        "day": [dt.date(2026, 11, 15), None],
        "at": pa.array([1_763_164_800_000_000_123, None], pa.timestamp("ns", "UTC")),
        "clock": pa.array([3_600_000_000_001, None], pa.time64("ns")),
        "span": pa.array([1_000_000_001, None], pa.duration("ns")),
        "money": [Decimal("1.50"), None],
        "raw": [b"ok", b"\xff"],
        "nested": [{"a": [1, 2.5], "d": dt.date(2026, 1, 2)}, None],
        "big": [float("inf"), float("-inf")],
    }
    pq.write_table(pa.table(values), path)
    table = open_table(path)
    assert table.columns == tuple(values)
    assert total_rows(path) == 2
    first, second = table.rows()
    assert first.number == 1
    assert first.columns == {
        "text": "a",
        "n": 1,
        "x": 1.5,
        "day": "2026-11-15",
        "at": "2025-11-15T00:00:00+00:00",
        "clock": "01:00:00",
        "span": "0:00:01",
        "money": "1.50",
        "raw": "ok",
        "nested": {"a": [1, 2.5], "d": "2026-01-02"},
        "big": "inf",
    }
    assert second.columns == dict.fromkeys(values, None) | {"n": 2, "raw": "/w==", "big": "-inf"}


def test_more_rows_than_a_batch_keep_their_order_and_number(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": list(range(5_000))}), path, row_group_size=700)
    assert [(row.number, row.columns["n"]) for row in open_table(path).rows()] == [(n + 1, n) for n in range(5_000)]


def test_a_file_that_is_not_parquet_is_an_error(tmp_path: Path) -> None:
    for name, content in [("a.parquet", b"PAR1 nonsense"), ("b.parquet", b"")]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=f"{name} is not a Parquet file"):
            open_table(tmp_path / name)
    with pytest.raises(InputError, match="no such file"):
        open_table(tmp_path / "gone.parquet")
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "none.parquet")
    assert open_table(tmp_path / "none.parquet").first() is None
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), tmp_path / "two.parquet")
    with pytest.raises(InputError, match="two columns named 'a'"):
        open_table(tmp_path / "two.parquet")


def test_without_pyarrow_the_message_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ConfigError, match=r"pip install 'batchwork\[parquet\]'"):
        open_table(tmp_path / "a.parquet")
    with pytest.raises(ConfigError, match=r"pip install 'batchwork\[parquet\]'"), write_table(tmp_path / "a.parquet"):
        pass


@pytest.mark.parametrize(
    ("values", "kind", "written"),
    [
        ([1, None, 3], "int64", [1, None, 3]),
        ([1, 2.5], "double", [1.0, 2.5]),
        ([Decimal("0.25"), 1], "double", [0.25, 1.0]),
        ([True, False], "bool", [True, False]),
        ([True, 1], "string", ["true", "1"]),
        (["a", 1, None, [1]], "string", ["a", "1", None, "[1]"]),
        ([{"a": 1}, None], "string", ['{"a":1}', None]),
        ([None, None], "string", [None, None]),
        ([2**63, 1], "string", [str(2**63), "1"]),
        ([2**53 + 1, 0.5], "string", [str(2**53 + 1), "0.5"]),
        ([float("nan"), 1.0], "double", [None, 1.0]),
        (["half \ud800 pair", "b"], "string", ["half \ufffd pair", "b"]),
    ],
)
def test_a_columns_type_fits_every_value(tmp_path: Path, values: list[Any], kind: str, written: list[Any]) -> None:
    table = _rewritten(tmp_path / "a.parquet", [{"v": value} for value in values])
    assert str(table.schema.field("v").type) == kind
    assert table.column("v").to_pylist() == written


def test_our_own_columns_have_their_type_even_when_nothing_is_in_them(tmp_path: Path) -> None:
    table = _rewritten(
        tmp_path / "a.parquet", [{"cost_usd": 0, "input_tokens": None, "latency_s": None, "error": None}]
    )
    assert [str(field.type) for field in table.schema] == ["double", "int64", "double", "string"]


def test_a_type_that_changes_late_and_a_column_that_comes_late_are_whole(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"v": n} for n in range(45_000)]
    rows.append({"v": "text", "late": 1})
    table = _rewritten(tmp_path / "a.parquet", rows, ("first", "v"))
    assert table.column_names == ["first", "v", "late"]
    assert table.column("v").to_pylist() == [*map(str, range(45_000)), "text"]
    assert table.column("late").to_pylist()[-1] == 1
    assert pq.ParquetFile(tmp_path / "a.parquet").metadata.num_row_groups == 3


def test_no_rows_make_a_file_with_the_columns(tmp_path: Path) -> None:
    assert _rewritten(tmp_path / "a.parquet", [], ("a", "cost_usd")).column_names == ["a", "cost_usd"]

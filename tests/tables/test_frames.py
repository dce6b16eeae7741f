import datetime as dt
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from batchwork.core.errors import ConfigError, InputError
from batchwork.tables import table_of
from batchwork.tables.values import plain

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
dataset = pytest.importorskip("pyarrow.dataset").dataset
write_dataset = pytest.importorskip("pyarrow.dataset").write_dataset
pq = pytest.importorskip("pyarrow.parquet")

COLUMNS = {"city": ["Oslo", "Rom"], "n": [1, None], "x": [0.5, None]}
ROWS = [{"city": "Oslo", "n": 1, "x": 0.5}, {"city": "Rom", "n": None, "x": None}]


def _dataset(folder: Path) -> Any:
    pq.write_table(pa.table(COLUMNS), folder / "a.parquet")
    return dataset(folder)


def _feather(folder: Path) -> Any:
    write_dataset(pa.table(COLUMNS), folder, format="feather")
    return dataset(folder, format="feather")


MAKERS: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: pd.DataFrame(COLUMNS).astype({"n": "Int64"}),
    "polars": lambda _: pl.DataFrame(COLUMNS),
    "polars lazy": lambda _: pl.DataFrame(COLUMNS).lazy(),
    "Arrow table": lambda _: pa.table(COLUMNS),
    "Arrow batch": lambda _: pa.table(COLUMNS).to_batches()[0],
    "Arrow reader": lambda _: pa.table(COLUMNS).to_reader(),
    "dataset": _dataset,
    "dataset in memory": lambda _: dataset(pa.table(COLUMNS)),
    "dataset of Feather files": _feather,
    "scanner": lambda folder: _dataset(folder).scanner(),
    "dicts": lambda _: ROWS,
    "generator": lambda _: (row for row in ROWS),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_rows_of_a_table_are_the_same_whatever_library_it_comes_from(
    make: Callable[[Path], Any], tmp_path: Path
) -> None:
    table = table_of(make(tmp_path))
    assert table.lacking(["city", "n", "x", "y"]) == ("y",)
    assert [row.columns for row in table.rows()] == ROWS


@pytest.mark.parametrize(
    ("value", "as_json"),
    [
        (float("nan"), None),
        (float("-inf"), "-inf"),
        (pd.NaT, None),
        (pd.NA, None),
        (np.float64("nan"), None),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.datetime64("2026-11-16T01:02:03.000000004"), "2026-11-16T01:02:03.000000004"),
        (np.datetime64("NaT"), None),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (pd.Timestamp("2026-11-16", tz="UTC"), "2026-11-16T00:00:00+00:00"),
        (dt.date(2026, 11, 16), "2026-11-16"),
        (dt.time(1, 2), "01:02:00"),
        (Decimal("1.50"), "1.50"),
        (Decimal("NaN"), None),
        (pd.Timedelta("1 day 2h"), "1 day, 2:00:00"),
        (dt.timedelta(days=1, hours=2), "1 day, 2:00:00"),
        ({"b": Decimal("1.5"), 2: [float("nan"), None]}, {"b": "1.5", "2": [None, None]}),
        ({"c", "a", "b"}, ["a", "b", "c"]),
        (b"ok", "ok"),
        (b"\xff", "/w=="),
        (2**70, 2**70),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_is_plain_json(value: object, as_json: object) -> None:
    assert plain(value) == as_json


def test_a_pandas_frame_has_missing_values_lists_and_categories_as_json_has_them() -> None:
    frame = pd.DataFrame(
        {
            "when": [pd.Timestamp("2026-11-16 01:02"), pd.NaT],
            "kind": pd.Categorical(["a", None]),
            "text": pd.array(["x", None], dtype="string"),
            "list": [np.array([1, 2]), None],
            "mixed": [Decimal("1.5"), "x"],
            3: [1.0, float("nan")],
        }
    )
    assert [row.columns for row in table_of(frame).rows()] == [
        {"when": "2026-11-16T01:02:00", "kind": "a", "text": "x", "list": [1, 2], "mixed": "1.5", "3": 1.0},
        {"when": None, "kind": None, "text": None, "list": None, "mixed": "x", "3": None},
    ]


def test_arrow_gives_what_python_cannot_hold_as_text() -> None:
    far = pa.array([0, 4_000_000], pa.int32()).cast(pa.date32())  # the second is in the year 12921
    column = pa.array(["a", "b"]).dictionary_encode()
    rows = [row.columns for row in table_of(pa.table({"day": far, "kind": column})).rows()]
    assert rows == [{"day": "1970-01-01", "kind": "a"}, {"day": rows[1]["day"], "kind": "b"}]
    assert "12921" in rows[1]["day"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns named 'a'"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "two columns named '1'"),
        (pa.table([[1], [2]], names=["a", "a"]), "two columns named 'a'"),
        (pd.DataFrame([[1]], columns=[("a", "b")]), "columns of several levels"),
        (pd.Series(["a"]), "a row of a table is a dict of its columns, not str"),
        (pl.Series(["a"]), "a row of a table is a dict of its columns, not str"),
        (pa.chunked_array([["a"]]), "cannot be read row by row"),
        (np.zeros((2, 2)), "a row of a table is a dict of its columns, not ndarray"),
        (["a"], r"not str; with prompt= \(or template=\) the input is a table"),
        (iter(["a"]), "not str; with prompt="),
        ({"city": "Oslo"}, "wrap it in a list"),
        ("cities.csv", "wrap it in a list"),
        (5, "wrap it in a list"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_table_is_refused_with_a_word_on_why(given: object, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        table_of(given)


class Elsewhere:
    """A frame that is computed somewhere else, as Spark's is."""

    columns = ("city",)


def test_a_frame_that_nobody_can_read_row_by_row_is_refused() -> None:
    with pytest.raises(ConfigError, match="cannot be read row by row; hand over a pandas, polars or Arrow table"):
        table_of(Elsewhere())


class OfArrow(Elsewhere):
    """A relation that gives its rows as a stream of Arrow, as DuckDB's does."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.table({"city": ["Oslo"]}).__arrow_c_stream__(requested_schema)


def test_whatever_gives_a_stream_of_arrow_is_a_table() -> None:
    assert [row.columns for row in table_of(OfArrow()).rows()] == [{"city": "Oslo"}]


def test_the_results_of_a_database_are_rows_although_they_have_a_method_for_columns() -> None:
    class Mappings(list):  # type: ignore[type-arg]
        def columns(self) -> None: ...

    assert [row.columns for row in table_of(Mappings(ROWS)).rows()] == ROWS


def test_rows_that_are_no_dicts_fail_alone_once_there_was_one() -> None:
    first, second, third = table_of([{"a": 1}, "b", {"a": 2}]).rows()
    assert (first.problem, third.problem) == (None, None)
    assert second.problem == "a row of a table is a dict of its columns, not str"


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("nobody knows")


def test_a_value_that_cannot_be_read_fails_its_row_alone() -> None:
    nest: list[Any] = []
    for _ in range(5_000):
        nest = [nest]
    frame = pd.DataFrame({"a": [1, Unprintable(), nest, 4]}, dtype=object)
    rows = list(table_of(frame).rows())
    assert [row.problem is None for row in rows] == [True, False, False, True]
    assert rows[1].problem == "a value cannot be read: RuntimeError: nobody knows"
    assert [row.problem for row in table_of(frame.to_dict("records")).rows()] == [row.problem for row in rows]


def test_a_generator_is_read_no_further_than_the_columns_that_are_asked_for() -> None:
    read: list[int] = []

    def rows() -> Iterator[dict[str, int]]:
        for number in range(5_000):
            read.append(number)
            yield {"a": 1} if number < 3 else {"a": 1, "late": 2}

    table = table_of(rows())
    assert table.lacking(["a"]) == ()
    assert len(read) == 1
    assert table.lacking(["late"]) == ()
    assert len(read) == 4
    assert sum(1 for _ in table.rows()) == 5_000


def test_a_lazy_table_that_breaks_off_says_so() -> None:
    def batches() -> Iterator[Any]:
        yield pa.record_batch({"a": [1]})
        raise OSError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), batches())
    with pytest.raises(InputError, match=r"RecordBatchReader cannot be read any further.*the disk is gone"):
        list(table_of(reader).rows())
    lazy = pl.LazyFrame({"a": ["x"]}).select(pl.col("a").cast(pl.Int64))
    with pytest.raises(InputError, match="LazyFrame cannot be read any further"):
        list(table_of(lazy).rows())
    with pytest.raises(InputError, match="LazyFrame cannot be read any further"):
        table_of(pl.LazyFrame({"a": ["x"]}).select("b"))


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "narwhals.stable.v2", None)
    with pytest.raises(ConfigError, match=r"pip install 'batchwork\[tables\]'"):
        table_of(pd.DataFrame(COLUMNS))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ConfigError, match="tables of Arrow need pyarrow"):
        table_of(pa.table(COLUMNS))


@pytest.mark.real
@pytest.mark.parametrize("kind", ["on disk", "iterable", "generated"])
def test_a_data_set_of_hugging_face_is_a_table(kind: str, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    on_disk = datasets.Dataset.from_dict(COLUMNS)
    generated = datasets.IterableDataset.from_generator(lambda: iter(ROWS))
    given = {"on disk": on_disk, "iterable": on_disk.to_iterable_dataset(), "generated": generated}[kind]
    table = table_of(given)
    assert table.lacking(["city", "y"]) == ("y",)
    assert [row.columns for row in table.rows()] == ROWS
    assert table.count() == (2 if kind == "on disk" else None)
    with pytest.raises(ConfigError, match=r"has splits \('train'\)"):
        table_of(datasets.DatasetDict({"train": on_disk}))

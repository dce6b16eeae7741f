"""Results as files and as the tables of other libraries."""

import json
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel

import batchwork
from batchwork import ConfigError
from batchwork.tables import exports
from batchwork.tables.exports import Exports
from tests.support.scripted import Scripted

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pq = pytest.importorskip("pyarrow.parquet")


class Made(Exports):
    """Results of any rows."""

    _ours: ClassVar[dict[str, type]] = {"status": str, "tokens": int, "cost": float}

    def __init__(self, *rows: dict[str, Any]) -> None:
        self._given = rows

    def _rows(self, *, flat: bool) -> Iterator[dict[str, Any]]:
        return iter(self._given)


@pytest.fixture(params=[1, 10_000], ids=["a row at a time", "at once"])
def _chunks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "CHUNK_ROWS", request.param)


@pytest.mark.usefixtures("_chunks")
@pytest.mark.parametrize(
    ("values", "kind", "stored"),
    [
        ([1, 2], "int64", None),
        ([1, 2.5], "double", [1.0, 2.5]),
        ([1, None], "int64", None),
        ([None, None], "null", None),
        ([1, "a"], "string", ["1", "a"]),
        ([True, 1], "string", ["true", "1"]),
        ([2**70, 1], "string", [str(2**70), "1"]),
        ([2**60 + 1, 0.5], "string", [str(2**60 + 1), "0.5"]),
        ([Decimal("1.5"), Decimal("0.125")], "decimal128(4, 3)", None),
        ([Decimal("1.5"), 0.1], "string", ["1.5", "0.1"]),
        ([[1], [2, 3]], "list<item: int64>", None),
        ([[1], ["a"]], "string", ["[1]", '["a"]']),
        ([{"a": 1}, {"b": "x"}], "struct<a: int64, b: string>", [{"a": 1, "b": None}, {"a": None, "b": "x"}]),
        ([{}, {"a": 1}], None, None),
        ([[{}], None], "string", ["[{}]", None]),
    ],
    ids=repr,
)
def test_a_column_has_the_type_that_holds_all_of_its_values(
    values: list[Any], kind: str | None, stored: list[Any] | None, tmp_path: Path
) -> None:
    made = Made(*({"x": value} for value in values))
    table = made.to_arrow()
    if kind is not None:
        assert str(table.schema.field("x").type) == kind
        assert table.column("x").to_pylist() == (values if stored is None else stored)
    assert pq.read_table(made.to_parquet(tmp_path / "a.parquet")).column("x").to_pylist() == table["x"].to_pylist()


@pytest.mark.usefixtures("_chunks")
def test_rows_with_different_columns_make_one_table(tmp_path: Path) -> None:
    made = Made({"a": 1, "status": "succeeded", "tokens": 3}, {"b": "x", "status": "failed", "tokens": None})
    columns = {"a": [1, None], "status": ["succeeded", "failed"], "tokens": [3, None], "b": [None, "x"]}
    assert made.to_arrow().to_pydict() == columns
    assert made.to_polars().to_dict(as_series=False) == columns
    assert pq.read_table(made.to_parquet(tmp_path / "a.parquet")).to_pydict() == columns
    frame = made.to_pandas()
    assert (list(frame), frame["tokens"].dtype, frame["tokens"].tolist()) == (list(columns), "Int64", [3, pd.NA])


def test_half_a_surrogate_pair_is_replaced_as_in_every_file() -> None:
    made = Made({"a\ud800": "x\ud800", "list": ["\ud800"]}, {"a\ud800": "y", "list": None})
    assert made.to_arrow().to_pydict() == {"a\ufffd": ["x\ufffd", "y"], "list": ['["\ufffd"]', None]}
    assert made.to_pandas()["a\ufffd"].tolist() == ["x\ufffd", "y"]


def test_nothing_has_our_columns_with_their_types(tmp_path: Path) -> None:
    nothing = Made()
    assert str(nothing.to_arrow().schema) == "status: string\ntokens: int64\ncost: double"
    assert nothing.to_polars().shape == (0, 3)
    assert dict(nothing.to_pandas().dtypes.astype(str)).items() >= {("tokens", "Int64"), ("cost", "float64")}
    assert nothing.to_jsonl(tmp_path / "a").read_text() == ""
    assert pq.read_table(nothing.to_parquet(tmp_path / "b")).num_rows == 0


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    class Broken(Made):
        def _rows(self, *, flat: bool) -> Iterator[dict[str, Any]]:
            yield {"a": 1}
            raise KeyError("half way")

    path = tmp_path / "out"
    path.write_text("before")
    for write in (Broken().to_jsonl, Broken().to_parquet):
        with pytest.raises(KeyError):
            write(path)
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow.parquet"])
def test_a_missing_library_is_named(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    out = {"pandas": "to_pandas", "polars": "to_polars", "pyarrow.parquet": "to_arrow"}[library]
    with pytest.raises(ConfigError, match=rf"{out}\(\) needs {library.partition('.')[0]}: pip install"):
        getattr(Made(), out)()


class Place(BaseModel):
    city: str
    status: str
    people: Decimal


def test_the_columns_of_the_input_stand_beside_ours_and_names_that_are_taken_give_way(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [7, 8], "city": ["Oslo", "Rom"], "status": ["old", "new"], "text": ["a", "b"]})
    answer = '{"city": "OSLO", "status": "capital", "people": 1.50}'
    backend = Scripted(lambda prompt, call: answer if "Oslo" in prompt else "no idea", free=True)
    asked = {"prompt": "Where is {city}?", "response_model": Place, "reask": 0}
    results = batchwork.run(frame, model="scripted", backend=backend, **asked)
    table = results.to_pandas()
    assert list(table)[:7] == ["id", "city", "input_status", "text", "response", "status", "error"]
    assert table["id"].tolist() == [7, 8]
    assert table["input_status"].tolist() == ["old", "new"]
    assert table["status"].tolist() == ["succeeded", "failed"]
    assert table["parsed.city"].tolist()[0] == "OSLO"
    assert table["parsed.status"].tolist()[0] == "capital"
    assert results.to_arrow().column("people").to_pylist() == [Decimal("1.5"), None]
    first, second = map(json.loads, results.to_jsonl(tmp_path / "a.jsonl").read_text().splitlines())
    assert first["parsed"] == {"city": "OSLO", "status": "capital", "people": "1.5"}
    assert (second["city"], second["response"], "parsed" in second) == ("Rom", "no idea", False)

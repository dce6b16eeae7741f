"""A manager's results as tables."""

from __future__ import annotations

import json
import re
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from batchwork import BatchManager, ConfigError
from tests.support.managers import City, cities, prompts, scripted
from tests.support.scripted import Scripted


def test_a_table_for_which_there_is_no_folder_is_a_clear_error(tmp_path: Path) -> None:
    manager = BatchManager(messages=prompts(1), **scripted(Scripted()))
    manager.run()
    for write in (manager.to_jsonl, manager.to_parquet):
        with pytest.raises(ConfigError, match=re.escape(f"there is no folder {tmp_path / 'no'} for out")):
            write(tmp_path / "no" / "out")
        with pytest.raises(ConfigError, match="is a folder"):
            write(tmp_path)


class Bill(BaseModel):
    total: Decimal
    lines: list[Decimal]
    paid: Decimal | bool


def test_a_table_keeps_decimals_exact_and_its_own_columns_typed(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    answers = {"p0": "1250.5", "p1": "0.125"}
    paid = {"p0": "1250.5", "p1": "false"}
    backend = Scripted(lambda p, c: f'{{"total": {answers[p]}, "lines": [0.1], "paid": {paid[p]}}}')
    manager = BatchManager(messages=prompts(2), response_model=Bill, **scripted(backend))
    manager.run()
    table = parquet.read_table(manager.to_parquet(tmp_path / "out.parquet"))
    assert table.column("total").to_pylist() == [Decimal("1250.5"), Decimal("0.125")]
    assert str(table.schema.field("total").type) == "decimal128(7, 3)"
    assert table.column("lines").to_pylist() == [[Decimal("0.1")], [Decimal("0.1")]]
    assert table.column("paid").to_pylist() == ["1250.5", "false"]
    assert str(table.schema.field("error").type) == "string"
    assert str(table.schema.field("cost").type) == "double"
    (first, _) = manager.to_jsonl(tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(first)["value"]["total"] == "1250.5"


def test_a_dataframe_has_one_row_per_item_or_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = BatchManager(messages=prompts(2), **scripted(Scripted()))
    manager.run()
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pandas", None)
        with pytest.raises(ConfigError, match=re.escape("pip install 'batchwork[dataframe]'")):
            manager.to_dataframe()
    pytest.importorskip("pandas")
    assert list(manager.to_dataframe()["value"]) == prompts(2)


def test_tables_come_out_in_input_order(tmp_path: Path, at_provider: dict[str, Any]) -> None:
    manager = BatchManager(messages=cities(3), response_model=City, **at_provider)
    manager.run()
    rows = [json.loads(line) for line in manager.to_jsonl(tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["value"]["city"] for row in rows] == ["Berlin0", "Berlin1", "Berlin2"]
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(manager.to_parquet(tmp_path / "out.parquet"))
    assert table.column("city").to_pylist() == ["Berlin0", "Berlin1", "Berlin2"]


def test_a_row_names_the_file_that_it_is_about(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Name: Porto")
    files = [tmp_path / "a.txt", b"Name: Lyon"]
    manager = BatchManager(files=files, prompt="Which city?", model="mock:echo")
    manager.run()
    rows = [json.loads(line) for line in manager.to_jsonl(tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["source"] for row in rows] == [str(tmp_path / "a.txt"), None]

"""The records of an SQLite file are found page by page, those in its log too, whatever else is broken."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from batchwork.journal.recovery.page_file import PageFile, page_sizes

_LONG = "x" * 100_000  # longer than a page: in an overflow chain
_VALUES: list[tuple[Any, ...]] = [
    (None, 0, 1, -1, 127, -32768, 1 << 20, -(1 << 40), 1 << 62),
    (0.5, "text", b"bytes", "ünï", b"", "", 1 << 30, -129, _LONG),
]


def write(path: Path, *, page_size: int = 4096) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA page_size = {page_size}")
        connection.execute("CREATE TABLE t (a, b, c, d, e, f, g, h, i)")
        connection.executemany("INSERT INTO t VALUES (?,?,?,?,?,?,?,?,?)", _VALUES)


def rows(path: Path, page_size: int = 4096) -> list[tuple[Any, ...]]:
    with closing(PageFile(path, page_size)) as pages:
        return [tuple(values) for _, values in pages.records() if len(values) == 9]


@pytest.mark.parametrize("page_size", [512, 4096, 32768])
def test_every_kind_of_value_is_read_as_sqlite_wrote_it(page_size: int, tmp_path: Path) -> None:
    write(tmp_path / "t.db", page_size=page_size)
    assert page_sizes(tmp_path / "t.db") == (page_size,)
    assert rows(tmp_path / "t.db", page_size) == _VALUES


def test_what_is_in_the_log_is_read_and_what_it_replaced_as_well(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    write(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("UPDATE t SET b = 42 WHERE rowid = 1")
        read = rows(path)
    assert {values[1] for values in read} == {0, 42, "text"}


@pytest.mark.parametrize("page_size", [4096, 32768])
def test_a_file_without_a_header_is_read_by_each_size_that_a_journal_may_have(page_size: int, tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    write(path, page_size=page_size)
    path.write_bytes(bytes(100) + path.read_bytes()[100:])
    assert page_size in page_sizes(path)
    assert rows(path, page_size) == _VALUES


def test_a_broken_chain_loses_its_record_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    write(path)
    path.write_bytes(path.read_bytes()[: 4096 * 3])
    assert rows(path) == _VALUES[:1]

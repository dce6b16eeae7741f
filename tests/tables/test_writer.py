import csv
import errno
import json
import os
import stat
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batchwork.core.errors import ConfigError, InputError
from batchwork.tables import check_output, open_table, write_table

_ROWS: list[dict[str, Any]] = [
    {"id": 1, "text": 'two\nlines, "quoted"\r', "nested": {"a": [1, None]}, "cost_usd": Decimal("0.0000125")},
    {"id": None, "text": "half \ud83d pair", "nested": [True], "ok": False, "cost_usd": 0.1 + 0.2},
]


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def _write(path: Path, rows: list[dict[str, Any]], columns: tuple[str, ...] = (), *, interrupted: bool = False) -> None:
    with write_table(path, columns) as out:
        for row in rows:
            out.write(row)
        if interrupted:
            raise KeyboardInterrupt
        assert out.rows == len(rows)


def test_json_lines_are_written_as_they_are(tmp_path: Path) -> None:
    _write(tmp_path / "a.jsonl", _ROWS)
    first, second = (json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines())
    assert first == _ROWS[0] | {"cost_usd": 0.0000125}
    assert second == _ROWS[1] | {"text": "half \ufffd pair"}


def test_csv_has_every_column_and_nested_values_as_json(tmp_path: Path) -> None:
    _write(tmp_path / "a.csv", _ROWS, ("id", "empty"))
    with (tmp_path / "a.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["id", "empty", "text", "nested", "cost_usd", "ok"],
        ["1", "", 'two\nlines, "quoted"\r', '{"a":[1,null]}', "1.25e-05", ""],
        ["", "", "half \ufffd pair", "[true]", "0.30000000000000004", "false"],
    ]


def test_a_semicolon_in_a_name_is_not_taken_for_the_delimiter(tmp_path: Path) -> None:
    _write(tmp_path / "a.csv", [{"a;b": 1}])
    assert open_table(tmp_path / "a.csv").columns == ("a;b",)


def test_tabs_separate_a_tsv(tmp_path: Path) -> None:
    _write(tmp_path / "a.tsv", [{"a": "x\ty", "b": 1}])
    assert next(open_table(tmp_path / "a.tsv").rows()).columns == {"a": "x\ty", "b": "1"}


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_an_exception_leaves_the_old_file_and_nothing_else(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("old")
    with pytest.raises(KeyboardInterrupt):
        _write(tmp_path / name, [{"a": 1}], interrupted=True)
    assert (tmp_path / name).read_text() == "old"
    assert _names(tmp_path) == [name]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_the_new_file_appears_whole_and_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("old")
    (tmp_path / name).chmod(0o640)
    with write_table(tmp_path / name) as out:
        out.write({"a": 1})
        assert (tmp_path / name).read_text() == "old"
    assert [row.columns for row in open_table(tmp_path / name).rows()] in ([{"a": 1}], [{"a": "1"}])
    assert _names(tmp_path) == [name]
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").write_text("old")
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")
    _write(tmp_path / "link.jsonl", [{"a": 1}])
    assert (tmp_path / "link.jsonl").is_symlink()
    assert (tmp_path / "real.jsonl").read_text() == '{"a":1}\n'


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_a_full_disk_is_said_with_the_path_and_nothing_is_lost(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / name).write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(InputError, match=rf"{name}: cannot be written: No space left"),
        write_table(tmp_path / name) as out,
    ):
        out.write({"a": 1})
    assert (tmp_path / name).read_text() == "old"
    assert _names(tmp_path) == [name]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_fills_up_while_rows_are_written_is_said_too(tmp_path: Path) -> None:
    def fill() -> None:
        with write_table(tmp_path / "a.jsonl") as out:
            assert out._file is not None
            out._file.close()
            out._file = Path("/dev/full").open("wb")  # noqa: SIM115
            for _ in range(100_000):
                out.write({"a": "x" * 100})

    with pytest.raises(InputError, match="No space left"):
        fill()
    assert _names(tmp_path) == []


def test_a_path_that_cannot_be_written_is_known_before_anything_happens(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for path, said in [
        (tmp_path / "folder.csv", "is a folder"),
        (tmp_path / "gone" / "a.csv", "does not exist"),
        (tmp_path / "a.xlsx", "known are .jsonl"),
        (tmp_path / "a", "known are .jsonl"),
    ]:
        with pytest.raises(ConfigError, match=said):
            check_output(path)
        with pytest.raises(ConfigError, match=said), write_table(path):
            pass


def test_a_read_only_folder_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # the owner of the machine may write anywhere
    with pytest.raises(ConfigError, match="cannot be written to"):
        check_output(tmp_path / "a.csv")


def test_a_nest_without_end_is_written_as_a_note(tmp_path: Path) -> None:
    nest: list[Any] = []
    for _ in range(100_000):
        nest = [nest]
    _write(tmp_path / "a.jsonl", [{"a": nest}, {"a": 1}])
    assert "nested too deeply" in (tmp_path / "a.jsonl").read_text()
    while nest:
        nest = nest.pop()  # taken apart by hand: letting go of it at once would recurse


_TEXT = st.text(st.characters(codec=None), max_size=8)
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None))
    | st.decimals(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.dictionaries(_TEXT.filter(bool), _VALUES, min_size=1, max_size=4), min_size=1, max_size=4))
@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_whatever_is_in_a_row_it_can_be_written_and_read_back(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, Any]]
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # a disk's time, not ours
    path = tmp_path / f"a.{suffix}"
    _write(path, rows)
    table = open_table(path)
    back = list(table.rows())
    assert len(back) == len(rows)
    assert [row.problem for row in back] == [None] * len(rows)

"""A run as one file: whole where it fits, else a sample that says so; it loads nothing and replaces nobody's file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from batchwork.core.errors import ConfigError
from batchwork.view.export import LARGEST, write_report
from tests.support.journals import BEGAN, row, settle, sqlite_journal, succeeded
from tests.support.view_pages import Elements, hostile_journal


def exported(folder: Path) -> str:
    write_report(folder / "run.db", folder, folder / "report.html", say=print)
    return (folder / "report.html").read_text("utf-8")


def test_a_report_stands_alone_and_nothing_in_it_is_taken_for_markup(tmp_path: Path) -> None:
    hostile_journal(tmp_path / "run.db")
    text = exported(tmp_path)
    seen = Elements(text)
    assert "All 2 items" in text
    assert not {"script", "img", "iframe", "object"} & set(seen.tags)
    assert not [name for name in seen.attributes if name.startswith("on") or name in ("src", "style")]
    assert set(re.findall(r'href="([^"]*)"', text)) <= {"data:,", "#items", "#item-0", "#item-1"}
    assert "'sha256-" in text


def test_a_report_of_very_much_is_a_sample_and_says_so(tmp_path: Path) -> None:
    journal = sqlite_journal(tmp_path / "run.db")
    journal.begin(BEGAN)
    for place in range(60):
        settle(journal, journal.place(place, row(f"{place} " + "é" * 60_000)).item, succeeded(place, "y" * 50_000))
    journal.close()
    text = exported(tmp_path)
    assert 3_000_000 < len(text.encode()) <= LARGEST
    assert re.search(r"A sample: \d+ of 60 items", text)


def test_a_file_that_is_no_report_is_not_replaced(tmp_path: Path) -> None:
    hostile_journal(tmp_path / "run.db")
    (tmp_path / "report.html").write_text("my thesis")
    with pytest.raises(ConfigError, match="no report"):
        exported(tmp_path)
    (tmp_path / "report.html").unlink()
    assert exported(tmp_path) != ""
    assert exported(tmp_path) != "", "a report is replaced by a later one"

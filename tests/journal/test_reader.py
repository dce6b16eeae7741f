"""A reader sees what is committed and stands in nobody's way."""

from __future__ import annotations

import shutil
from pathlib import Path

import batchwork
from batchwork.journal import JournalReader
from tests.support.journals import Pass, run_pass, sqlite_journal


def test_reading_needs_no_lock_and_sees_what_is_committed(tmp_path: Path) -> None:
    journal = sqlite_journal(tmp_path / "j.db")
    run_pass(journal, Pass([("a", None)], ["succeeded"]))
    journal.flush()
    reader = JournalReader(tmp_path / "j.db")
    assert reader.count() == 1
    run_pass(journal, Pass([("a", None), ("b", None)], ["succeeded"]))
    journal.flush()
    assert reader.count() == 2
    reader.close()
    journal.close()


def test_after_a_run_the_file_is_all_there_is_even_while_results_of_another_are_open(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    results = batchwork.run(map(str, range(100)), model="mock:echo", journal=path)
    assert results[50].text == "50"
    batchwork.run(map(str, range(200)), model="mock:echo", journal=path).close()
    shutil.copy(path, tmp_path / "copy.db")
    reader = JournalReader(tmp_path / "copy.db")
    assert reader.count() == 200
    reader.close()
    results.close()

"""A journal that is set aside is kept whole, under a name that was free."""

from __future__ import annotations

import shutil
from pathlib import Path

from batchwork.journal import JournalReader, set_aside
from tests.support.journals import Pass, killed_journal, run_pass, sqlite_journal


def test_setting_aside_keeps_what_a_killed_run_left_in_the_log(tmp_path: Path) -> None:
    path, killed = tmp_path / "j.db", tmp_path / "killed.db"
    journal = sqlite_journal(path)
    run_pass(journal, Pass([("a", None)], ["succeeded"]))
    journal.flush()
    for part in ("", "-wal"):
        shutil.copy(f"{path}{part}", f"{killed}{part}")
    journal.close()
    aside = set_aside(killed)
    assert aside == tmp_path / "killed.db.old-1"
    reader = JournalReader(aside)
    assert reader.count() == 1
    reader.close()
    assert set_aside(killed) is None


def test_names_that_are_taken_are_not_taken_again(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    for _ in range(3):
        sqlite_journal(path).close()
        set_aside(path)
    kept = [f"j.db.old-{number}{part}" for number in (1, 2, 3) for part in ("", ".mark")]
    assert sorted(file.name for file in tmp_path.iterdir()) == kept


def test_setting_a_damaged_journal_aside_takes_its_mark_and_log_along(tmp_path: Path) -> None:
    killed_journal(tmp_path / "j.db")
    (tmp_path / "j.db").unlink()
    assert set_aside(tmp_path / "j.db") == tmp_path / "j.db.old-1"
    assert {file.name for file in tmp_path.iterdir()} == {"j.db.old-1-wal", "j.db.old-1-shm", "j.db.old-1.mark"}
    sqlite_journal(tmp_path / "j.db").close()

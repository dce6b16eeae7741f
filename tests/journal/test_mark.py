"""A journal that is behind its mark has lost something; every other journal is taken as it is."""

import logging
import os
import re
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from batchwork.core.errors import JournalDamagedError
from batchwork.journal import JournalReader, back_up, recover
from batchwork.journal.connections import holds_nothing
from batchwork.journal.mark import Mark, MarkFile, read_mark
from tests.support.journals import PARTS, ROWS, Pass, killed_journal, run_pass, sqlite_journal


def count(path: Path) -> int:
    with closing(JournalReader(path)) as reader:
        return reader.count()


def contents(folder: Path) -> dict[str, bytes]:
    files = [file for file in folder.iterdir() if not file.name.endswith("-shm")]
    return {file.name: body for file in files if (body := file.read_bytes())}


def refusals(path: Path) -> list[str]:
    """Why a writer, a reader and a backup refuse a damaged journal; none of them changes a file."""
    before = contents(path.parent)
    reasons = []
    for use in (sqlite_journal, JournalReader, lambda path: back_up(path, path.with_name("copy"))):
        with pytest.raises(JournalDamagedError) as refused:
            use(path)
        reasons.append(str(refused.value))
    assert contents(path.parent) == before
    return reasons


def test_the_tables_and_the_name_of_the_journal_are_in_the_file_itself_from_the_start(tmp_path: Path) -> None:
    journal = sqlite_journal(tmp_path / "j.db")
    shutil.copy2(tmp_path / "j.db", tmp_path / "alone.db")
    with closing(JournalReader(tmp_path / "alone.db")) as reader:
        sums = reader.sums()
    assert sums.run_id == journal.run_id
    journal.close()


def test_a_killed_journal_with_all_its_parts_is_whole(tmp_path: Path) -> None:
    killed_journal(tmp_path / "j.db")
    assert count(tmp_path / "j.db") == 20


def test_one_whose_log_is_gone_is_damaged_and_says_what_to_do(tmp_path: Path) -> None:
    killed_journal(tmp_path / "j.db")
    (tmp_path / "j.db-wal").unlink()
    assert all(
        re.search(r"ends at event 0, but j\.db\.mark says that 62 .* log j\.db-wal .*recover", reason)
        for reason in refusals(tmp_path / "j.db")
    )


def test_it_is_whole_again_with_its_log(tmp_path: Path) -> None:
    killed_journal(tmp_path / "j.db")
    (tmp_path / "j.db-wal").rename(tmp_path / "found")
    with pytest.raises(JournalDamagedError):
        sqlite_journal(tmp_path / "j.db")
    (tmp_path / "found").rename(tmp_path / "j.db-wal")
    (tmp_path / "j.db-shm").unlink(missing_ok=True)
    assert count(tmp_path / "j.db") == 20


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.99])
def test_one_whose_log_was_cut_is_damaged(share: float, tmp_path: Path) -> None:
    killed_journal(tmp_path / "j.db")
    os.truncate(tmp_path / "j.db-wal", int(share * (tmp_path / "j.db-wal").stat().st_size))
    (tmp_path / "j.db-shm").unlink()
    with pytest.raises(JournalDamagedError):
        sqlite_journal(tmp_path / "j.db")


def test_one_whose_file_was_emptied_is_damaged(tmp_path: Path) -> None:
    killed_journal(tmp_path / "j.db")
    for part in ("-wal", "-shm"):
        (tmp_path / f"j.db{part}").unlink()
    (tmp_path / "j.db").write_bytes(b"")
    assert all(re.search("ends at event 0", reason) for reason in refusals(tmp_path / "j.db"))
    with pytest.raises(JournalDamagedError):
        holds_nothing(tmp_path / "j.db")


@pytest.mark.parametrize("left", ["empty", "gone"])
def test_a_log_without_its_file_is_not_deleted_but_can_be_recovered(left: str, tmp_path: Path) -> None:
    killed_journal(tmp_path / "j.db")
    (tmp_path / "j.db").unlink()
    if left == "empty":
        (tmp_path / "j.db").touch()
    assert all(
        re.search(rf"it is {left}, but its log j\.db-wal is there", reason) for reason in refusals(tmp_path / "j.db")
    )
    assert recover(tmp_path / "j.db").outcomes == 20
    assert count(tmp_path / "j.db") == 20


def test_a_file_without_tables_is_damaged(tmp_path: Path) -> None:
    """So a journal of batchwork 0.1 looked, whose process was killed early and whose log is gone."""
    killed_journal(tmp_path / "j.db")
    code = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA journal_mode = WAL')"
    subprocess.run([sys.executable, "-c", code, tmp_path / "old.db"], check=True, timeout=60)
    assert (tmp_path / "old.db").stat().st_size == 4096
    assert all(
        re.search(r"has no tables: is its log old\.db-wal gone\?", reason) for reason in refusals(tmp_path / "old.db")
    )


def test_an_older_copy_in_its_place_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    sqlite_journal(path).close()
    older = path.read_bytes()
    journal = sqlite_journal(path)
    run_pass(journal, Pass(ROWS, ["succeeded"] * 20))
    journal.close()
    path.write_bytes(older)
    assert all(re.search("an older copy took its place", reason) for reason in refusals(path))


def test_a_copy_with_its_companions_goes_on_elsewhere(tmp_path: Path) -> None:
    killed_journal(tmp_path / "j.db")
    (tmp_path / "there").mkdir()
    for part in PARTS:
        (tmp_path / f"j.db{part}").rename(tmp_path / "there" / f"k.db{part}")
    assert count(tmp_path / "there" / "k.db") == 20
    sqlite_journal(tmp_path / "there" / "k.db").close()


def test_a_journal_without_a_mark_is_taken_as_it_is_and_gets_one(tmp_path: Path) -> None:
    killed_journal(tmp_path / "j.db")
    (tmp_path / "j.db.mark").unlink()
    assert count(tmp_path / "j.db") == 20
    assert not (tmp_path / "j.db.mark").exists(), "a reader writes nothing"
    sqlite_journal(tmp_path / "j.db").close()
    assert read_mark(tmp_path / "j.db") == Mark(run_id_of(tmp_path / "j.db"), 62, 220)


def run_id_of(path: Path) -> str:
    with closing(JournalReader(path)) as reader:
        sums = reader.sums()
    return sums.run_id


def test_deleting_the_mark_accepts_the_loss(tmp_path: Path) -> None:
    killed_journal(tmp_path / "j.db")
    for part in ("-wal", "-shm", ".mark"):
        (tmp_path / f"j.db{part}").unlink()
    assert count(tmp_path / "j.db") == 0


def test_a_mark_behind_the_journal_is_what_a_crash_before_the_note_leaves(tmp_path: Path) -> None:
    killed_journal(tmp_path / "j.db")
    with closing(MarkFile(tmp_path / "j.db")) as mark:
        mark.write(Mark(run_id_of(tmp_path / "j.db"), 61, 0))
    assert count(tmp_path / "j.db") == 20


@pytest.mark.parametrize("body", [b"", bytes(128)])
def test_a_mark_that_a_power_failure_emptied_says_nothing(body: bytes, tmp_path: Path) -> None:
    killed_journal(tmp_path / "j.db")
    (tmp_path / "j.db.mark").write_bytes(body)
    assert count(tmp_path / "j.db") == 20


def test_a_mark_with_a_flipped_bit_is_not_trusted_and_says_what_to_do(tmp_path: Path) -> None:
    killed_journal(tmp_path / "j.db")
    body = bytearray((tmp_path / "j.db.mark").read_bytes())
    body[35] ^= 1
    (tmp_path / "j.db.mark").write_bytes(body)
    with pytest.raises(JournalDamagedError, match=r"delete j\.db\.mark to go on"):
        sqlite_journal(tmp_path / "j.db")


def test_the_mark_of_another_journal_says_nothing_about_this_one(tmp_path: Path) -> None:
    killed_journal(tmp_path / "j.db")
    sqlite_journal(tmp_path / "k.db").close()
    (tmp_path / "k.db").replace(tmp_path / "j.db")
    for part in ("-wal", "-shm"):
        (tmp_path / f"j.db{part}").unlink()
    assert count(tmp_path / "j.db") == 0


def test_a_journal_that_was_deleted_is_begun_anew_with_a_word(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    journal = sqlite_journal(tmp_path / "j.db")
    with closing(JournalReader(tmp_path / "j.db")) as reader:
        run_pass(journal, Pass(ROWS, ["succeeded"] * 20))
        journal.flush()
        reader._connection.one("SELECT 1 FROM total")  # whoever reads keeps the log from being emptied
        journal.close()
    assert (tmp_path / "j.db-wal").stat().st_size, "a rest of the log must be there, or this proves nothing"
    (tmp_path / "j.db").unlink()
    with caplog.at_level(logging.WARNING):
        sqlite_journal(tmp_path / "j.db").close()
    assert "j.db, which had 62 events, is gone: starting anew" in caplog.text
    assert count(tmp_path / "j.db") == 0


def test_an_empty_file_is_a_new_journal(tmp_path: Path) -> None:
    (tmp_path / "j.db").touch(0o640)
    sqlite_journal(tmp_path / "j.db").close()
    assert count(tmp_path / "j.db") == 0
    assert (tmp_path / "j.db").stat().st_mode & 0o777 == 0o640

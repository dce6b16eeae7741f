"""One writer per journal, and nobody else finds his way into the files beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from batchwork.core.errors import JournalError, JournalLockedError
from batchwork.journal.companions import LOG, MARK, beside
from tests.support.journals import python, sqlite_journal


def test_a_second_process_gets_an_error_that_names_the_holder(tmp_path: Path) -> None:
    journal = sqlite_journal(tmp_path / "j.db")
    code = "import sys, batchwork\ntry: batchwork.run(['a'], model='mock:echo', journal=sys.argv[1])\n"
    code += "except batchwork.JournalLockedError as error: print(error)"
    result = python(code, tmp_path / "j.db")
    journal.close()
    assert f"is in use by process {os.getpid()}" in result.stdout


def test_so_does_a_second_run_in_the_same_process(tmp_path: Path) -> None:
    journal = sqlite_journal(tmp_path / "j.db")
    with pytest.raises(JournalLockedError, match=f"process {os.getpid()}"):
        sqlite_journal(tmp_path / "j.db")
    journal.close()
    sqlite_journal(tmp_path / "j.db").close()


def test_a_lock_left_by_a_killed_process_is_none(tmp_path: Path) -> None:
    (tmp_path / "j.db.lock").write_text("99999")
    sqlite_journal(tmp_path / "j.db").close()
    assert not (tmp_path / "j.db.lock").exists()


def test_a_link_to_a_journal_has_the_journals_own_lock_and_mark(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "j.db")
    journal = sqlite_journal(tmp_path / "link.db")
    with pytest.raises(JournalError, match="in use"):
        sqlite_journal(tmp_path / "real" / "j.db")
    journal.close()
    assert beside(tmp_path / "link.db", MARK) == tmp_path / "real" / "j.db.mark"
    assert (tmp_path / "real" / "j.db.mark").exists()
    assert not beside(tmp_path / "link.db", LOG).exists()


def test_a_link_in_the_place_of_a_companion_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    for part in (".mark", ".lock"):
        (tmp_path / f"j.db{part}").symlink_to(tmp_path / "precious")
        with pytest.raises(JournalError, match="cannot write beside"):
            sqlite_journal(tmp_path / "j.db")
        (tmp_path / f"j.db{part}").unlink()
    assert (tmp_path / "precious").read_text() == "mine"

"""A journal in use looks so to other processes; a file that is none, or not ours, is a clear error and not touched."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import batchwork
from batchwork.core.errors import JournalError
from batchwork.journal import JournalReader
from batchwork.journal.connections import holds_nothing, is_open_here
from tests.support.journals import BEGAN, Pass, python, row, run_pass, settle, sqlite_journal, succeeded

# The lock by which SQLite tells that the index of a log is in use; who can take it cuts the index off.
_TAKE_IT = """
import fcntl, sys
with open(sys.argv[1], "r+b") as index:
    fcntl.lockf(index, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 128)
"""


def is_unguarded(path: Path) -> bool:
    """Whether another process would take the log for one that was left behind."""
    index = path.with_name(path.name + "-shm")
    return (
        subprocess.run([sys.executable, "-c", _TAKE_IT, str(index)], capture_output=True, check=False).returncode == 0
    )


@pytest.mark.skipif(sys.platform != "linux", reason="where SQLite puts its locks")
def test_a_journal_in_use_looks_so_from_outside_whoever_looks_at_it_from_inside(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    journal = sqlite_journal(path)
    journal.begin(BEGAN)
    journal.flush()
    assert not is_unguarded(path)
    with closing(JournalReader(path)) as reader:
        assert reader.count() == 0
    assert not holds_nothing(path)
    assert not is_unguarded(path)
    journal.close()


def test_a_connection_is_counted_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    assert not is_open_here(path)
    journal = sqlite_journal(path)
    reader = JournalReader(path)
    journal.close()
    assert is_open_here(path)
    path = path.rename(tmp_path / "moved.db")
    assert is_open_here(path)
    reader.close()
    assert not is_open_here(path)


_LOOK_ON = """
import sys
from pathlib import Path
from batchwork.journal import JournalReader
for _ in range(40):
    reader = JournalReader(Path(sys.argv[1]))
    reader.counts()
    reader.close()
"""


def test_a_process_that_looks_on_neither_disturbs_the_writer_nor_sees_half_of_a_write(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    journal = sqlite_journal(path)
    journal.begin(BEGAN)
    journal.flush()
    written = 0
    with subprocess.Popen([sys.executable, "-c", _LOOK_ON, str(path)], stderr=subprocess.PIPE) as onlooker:
        while onlooker.poll() is None:
            item = journal.place(written, row(f"p{written}")).item
            settle(journal, item, succeeded(written))
            journal.release(item)
            journal.flush()
            written += 1
        assert onlooker.returncode == 0, onlooker.communicate()[1].decode()
    assert sum(journal.counts().values()) == written
    journal.close()


# -- files that are not journals, or not ours to read or write -----------------------------------------------


_NOBODY = 65534


@pytest.mark.parametrize("content", [b"dear diary\n" * 50, b"\0" * 5000, b"{}", b"SQLite format 4\0" + bytes(5000)])
def test_a_file_that_is_not_a_journal_is_not_touched(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    path.write_bytes(content)
    with pytest.raises(JournalError, match="not a batchwork journal"):
        sqlite_journal(path)
    with pytest.raises(JournalError, match="not a batchwork journal"):
        JournalReader(path)
    assert path.read_bytes() == content


def test_neither_is_somebody_elses_database(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    theirs = sqlite3.connect(path)
    theirs.execute("CREATE TABLE t (x)")
    theirs.commit()
    theirs.close()
    before = path.read_bytes()
    with pytest.raises(JournalError, match="not a batchwork journal"):
        sqlite_journal(path)
    assert path.read_bytes() == before


def test_a_journal_of_a_newer_version_says_so(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    sqlite_journal(path).close()
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(JournalError, match=r"newer batchwork \(journal format 99.*upgrade"):
        sqlite_journal(path)


@pytest.mark.parametrize("make", [lambda p: None, lambda p: p.mkdir(), lambda p: p.write_bytes(b"")])
def test_there_is_no_journal_to_read_where_there_is_none(make: Any, tmp_path: Path) -> None:
    make(tmp_path / "j.db")
    with pytest.raises(JournalError):
        JournalReader(tmp_path / "j.db")


def test_an_empty_file_becomes_a_journal(tmp_path: Path) -> None:
    (tmp_path / "j.db").touch()
    assert [r.text for r in batchwork.run(["a"], model="mock:echo", journal=tmp_path / "j.db")] == ["a"]


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that a stranger may enter; pytest closes its own to strangers whenever a run of tests begins."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def locked_folder(open_folder: Path) -> Path:
    """A folder with a journal in it that a stranger may read but not write."""
    folder = open_folder / "locked"
    folder.mkdir()
    journal = sqlite_journal(folder / "j.db")
    run_pass(journal, Pass([("a", None)], ["succeeded"]))
    journal.close()
    (folder / "j.db").chmod(0o444)
    folder.chmod(0o555)
    return folder


def _as_stranger(code: str, path: Path) -> str:
    if os.getuid() != 0:
        return python(code, path).stdout
    change = f"import os; os.setgroups([]); os.setgid({_NOBODY}); os.setuid({_NOBODY})\n"
    imports = "import sys, batchwork, batchwork.runs, batchwork.backends.mock\nfrom pathlib import Path\n"
    result = python(imports + "from batchwork.journal import JournalReader\n" + change + code, path)
    return result.stdout + result.stderr


def test_a_read_only_folder_is_a_clear_error(locked_folder: Path) -> None:
    code = (
        "try: batchwork.run(['a'], model='mock:echo', journal=sys.argv[1])\n"
        "except batchwork.JournalWriteError as error: print('said:', error)\n"
    )
    assert "said: cannot write beside the journal" in _as_stranger(code, locked_folder / "j.db")


def test_a_journal_in_a_read_only_folder_can_be_read(locked_folder: Path) -> None:
    code = "print('count:', JournalReader(Path(sys.argv[1])).count())\n"
    assert "count: 1" in _as_stranger(code, locked_folder / "j.db")


def test_a_file_that_may_not_be_read_is_a_clear_error(open_folder: Path) -> None:
    path = open_folder / "secret.db"
    sqlite_journal(path).close()
    path.chmod(0o000)
    code = "try: JournalReader(Path(sys.argv[1]))\nexcept batchwork.JournalError as error: print('said:', error)\n"
    assert "said: cannot read the journal" in _as_stranger(code, path)

"""Other processes must see that a journal is in use, whatever this one does with its files."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from batchwork.journal import JournalReader
from batchwork.journal.connections import holds_nothing, is_open_here
from tests.support.journals import BEGAN, row, settle, sqlite_journal, succeeded

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

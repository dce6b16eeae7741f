"""Vectors beside a journal: on the disk before their event, found again, and missed when they are gone."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from batchwork.core.errors import JournalDamagedError, JournalWriteError
from batchwork.core.event import Settled
from batchwork.core.outcome import Succeeded
from batchwork.core.reply import Reply
from batchwork.journal import JournalReader, SqliteJournal, recover
from batchwork.journal.vector_file import VectorFile
from tests.support.journals import BEGAN, row


def opened(path: Path) -> SqliteJournal:
    return SqliteJournal(path, utc=lambda: 1000.0, vectors_apart=True)


def vectors(number: int) -> bytes:
    return bytes([number]) * 40_000


def add(journal: SqliteJournal, *numbers: int) -> None:
    """Settle an item with its vectors for each of these numbers."""
    for number in numbers:
        item = journal.place(number, row(f"pack {number}")).item
        reply = Reply(text="", vectors=vectors(number), dimensions=10)
        journal.record(Settled(item=item, outcome=Succeeded(index=number, reply=reply)))


def written(path: Path, *numbers: int) -> Path:
    with closing(opened(path)) as journal:
        journal.begin(BEGAN)
        add(journal, *numbers)
    return path.with_name(f"{path.name}.vectors")


def read(path: Path) -> list[bytes | None]:
    with closing(JournalReader(path)) as reader:
        outcomes = [entry.outcome for entry in reader.entries()]
    return [outcome.reply.vectors if isinstance(outcome, Succeeded) else None for outcome in outcomes]


def test_vectors_are_written_once_and_what_a_kill_left_behind_them_is_in_nobodys_way(tmp_path: Path) -> None:
    beside = written(tmp_path / "j.db", 0, 1)
    assert beside.stat().st_size == 80_000
    assert (tmp_path / "j.db").stat().st_size < 80_000
    with beside.open("ab") as file:
        file.write(b"half of a pack whose event was never committed")
    written(tmp_path / "j.db", 2)
    assert read(tmp_path / "j.db") == [vectors(0), vectors(1), vectors(2)]


def test_they_are_on_the_disk_before_their_event_is(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "j.db")) as journal:
        journal.begin(BEGAN)
        add(journal, 0)
        journal.flush()
        assert read(tmp_path / "j.db") == [vectors(0)]


@pytest.mark.parametrize("is_cut", [True, False])
def test_without_them_nothing_is_written_and_recover_keeps_the_others(tmp_path: Path, is_cut: bool) -> None:
    path = tmp_path / "j.db"
    beside = written(path, 0, 1)
    whole = beside.read_bytes()
    if is_cut:
        beside.write_bytes(whole[:-1])
    else:
        beside.unlink()
    with pytest.raises(JournalDamagedError, match=r"j\.db\.vectors.*put that file back.*batchwork recover"):
        opened(path)
    with pytest.raises(JournalDamagedError, match=r"j\.db\.vectors"):
        read(path)
    assert recover(path).lost_events == (1 if is_cut else 2)
    assert read(path) == [vectors(0) if is_cut else None, None]
    beside.write_bytes(whole)
    path.unlink()
    path.with_name("j.db.damaged-1").rename(path)
    assert read(path) == [vectors(0), vectors(1)], "put back, all is there"


def test_a_journal_that_is_recovered_goes_on_with_them(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    written(path, 0, 1)
    path.write_bytes(bytes(100) + path.read_bytes()[100:])
    assert recover(path).lost_events == 0
    written(path, 2)
    assert read(path) == [vectors(0), vectors(1), vectors(2)]
    kept = tmp_path / "j.db.damaged-1.vectors"
    assert kept.read_bytes().startswith(vectors(0) + vectors(1)), "the damaged one has them as well"


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    file = VectorFile(tmp_path / "j.db", writable=True)
    with closing(file):
        assert file._descriptor is not None
        file.add(vectors(7))
        own, file._descriptor = file._descriptor, os.open("/dev/full", os.O_RDWR)
        with pytest.raises(JournalWriteError, match="No space left"):
            file.sync()
        os.close(file._descriptor)
        file._descriptor = own
        file.sync()
    assert (tmp_path / "j.db.vectors").read_bytes() == vectors(7)

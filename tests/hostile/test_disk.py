"""Disks that lose, swap and fill, links that were planted: nothing is paid for twice in silence."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

import batchwork
from batchwork.core.errors import JournalError, JournalWriteError
from batchwork.journal import JournalReader, SqliteJournal, recover, set_aside
from tests.hostile.disk import PARTS, calls, refusal, run, settled_in, spend
from tests.support.killed import ITEMS


@pytest.mark.attack(
    "Disk and clock",
    "a run is killed with SIGKILL and started again, its files untouched",
    "it goes on; no settled item is sent again",
)
def test_a_killed_run_goes_on(killed: Path) -> None:
    settled = settled_in(killed / "j.db")
    sent = len(calls(killed / "calls"))
    assert run(killed).accounting.succeeded == ITEMS
    assert settled >= 30
    assert len(calls(killed / "calls")) - sent == ITEMS - settled


def cut(path: Path, *, to: float = 0.0, by: int = 0) -> None:
    os.truncate(path, int(to * path.stat().st_size) if not by else path.stat().st_size - by)


def remove(folder: Path, *parts: str) -> Path:
    for part in parts:
        (folder / f"j.db{part}").unlink()
    return folder


def flip(path: Path, at: int) -> None:
    body = bytearray(path.read_bytes())
    body[at] ^= 1
    path.write_bytes(body)


def other_log(folder: Path) -> None:
    journal = SqliteJournal(folder / "other.db", utc=time.time)
    shutil.copy2(folder / "other.db-wal", folder / "j.db-wal")
    journal.close()
    (folder / "j.db-shm").unlink()


LOSSES: dict[str, Callable[[Path], object]] = {
    "its log is deleted": lambda f: remove(f, "-wal"),
    "its log and its index are deleted": lambda f: remove(f, "-wal", "-shm"),
    "its log is emptied": lambda f: cut(f / "j.db-wal"),
    "its log is cut in the middle": lambda f: cut(f / "j.db-wal", to=0.5),
    "the last write of its log is cut": lambda f: cut(f / "j.db-wal", by=9000),
    "its log is overwritten with zeros": lambda f: (f / "j.db-wal").write_bytes(bytes(100_000)),
    "its log is that of another journal": other_log,
    "its file is emptied": lambda f: cut(f / "j.db"),
    "its file is emptied and its log deleted": lambda f: cut(remove(f, "-wal") / "j.db"),
    "its file is deleted and its log is left": lambda f: remove(f, ""),
    "its file is cut to the first page and its log deleted": lambda f: os.truncate(remove(f, "-wal") / "j.db", 4096),
    "a bit of its mark is flipped": lambda f: flip(f / "j.db.mark", 30),
}


@pytest.mark.attack(
    "Disk and clock",
    "after the kill the journal loses its log, its file or a part of either: deleted, emptied, cut, zeroed, swapped",
    "the next run is refused before anything is sent, says what is missing and the remedies, and changes no file",
)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_journal_that_lost_something_is_refused(loss: str, killed: Path) -> None:
    LOSSES[loss](killed)
    reason, unchanged = refusal(killed)
    assert "is damaged" in reason
    assert unchanged


@pytest.mark.slow
@pytest.mark.attack(
    "Disk and clock",
    "the log of a killed run is cut at 300 random places, or has a random bit flipped",
    "each time the run is refused, or nothing that was settled is sent again",
)
def test_nor_is_a_random_cut_or_flip_paid_for(left: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dice = random.Random(7)
    refused = 0
    settled = settled_in(left / "j.db")
    for number in range(300):
        folder = tmp_path / str(number)
        folder.mkdir()
        for part in PARTS:
            shutil.copy2(left / f"j.db{part}", folder / f"j.db{part}")
        log = folder / "j.db-wal"
        at = dice.randrange(log.stat().st_size)
        _ = os.truncate(log, at) if number % 2 else flip(log, at)
        if number % 3:
            (folder / "j.db-shm").unlink()
        Path("calls").unlink(missing_ok=True)
        try:
            run(folder)
        except JournalError:
            refused += 1
        else:
            assert len(calls(Path("calls"))) <= ITEMS - settled
        shutil.rmtree(folder)
    assert refused > 150


@pytest.mark.attack(
    "Disk and clock",
    "the log that was missing is put back",
    "the run goes on as if nothing had been",
)
def test_with_its_log_back_the_run_goes_on(killed: Path) -> None:
    settled = settled_in(killed / "j.db")
    (killed / "j.db-wal").rename(killed / "elsewhere")
    reason, unchanged = refusal(killed)
    assert "log j.db-wal is gone" in reason
    assert unchanged
    (killed / "elsewhere").rename(killed / "j.db-wal")
    sent = len(calls(killed / "calls"))
    assert run(killed).accounting.succeeded == ITEMS
    assert len(calls(killed / "calls")) - sent == ITEMS - settled


@pytest.mark.attack(
    "Disk and clock",
    "an older copy of the journal is put in its place",
    "refused; `recover` goes on with it, tells how many events are lost, and keeps their money in the books",
)
def test_an_older_copy_is_refused_and_recover_keeps_the_money(killed: Path) -> None:
    with closing(SqliteJournal(killed / "j.db", utc=time.time)) as journal:
        older_spent = journal.totals().spent_nano
    older = (killed / "j.db").read_bytes()
    assert run(killed).accounting.succeeded == ITEMS
    with closing(JournalReader(killed / "j.db")) as reader:
        spent = reader.totals().spent_nano
    assert spent > older_spent
    (killed / "j.db").write_bytes(older)
    reason, unchanged = refusal(killed)
    assert "an older copy took its place" in reason
    assert unchanged
    saved = recover(killed / "j.db")
    assert saved.lost_events > 0
    with closing(JournalReader(killed / "j.db")) as reader:
        assert reader.totals().spent_nano >= spent
    assert saved.kept.read_bytes() == older


@pytest.mark.attack(
    "Disk and clock",
    "the file of a killed run is deleted, its log is left, and `recover` is called",
    "every answer that stands in the log is saved",
)
def test_recover_reads_a_log_without_its_file(killed: Path) -> None:
    settled = settled_in(killed / "j.db")
    (killed / "j.db").unlink()
    assert recover(killed / "j.db").outcomes == settled
    assert settled_in(killed / "j.db") == settled


@pytest.mark.attack(
    "Disk and clock",
    "`--fresh` on a journal that has lost its log or its file",
    "what is left is kept under another name, and the run starts anew",
)
@pytest.mark.parametrize("lost", ["j.db-wal", "j.db"])
def test_fresh_keeps_what_is_left(lost: str, killed: Path) -> None:
    (killed / lost).unlink()
    left = {part for part in ("", "-wal", ".mark") if (killed / f"j.db{part}").exists()}
    set_aside(killed / "j.db")
    assert {part for part in PARTS if (killed / f"j.db.old-1{part}").exists()} >= left
    assert run(killed).accounting.succeeded == ITEMS


@pytest.mark.attack(
    "Disk and clock",
    "the journal is moved or copied with its companions, without its mark, or from before there were marks",
    "it is taken as it is",
)
@pytest.mark.parametrize("without", [(), (".mark",), ("-shm",), ("-shm", ".mark")])
def test_a_moved_journal_is_taken_as_it_is(without: tuple[str, ...], killed: Path) -> None:
    settled = settled_in(killed / "j.db")
    (killed / "there").mkdir()
    for part in set(PARTS) - set(without):
        (killed / f"j.db{part}").rename(killed / "there" / f"j.db{part}")
    sent = len(calls(killed / "calls"))
    assert run(killed / "there").accounting.succeeded == ITEMS
    assert len(calls(killed / "calls")) - sent == ITEMS - settled


# -- links and folders that somebody else has put there --------------------------------------------------------


@pytest.mark.attack(
    "Disk and clock",
    "in a folder that others may write, links to a precious file stand where the journal's lock, mark or state go",
    "refused, or the link is replaced; the precious file is not touched",
)
@pytest.mark.parametrize("name", ["j.db.lock", "j.db.mark", "j.db.new", ".s.json.{pid}.part", ".book.{pid}.part"])
def test_planted_links_are_not_followed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "precious").write_text("mine")
    (tmp_path / name.format(pid=os.getpid())).symlink_to(tmp_path / "precious")
    with suppress(JournalError):
        run(tmp_path)
    with suppress(JournalError):
        batchwork.BatchManager(messages=["a"], model="mock:echo", mode="live", state_path=tmp_path / "s.json").run()
    with suppress(JournalError):
        asyncio.run(spend(tmp_path / "book", 0.0, 1))
    assert (tmp_path / "precious").read_text() == "mine"


# -- full disks ------------------------------------------------------------------------------------------------


@pytest.mark.attack(
    "Disk and clock",
    "the disk is full when a journal is first written",
    "a clear error before anything is sent; nothing half-made is taken for whole afterwards",
)
def test_a_full_disk_at_the_start_sends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "import batchwork; resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))\n"
        "batchwork.run(['a'], model='mock:echo?log=' + sys.argv[2], journal=sys.argv[1])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "j.db"), str(tmp_path / "calls")]
    full = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert JournalWriteError.__name__ in full.stderr
    assert not calls(tmp_path / "calls")
    assert run(tmp_path).accounting.succeeded == ITEMS

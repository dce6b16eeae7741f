"""Copies of a journal: whole or refused, while a run writes it, whatever ends the copying."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from batchwork.core.errors import ConfigError, JournalDamagedError, JournalError
from batchwork.journal import back_up, check_whole
from batchwork.journal.mark import read_mark
from tests.hostile.disk import PARTS, ROOT, program


@pytest.fixture
def writing(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A run that writes its journal for a while."""
    code = (
        "import sys, batchwork; batchwork.run([f'p{n}' for n in range(40_000)], model='mock:echo', max_in_flight=20,"
        " journal=sys.argv[1])"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "j.db")], cwd=ROOT, text=True)
    while not (tmp_path / "j.db-wal").exists() or (tmp_path / "j.db-wal").stat().st_size < 400_000:
        time.sleep(0.005)
        assert process.poll() is None
    yield process
    process.kill()
    process.wait()


@pytest.mark.attack(
    "Disk and clock",
    "`batchwork backup` while a run writes the journal, and the run is then killed",
    "every copy is whole; later ones hold more; the run is not disturbed",
)
def test_backups_of_a_journal_that_is_being_written_are_whole(writing: subprocess.Popen[str], tmp_path: Path) -> None:
    events = [back_up(tmp_path / "j.db", tmp_path / f"copy-{number}.db") for number in range(4)]
    assert writing.poll() is None
    writing.kill()
    writing.wait()
    events.append(back_up(tmp_path / "j.db", tmp_path / "copy-4.db"))
    assert events == sorted(events)
    assert events[0] > 0
    assert events[-1] > events[0]
    for number, count in enumerate(events):
        assert check_whole(tmp_path / f"copy-{number}.db").seq == count
    check_whole(tmp_path / "j.db")
    assert not list(tmp_path.glob(".*.part*"))


@pytest.mark.attack(
    "Disk and clock",
    "the files of a journal are copied by `cp` while a run writes it",
    "the copy is as far as its mark says, or it is refused as damaged",
)
@pytest.mark.slow
def test_a_copy_by_hand_is_whole_or_refused(writing: subprocess.Popen[str], tmp_path: Path) -> None:
    dice = random.Random(25)
    for number in range(25):
        folder = tmp_path / str(number)
        folder.mkdir()
        for part in dice.sample(PARTS, len(PARTS)):
            with suppress(FileNotFoundError):
                shutil.copy(tmp_path / f"j.db{part}", folder / f"j.db{part}")
        with suppress(JournalError):
            mark = read_mark(folder / "j.db")
            seq = check_whole(folder / "j.db").seq
            assert mark is None or seq >= mark.seq
        shutil.rmtree(folder)
        if writing.poll() is not None:
            assert number > 3, "it ended before it could be copied"
            break


@pytest.mark.slow
@pytest.mark.attack(
    "Disk and clock",
    "`batchwork backup` is killed with SIGKILL at random instants",
    "there is no copy of that name, or a whole one",
)
def test_a_killed_backup_leaves_a_whole_copy_or_none(writing: subprocess.Popen[str], tmp_path: Path) -> None:
    dice = random.Random(3)
    whole, longest_s = 0, 60.0  # the first is left alone, and says how long one takes
    for number in range(13):
        copy = tmp_path / f"copy-{number}.db"
        started = time.monotonic()
        process = subprocess.Popen(program("batchwork", "backup", tmp_path / "j.db", copy), stdout=subprocess.PIPE)
        with suppress(subprocess.TimeoutExpired):
            process.wait(longest_s if number == 0 else dice.uniform(0.2, 1.2) * longest_s)
        process.kill()
        process.communicate()
        if number == 0:
            longest_s = time.monotonic() - started
        if copy.exists():
            check_whole(copy)
            whole += 1
    assert whole > 0


@pytest.mark.attack(
    "Disk and clock",
    "`batchwork backup` onto a name that is taken, of a damaged journal, into a missing folder, onto a full disk",
    "refused with the reason; nothing is replaced, and nothing half-made is left",
)
def test_a_backup_replaces_nothing_and_leaves_nothing_half_made(killed: Path) -> None:
    taken = {"taken.db": "mine", "log.db-wal": "mine", "mark.db.mark": "mine"}
    for name, body in taken.items():
        (killed / name).write_text(body)
    for name in ("taken.db", "log.db", "mark.db", "no/folder.db", "j.db"):
        with pytest.raises(ConfigError, match=r"exists|no folder"):
            back_up(killed / "j.db", killed / name)
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "from pathlib import Path; from batchwork.journal import back_up\n"
        "back_up(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    command = [sys.executable, "-c", code, str(killed / "j.db"), str(killed / "full.db")]
    full = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "JournalWriteError" in full.stderr
    (killed / "j.db-wal").unlink()
    with pytest.raises(JournalDamagedError):
        back_up(killed / "j.db", killed / "copy.db")
    assert {name: (killed / name).read_text() for name in taken} == taken
    assert not [file for file in killed.iterdir() if "full" in file.name or "copy" in file.name]

"""Disks that lose, swap and fill, clocks that jump, links that were planted: nothing is paid for twice in silence."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

import batchwork
from batchwork.core.errors import ConfigError, JournalDamagedError, JournalError, JournalWriteError
from batchwork.core.ledger import Ledger
from batchwork.core.outcome import Status
from batchwork.journal import DayBook, JournalReader, SqliteJournal, back_up, check_whole, recover, set_aside
from batchwork.journal.mark import read_mark
from tests.support.killed import ITEMS, options, prompts

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("", "-wal", "-shm", ".mark")
DAY = 86_400


def program(*told: object) -> list[str]:
    return [sys.executable, "-m", *map(str, told)]


def calls(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a run leaves that was killed after 30 of its 40 answers."""
    folder = tmp_path_factory.mktemp("left")
    ended = subprocess.run(
        program("tests.support.killed", "j.db", "calls", "settled:30:after"),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL
    return folder


@pytest.fixture
def killed(left: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, to be maltreated, in the working folder: the model's name, with its log, is the same everywhere."""
    monkeypatch.chdir(tmp_path)
    for part in PARTS:
        shutil.copy2(left / f"j.db{part}", tmp_path / f"j.db{part}")
    shutil.copy2(left / "calls", tmp_path / "calls")
    return tmp_path


def run(folder: Path) -> batchwork.Results:
    return batchwork.run(prompts(), **options(folder / "j.db", Path("calls")))


def must_be_refused(folder: Path, match: str = "is damaged") -> None:
    """The run ends before anything is sent, and everything that was there still is."""
    before = {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")}
    with pytest.raises(JournalDamagedError, match=match):
        run(folder)
    assert {name: (folder / name).read_bytes() for name in before} == before


def _settled(path: Path) -> int:
    with closing(JournalReader(path)) as reader:
        return reader.counts()[Status.SUCCEEDED]


@pytest.mark.attack(
    "Disk and clock",
    "a run is killed with SIGKILL and started again, its files untouched",
    "it goes on; no settled item is sent again",
)
def test_a_killed_run_goes_on(killed: Path) -> None:
    settled = _settled(killed / "j.db")
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
    must_be_refused(killed)


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
    settled = _settled(left / "j.db")
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
    settled = _settled(killed / "j.db")
    (killed / "j.db-wal").rename(killed / "elsewhere")
    must_be_refused(killed, r"log j\.db-wal is gone")
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
    must_be_refused(killed, "an older copy took its place")
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
    settled = _settled(killed / "j.db")
    (killed / "j.db").unlink()
    assert recover(killed / "j.db").outcomes == settled
    assert _settled(killed / "j.db") == settled


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
    settled = _settled(killed / "j.db")
    (killed / "there").mkdir()
    for part in set(PARTS) - set(without):
        (killed / f"j.db{part}").rename(killed / "there" / f"j.db{part}")
    sent = len(calls(killed / "calls"))
    assert run(killed / "there").accounting.succeeded == ITEMS
    assert len(calls(killed / "calls")) - sent == ITEMS - settled


# -- copies of a journal that is being written -----------------------------------------------------------------


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
    whole = 0
    for number in range(12):
        copy = tmp_path / f"copy-{number}.db"
        process = subprocess.Popen(program("batchwork", "backup", tmp_path / "j.db", copy), stdout=subprocess.PIPE)
        with suppress(subprocess.TimeoutExpired):
            process.wait(dice.uniform(0.3, 1.5))
        process.kill()
        process.communicate()
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
    told = [sys.executable, "-c", code, str(killed / "j.db"), str(killed / "full.db")]
    full = subprocess.run(told, capture_output=True, text=True, timeout=60, check=False)
    assert "JournalWriteError" in full.stderr
    (killed / "j.db-wal").unlink()
    with pytest.raises(JournalDamagedError):
        back_up(killed / "j.db", killed / "copy.db")
    assert {name: (killed / name).read_text() for name in taken} == taken
    assert not [file for file in killed.iterdir() if "full" in file.name or "copy" in file.name]


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
        asyncio.run(_spend(tmp_path / "book", 0.0, 1))
    assert (tmp_path / "precious").read_text() == "mine"


# -- the day's budget ------------------------------------------------------------------------------------------


async def _spend(book: Path, utc: float, amount: int) -> int:
    """Open the book, spend, close; what it says is spent."""
    day = DayBook(book, ledger=Ledger(ceiling=1000), utc=lambda: utc)
    if day.ledger.reserve(amount):
        await day.cover()
        day.ledger.settle(amount, amount)
    spent = day.ledger.spent
    await day.aclose()
    return spent


@pytest.mark.attack(
    "Disk and clock",
    "the clock is set back by an hour, a day or ten years across a restart of the service",
    "no second budget: the later day goes on until it ends, and the log names the remedy",
)
@pytest.mark.parametrize("back_s", [3600, DAY, 3650 * DAY])
def test_a_clock_set_back_gives_no_second_budget(back_s: int, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    now = 20_000.0 * DAY + 60.0  # a minute after midnight
    assert asyncio.run(_spend(tmp_path / "book", now, 900)) == 900
    assert asyncio.run(_spend(tmp_path / "book", now - back_s, 900)) == 900, "there is no money for 900 more"
    assert "move the book away to start at $0" in caplog.text
    assert asyncio.run(_spend(tmp_path / "book", now, 50)) == 950
    assert asyncio.run(_spend(tmp_path / "book", now + DAY, 50)) == 50, "the next day is a new one"


@pytest.mark.slow
@pytest.mark.attack(
    "Disk and clock",
    "`batchwork serve` with a budget runs under a clock of next year, is ended, and runs again under today's",
    "what was spent still counts",
)
def test_the_served_budget_outlives_a_clock_set_back(tmp_path: Path) -> None:
    if shutil.which("faketime") is None:
        pytest.skip("needs faketime (a Debian package)")
    told = ["serve", "--model", "mock:echo", "--port", "0", "--price", "0,100", "--max-cost-per-day", "0.015"]
    told += ["--budget-file", str(tmp_path / "book")]
    answers = [_ask_served(["faketime", "-f", offset, *program("batchwork", *told)]) for offset in ("+365d", "+0d")]
    assert answers[0] == [200, 402], "a call costs a cent and may cost that much"
    assert answers[1][0] == 402


def _ask_served(command: list[str]) -> list[int]:
    import urllib.error
    import urllib.request

    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stderr is not None
    try:
        line = ""
        while "http://127.0.0.1:" not in line:
            line = process.stderr.readline()
            assert line, "the server did not start"
        url = "http://127.0.0.1:" + line.split("http://127.0.0.1:")[1].split()[0].rstrip('"}') + "/api/v1/prompt"
        said = []
        for _ in range(2):
            body = json.dumps({"prompt": "x" * 396, "max_tokens": 100}).encode()
            request = urllib.request.Request(url, body, {"content-type": "application/json"})
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    said.append(answer.status)
            except urllib.error.HTTPError as refusal:
                said.append(refusal.code)
                refusal.close()
        return said
    finally:
        os.killpg(process.pid, signal.SIGTERM)  # faketime stays in between
        process.communicate(timeout=20)


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
    told = [sys.executable, "-c", code, str(tmp_path / "j.db"), str(tmp_path / "calls")]
    full = subprocess.run(told, capture_output=True, text=True, timeout=60, check=False)
    assert JournalWriteError.__name__ in full.stderr
    assert not calls(tmp_path / "calls")
    assert run(tmp_path).accounting.succeeded == ITEMS

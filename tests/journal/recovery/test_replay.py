"""A damaged journal gives back what is whole in it, and is itself kept; what is recorded again is whole."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import batchwork
from batchwork.core.errors import JournalDamagedError, JournalError
from batchwork.core.outcome import Status
from batchwork.core.runstate import fold
from batchwork.journal import JournalReader, check_whole, recover
from batchwork.journal.mark import read_mark
from batchwork.journal.recovery.page_file import page_sizes
from tests.support.journals import (
    BEGAN,
    ROWS,
    Pass,
    killed_journal,
    passes,
    row,
    run_pass,
    settle,
    sqlite_journal,
    succeeded,
    told,
    write_everything,
)


def lose(path: Path, share: float, dice: random.Random) -> int:
    """Delete events; how many."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        events = [seq for (seq,) in connection.execute("SELECT seq FROM event")]
        lost = [(seq,) for seq in events if dice.random() < share]
        connection.execute("PRAGMA secure_delete = ON")
        connection.executemany("DELETE FROM event WHERE seq = ?", lost[: len(events) - 1])
        connection.execute("VACUUM")
    return len(lost[: len(events) - 1])


@settings(max_examples=25, phases=[Phase.explicit, Phase.generate])
@given(passes(), st.sampled_from([0.0, 0.05, 0.3, 0.7]), st.integers(0, 99))
def test_a_recovered_journal_is_whole_and_its_tables_are_the_fold_of_its_events(
    runs: list[Pass], share: float, seed: int
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "j.db"
        with closing(sqlite_journal(path)) as journal:
            for run in runs:
                run_pass(journal, run)
            spent = journal.totals().spent_nano
        lost = lose(path, share, random.Random(seed))
        recovered = recover(path)
        assert recovered.lost_events >= lost
        check_whole(path)
        with closing(JournalReader(path)) as reader:
            state = fold(reader.events())
            for item, folded in state.items.items():
                row = reader.items.row(item)
                assert row is not None
                assert [getattr(row, name) for name in folded.__slots__] == [
                    getattr(folded, name) for name in folded.__slots__
                ]
            assert reader.totals().spent_nano == state.spent_nano
            assert reader.totals().spent_nano >= spent or not state.items
        with closing(sqlite_journal(path)) as journal:  # and a run goes on with it
            for run in runs:
                run_pass(journal, run)
        check_whole(path)


def _told(path: Path) -> dict[str, Any]:
    reader = JournalReader(path)
    try:
        return told(reader) | {"run": reader.last_run(), "folded": fold(reader.events()).spent_nano}
    finally:
        reader.close()


def _damage(path: Path, *, share: float = 0.02, seed: int = 1) -> None:
    """Overwrite this share of the bytes, in short runs, anywhere in the file."""
    dice, data = random.Random(seed), bytearray(path.read_bytes())
    for _ in range(int(len(data) * share / 64)):
        at = dice.randrange(len(data))
        data[at : at + 64] = dice.randbytes(len(data[at : at + 64]))
    path.write_bytes(data)


def test_a_whole_journal_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    write_everything(path)
    before = _told(path)
    recovered = recover(path)
    assert _told(path) == before
    assert (recovered.lost_events, recovered.path, recovered.kept.name) == (0, path, "j.db.damaged-1")
    assert "no event was lost" in recovered.note


@pytest.mark.parametrize("seed", range(6))
def test_what_comes_back_is_true(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    write_everything(path)
    before = {entry[6]: entry for entry in _told(path)["entries"]}
    whole = path.read_bytes()
    _damage(path, seed=seed)
    damaged = path.read_bytes()
    recovered = recover(path)
    assert recovered.kept.read_bytes() == damaged != whole
    for entry in _told(path)["entries"]:
        if entry[6] is not None and entry[5] is not None:
            assert entry[5].text == before[entry[6]][5].text
    assert f"{recovered.lost_events:,} events were lost" in recovered.note


def test_most_of_a_lightly_damaged_journal_comes_back_and_a_rerun_sends_only_the_rest(tmp_path: Path) -> None:
    path, prompts = tmp_path / "j.db", [f"prompt {n} " + "x" * 200 for n in range(300)]
    batchwork.run(prompts, model="mock:echo", journal=path)
    data = bytearray(path.read_bytes())
    data[14 * 4096 : 18 * 4096] = bytes(4 * 4096)
    path.write_bytes(data)
    with pytest.raises(JournalDamagedError):
        _told(path)
    recovered = recover(path)
    assert 200 < recovered.outcomes < 300
    results = batchwork.run(prompts, model="mock:echo", journal=path)
    assert [outcome.text for outcome in results] == prompts


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.9])
def test_a_truncated_file_gives_back_its_beginning(kept: float, tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    batchwork.run(map(str, range(500)), model="mock:echo", journal=path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    recovered = recover(path)
    assert recovered.items > 0
    assert _told(path)["count"] <= 500


def test_a_destroyed_header_and_lost_totals_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    batchwork.run(map(str, range(50)), model="mock:echo", journal=path)
    data = bytearray(path.read_bytes())
    data[:4096] = random.Random(1).randbytes(4096)
    path.write_bytes(data)
    assert recover(path).outcomes == 50
    assert _told(path)["counts"][Status.SUCCEEDED] == 50


@pytest.mark.parametrize("header", ["whole", "destroyed"])
@pytest.mark.parametrize("page_bytes", [4096, 32768])
def test_what_a_killed_run_left_in_the_log_comes_back_too(page_bytes: int, header: str, tmp_path: Path) -> None:
    path, copy = tmp_path / "j.db", tmp_path / "copy.db"
    journal = sqlite_journal(path, page_bytes)
    run_pass(journal, Pass([(letter, None) for letter in "abc"], ["succeeded"] * 3))
    journal.flush()
    for part in ("", "-wal"):
        copy.with_name(copy.name + part).write_bytes(path.with_name(path.name + part).read_bytes())
    journal.close()
    if header == "destroyed":
        copy.write_bytes(random.Random(1).randbytes(100) + copy.read_bytes()[100:])
    assert recover(copy).outcomes == 3
    assert page_sizes(copy) == (page_bytes,)
    assert copy.with_name("copy.db.damaged-1-wal").exists()


def test_large_answers_and_shared_parts_come_back(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    journal = sqlite_journal(path)
    journal.begin(BEGAN)
    for n in range(3):
        item = journal.place(n, row(f"p{n}", system="long " * 10_000)).item
        settle(journal, item, succeeded(n, "answer " * 20_000))
    journal.close()
    assert recover(path).lost_events == 0
    reader = JournalReader(path)
    entries = list(reader.entries())
    reader.close()
    assert [entry.request.system for entry in entries if entry.request] == ["long " * 10_000] * 3
    assert [entry.outcome.text for entry in entries if entry.outcome] == ["answer " * 20_000] * 3


def test_money_of_lost_events_still_counts_against_the_ceiling(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    batchwork.run([f"{n} " + "x" * 300 for n in range(200)], model="mock:echo", price="1,1", journal=path)
    reader = JournalReader(path)
    spent = reader.totals().spent_nano
    reader.close()
    data = bytearray(path.read_bytes())
    for page in range(12, 20):
        data[page * 4096 : (page + 1) * 4096] = bytes(4096)
    path.write_bytes(data)
    recovered = recover(path)
    assert recovered.lost_events > 0
    totals = _told(path)["totals"]
    assert totals.spent_nano >= spent
    assert "booked as unconfirmed" in recovered.note


@pytest.mark.parametrize("content", [b"", b"just text\n" * 100, bytes(8192)])
def test_where_there_is_nothing_to_recover_nothing_is_touched(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    path.write_bytes(content)
    with pytest.raises(JournalError, match="nothing in"):
        recover(path)
    assert [file.name for file in tmp_path.iterdir() if not file.name.endswith(".lock")] == ["j.db"]
    assert path.read_bytes() == content


def test_no_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="no journal"):
        recover(tmp_path / "none.db")


def test_a_journal_in_use_is_not_recovered(tmp_path: Path) -> None:
    journal = sqlite_journal(tmp_path / "j.db")
    run_pass(journal, Pass([("a", None)], ["succeeded"]))
    journal.flush()
    with pytest.raises(batchwork.JournalLockedError):
        recover(tmp_path / "j.db")
    journal.close()


def test_recovery_says_what_is_lost_and_keeps_its_money_in_the_books(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    journal = sqlite_journal(path)
    run_pass(journal, Pass(ROWS[:5], ["succeeded"] * 5))
    journal.close()
    older = path.read_bytes()
    journal = sqlite_journal(path)
    run_pass(journal, Pass(ROWS, ["succeeded"] * 20))
    journal.close()
    path.write_bytes(older)
    saved = recover(path)
    assert (saved.outcomes, saved.lost_events) == (5, 47)
    assert "$0.000000165 of lost calls is booked as unconfirmed" in saved.note
    with closing(JournalReader(path)) as reader:
        assert reader.totals().spent_nano == 20 * 11
    assert read_mark(saved.kept) is not None


def test_recovery_leaves_a_journal_at_its_place_at_every_instant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between any two of its renames it leaves a journal that is whole or known to be damaged, never none."""
    killed_journal(tmp_path / "j.db")
    (tmp_path / "j.db-shm").unlink()
    (tmp_path / "j.db.mark").unlink()
    log = bytearray((tmp_path / "j.db-wal").read_bytes())
    log[len(log) // 2] ^= 1
    (tmp_path / "j.db-wal").write_bytes(log)
    seen = []
    for name in ("rename", "replace", "hardlink_to"):
        real = getattr(Path, name)

        def watched(source: Path, target: Path, real=real) -> Path:
            seen.append((tmp_path / "j.db").exists())
            return real(source, target)

        monkeypatch.setattr(Path, name, watched)
    recover(tmp_path / "j.db")
    assert seen.count(True) >= 3
    assert seen[seen.index(True) :].count(False) == 0

"""A damaged log that a killed process left behind is noticed; a last write that was cut off is none."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from batchwork.core.errors import JournalDamagedError, JournalError
from batchwork.journal import JournalReader, recover
from tests.support.journals import Pass, run_pass, sqlite_journal


@pytest.fixture(scope="module", params=[4096, 32768])
def killed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes, int]:
    """The file and the log of a journal whose process was killed, and where its last write begins in the log."""
    path = tmp_path_factory.mktemp("killed") / "j.db"
    journal = sqlite_journal(path, request.param)
    log = path.with_name("j.db-wal")
    starts = []
    for n in range(1, 8):
        starts.append(log.stat().st_size)
        run_pass(journal, Pass([(f"p{i}", None) for i in range(n * 3)], ["succeeded"] * 30))
        journal.flush()
    kept = path.read_bytes(), log.read_bytes(), starts[-1]
    journal.close()
    return kept


def _killed_copy(folder: Path, file: bytes, log: bytes) -> Path:
    path = folder / "j.db"
    for part, content in (("", file), ("-wal", log)):
        path.with_name(path.name + part).write_bytes(content)
    path.with_name("j.db-shm").unlink(missing_ok=True)
    return path


def test_what_a_killed_process_left_in_its_log_is_there(killed: tuple[bytes, bytes, int], tmp_path: Path) -> None:
    reader = JournalReader(_killed_copy(tmp_path, *killed[:2]))
    assert reader.count() == 21
    reader.close()


@pytest.mark.parametrize("seed", range(4))
def test_a_bit_flipped_in_its_log_is_noticed(seed: int, killed: tuple[bytes, bytes, int], tmp_path: Path) -> None:
    file, log, last = killed
    dice = random.Random(seed)
    for _ in range(15):
        flipped = bytearray(log)
        flipped[dice.randrange(last)] ^= 1 << dice.randrange(8)
        path = _killed_copy(tmp_path, file, bytes(flipped))
        try:
            reader = JournalReader(path)
        except JournalError:
            continue
        assert reader.count() == 21
        reader.close()


def test_a_last_write_that_was_cut_off_is_as_if_it_had_not_begun(
    killed: tuple[bytes, bytes, int], tmp_path: Path
) -> None:
    file, log, last = killed
    reader = JournalReader(_killed_copy(tmp_path, file, log[: last + 5000]))
    assert reader.count() == 18
    reader.close()


def test_a_damaged_log_can_be_recovered(killed: tuple[bytes, bytes, int], tmp_path: Path) -> None:
    file, log, _ = killed
    for at in (20, len(log) // 2):
        flipped = bytearray(log)
        flipped[at] ^= 1
        path = _killed_copy(tmp_path, file, bytes(flipped))
        with pytest.raises(JournalDamagedError, match="log"):
            JournalReader(path)
        assert recover(path).outcomes >= 18

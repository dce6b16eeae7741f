"""A file that was truncated or has flipped bits tells the truth or says that it is damaged; nothing in between."""

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from batchwork.core.errors import JournalDamagedError, JournalError
from batchwork.core.outcome import Status
from batchwork.journal import JournalReader
from tests.support.journals import Pass, run_pass, sqlite_journal, told, write_everything


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, Any]]:
    path = tmp_path_factory.mktemp("whole") / "j.db"
    write_everything(path)
    return path.read_bytes(), _all_reads(path)


def _all_reads(path: Path) -> dict[str, Any]:
    reader = JournalReader(path)
    try:
        return {
            **told(reader),
            "requests": [entry.request for entry in reader.entries()],
            "last run": reader.last_run(),
            "events": list(reader.events()),
            "failed": [entry.index for entry in reader.entries(statuses=frozenset({Status.FAILED}))],
            "one": [list(reader.entries(n, n + 1)) for n in (0, 17, 65)],
        }
    finally:
        reader.close()


def _each_read(path: Path) -> dict[str, Callable[[], Any]]:
    def reading(read: Callable[[JournalReader], Any]) -> Callable[[], Any]:
        def it() -> Any:
            reader = JournalReader(path)
            try:
                return read(reader)
            finally:
                reader.close()

        return it

    return {
        "entries": reading(lambda r: told(r)["entries"]),
        "requests": reading(lambda r: [entry.request for entry in r.entries()]),
        "count": reading(lambda r: r.count()),
        "counts": reading(lambda r: r.counts()),
        "totals": reading(lambda r: r.totals()),
        "last run": reading(lambda r: r.last_run()),
        "events": reading(lambda r: list(r.events())),
        "failed": reading(lambda r: [entry.index for entry in r.entries(statuses=frozenset({Status.FAILED}))]),
    }


def _must_be_honest(path: Path, truth: dict[str, Any]) -> int:
    """Every read gives exactly what was written or a clear error; how many errors there were."""
    errors = 0
    for name, read in _each_read(path).items():
        try:
            said = read()
        except JournalError:
            errors += 1
        else:
            assert said == truth[name], name
    return errors


def test_the_whole_file_says_what_was_written(whole: tuple[bytes, dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    path.write_bytes(whole[0])
    assert _must_be_honest(path, whole[1]) == 0


def _flip(path: Path, whole: bytes, dice: random.Random) -> None:
    damaged = bytearray(whole)
    at = dice.randrange(len(damaged))
    damaged[at] ^= 1 << dice.randrange(8)
    path.write_bytes(damaged)


@pytest.mark.parametrize("seed", range(8))
def test_a_flipped_bit_never_goes_unnoticed(seed: int, whole: tuple[bytes, dict[str, Any]], tmp_path: Path) -> None:
    path, dice = tmp_path / "j.db", random.Random(seed)
    noticed = 0
    for _ in range(25):
        _flip(path, whole[0], dice)
        noticed += _must_be_honest(path, whole[1]) > 0
    assert noticed > 0, "not a single flip hit anything: the journal of this test is nearly empty"


@pytest.mark.slow
def test_nor_does_any_of_a_thousand(whole: tuple[bytes, dict[str, Any]], tmp_path: Path) -> None:
    path, dice = tmp_path / "j.db", random.Random(1)
    noticed = 0
    for _ in range(1000):
        _flip(path, whole[0], dice)
        noticed += _must_be_honest(path, whole[1]) > 0
    assert noticed > 100


def test_a_run_on_a_flipped_file_ends_in_a_clear_error_or_the_right_state(
    whole: tuple[bytes, dict[str, Any]], tmp_path: Path
) -> None:
    path, dice = tmp_path / "j.db", random.Random(5)
    rows: list[tuple[str, int | None]] = [("new", None), *((f"prompt {n % 50}", n % 3 or None) for n in range(40))]
    for shift in [0, 1] * 30:
        _flip(path, whole[0], dice)
        for beside in ("-wal", "-shm"):
            path.with_name(path.name + beside).unlink(missing_ok=True)
        try:
            journal = sqlite_journal(path)
        except JournalError:
            continue
        try:
            states = run_pass(journal, Pass([("inserted", None)] * shift + rows))
            assert len({state.item for state in states}) == len(states)
            assert all(state.item < 71 for state in states[shift:]), "a settled row was taken for a new one"
        except JournalError:
            continue
        finally:
            with suppress(JournalError):
                journal.close()


@pytest.mark.parametrize("share", [0.0005, 0.1, 0.3, 0.5, 0.75, 0.9, 0.97, 0.999])
def test_a_truncated_file_is_damaged(share: float, whole: tuple[bytes, dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    path.write_bytes(whole[0][: int(len(whole[0]) * share)])
    assert _must_be_honest(path, whole[1]) > 0


@pytest.mark.parametrize("pages", [1, 2, 5, 9])
def test_also_when_it_is_cut_between_pages(pages: int, whole: tuple[bytes, dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    path.write_bytes(whole[0][: -4096 * pages])
    with pytest.raises(JournalError):
        _all_reads(path)


def test_the_error_names_the_file_and_the_remedy(whole: tuple[bytes, dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    path.write_bytes(whole[0][: len(whole[0]) // 2])
    with pytest.raises(JournalDamagedError, match=r"j\.db is damaged .* `batchwork recover .*j\.db`"):
        _all_reads(path)


# -- the log that a killed process leaves behind ------------------------------------------------------------

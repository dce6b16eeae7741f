"""What only a journal on disk can meet: other processes, other files, full and read-only places."""

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import batchwork
from batchwork.core.errors import JournalError, JournalLockedError, JournalWriteError
from batchwork.journal import JournalReader, set_aside
from tests.support.journals import BEGAN, Pass, row, run_pass, settle, sqlite_journal, succeeded
from tests.support.scripted import Scripted
from tests.support.virtual_time import run_virtual

_ROOT = Path(__file__).resolve().parents[2]
_NOBODY = 65534


def _python(code: str, *arguments: object, **how: Any) -> subprocess.CompletedProcess[str]:
    told = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(told, cwd=_ROOT, capture_output=True, text=True, timeout=60, check=False, **how)


# -- other processes ----------------------------------------------------------------------------------------


def test_a_second_process_gets_an_error_that_names_the_holder(tmp_path: Path) -> None:
    journal = sqlite_journal(tmp_path / "j.db")
    code = "import sys, batchwork\ntry: batchwork.run(['a'], model='mock:echo', journal=sys.argv[1])\n"
    code += "except batchwork.JournalLockedError as error: print(error)"
    said = _python(code, tmp_path / "j.db")
    journal.close()
    assert f"is in use by process {os.getpid()}" in said.stdout


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


def test_reading_needs_no_lock_and_sees_what_is_committed(tmp_path: Path) -> None:
    journal = sqlite_journal(tmp_path / "j.db")
    run_pass(journal, Pass([("a", None)], ["succeeded"]))
    journal.flush()
    reader = JournalReader(tmp_path / "j.db")
    assert reader.count() == 1
    run_pass(journal, Pass([("a", None), ("b", None)], ["succeeded"]))
    journal.flush()
    assert reader.count() == 2
    reader.close()
    journal.close()


def test_after_a_run_the_file_is_all_there_is_even_while_results_of_another_are_open(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    results = batchwork.run(map(str, range(100)), model="mock:echo", journal=path)
    assert results[50].text == "50"
    batchwork.run(map(str, range(200)), model="mock:echo", journal=path).close()
    shutil.copy(path, tmp_path / "copy.db")
    reader = JournalReader(tmp_path / "copy.db")
    assert reader.count() == 200
    reader.close()
    results.close()


# -- other files --------------------------------------------------------------------------------------------


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


def test_setting_aside_keeps_what_a_killed_run_left_in_the_log(tmp_path: Path) -> None:
    path, killed = tmp_path / "j.db", tmp_path / "killed.db"
    journal = sqlite_journal(path)
    run_pass(journal, Pass([("a", None)], ["succeeded"]))
    journal.flush()
    for part in ("", "-wal"):
        shutil.copy(f"{path}{part}", f"{killed}{part}")
    journal.close()
    aside = set_aside(killed)
    assert aside == tmp_path / "killed.db.old-1"
    reader = JournalReader(aside)
    assert reader.count() == 1
    reader.close()
    assert set_aside(killed) is None


def test_names_that_are_taken_are_not_taken_again(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    for _ in range(3):
        sqlite_journal(path).close()
        set_aside(path)
    kept = [f"j.db.old-{number}{part}" for number in (1, 2, 3) for part in ("", ".mark")]
    assert sorted(file.name for file in tmp_path.iterdir()) == kept


# -- full and read-only places ------------------------------------------------------------------------------


def test_a_full_disk_is_a_clear_error_and_a_rerun_goes_on(tmp_path: Path) -> None:
    """The process may write no file beyond 300 KB: to SQLite that is a disk without space."""
    path = tmp_path / "j.db"
    code = (
        "import resource, signal, sys, batchwork\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))\n"
        "try: batchwork.run([f'{n} ' + 'x' * 2000 for n in range(400)], model='mock:echo',"
        " journal=sys.argv[1], max_in_flight=5)\n"
        "except batchwork.JournalWriteError as error: print('said:', error)\n"
    )
    said = _python(code, path)
    assert "said:" in said.stdout, said.stderr
    assert str(path) in said.stdout
    backend = Scripted(free=True)
    prompts = [f"{n} " + "x" * 2000 for n in range(400)]
    results = run_virtual(batchwork.arun(prompts, model="mock:echo", backend=backend, journal=path))
    assert [r.text for r in results] == prompts
    assert 0 < len(backend.asked) < 400


def test_a_commit_that_fails_loses_nothing_and_the_next_may_succeed(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    journal = sqlite_journal(path)
    journal.begin(BEGAN)
    item = journal.place(0, row("a")).item
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    settle(journal, item, succeeded(0, "x" * 500_000))

    async def fails() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
        try:
            with pytest.raises(JournalWriteError):
                await journal.durable()
            with pytest.raises(JournalWriteError):
                await journal.durable()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    run_virtual(fails())
    journal.close()
    reader = JournalReader(path)
    (entry,) = reader.entries()
    reader.close()
    assert entry.outcome is not None
    assert entry.outcome.text == "x" * 500_000


@pytest.fixture
def locked_folder(tmp_path: Path) -> Path:
    """A folder with a journal in it that a stranger may read but not write."""
    folder = tmp_path / "locked"
    folder.mkdir()
    journal = sqlite_journal(folder / "j.db")
    run_pass(journal, Pass([("a", None)], ["succeeded"]))
    journal.close()
    (folder / "j.db").chmod(0o444)
    folder.chmod(0o555)
    for parent in (tmp_path, *tmp_path.parents[:3]):
        parent.chmod(0o755)
    return folder


def _as_stranger(code: str, path: Path) -> str:
    if os.getuid() != 0:
        return _python(code, path).stdout
    change = f"import os; os.setgroups([]); os.setgid({_NOBODY}); os.setuid({_NOBODY})\n"
    imports = "import sys, batchwork, batchwork.runs, batchwork.backends.mock\nfrom pathlib import Path\n"
    said = _python(imports + "from batchwork.journal import JournalReader\n" + change + code, path)
    return said.stdout + said.stderr


def test_a_read_only_folder_is_a_clear_error(locked_folder: Path) -> None:
    code = (
        "try: batchwork.run(['a'], model='mock:echo', journal=sys.argv[1])\n"
        "except batchwork.JournalWriteError as error: print('said:', error)\n"
    )
    assert "said: cannot write beside the journal" in _as_stranger(code, locked_folder / "j.db")


def test_a_journal_in_a_read_only_folder_can_be_read(locked_folder: Path) -> None:
    code = "print('count:', JournalReader(Path(sys.argv[1])).count())\n"
    assert "count: 1" in _as_stranger(code, locked_folder / "j.db")


def test_a_file_that_may_not_be_read_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "secret.db"
    sqlite_journal(path).close()
    path.chmod(0o000)
    for parent in (tmp_path, *tmp_path.parents[:3]):
        parent.chmod(0o755)
    code = "try: JournalReader(Path(sys.argv[1]))\nexcept batchwork.JournalError as error: print('said:', error)\n"
    assert "said: cannot read the journal" in _as_stranger(code, path)

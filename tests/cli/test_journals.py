"""The commands that need nothing but a journal: status, results, recover, backup."""

import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from batchwork import BatchManager, ConfigError, run
from batchwork.cli import app
from batchwork.core.event import BatchSubmitted
from batchwork.journal import JournalReader
from batchwork.simulator import Simulator
from tests.cli.conftest import Run, rows

MODEL = ("--model", "mock:echo", "--prompt", "Say {text}", "-q")


def test_status_and_results_need_only_the_journal(batchwork: Run, rivers: Path, folder: Path) -> None:
    batchwork("run", rivers.name, "-o", "out.jsonl", "--model", "mock:echo", "--prompt", "Say {text}")
    rivers.unlink()
    status = batchwork("status", "out.jsonl.journal.db")
    assert "10 succeeded" in status.stdout
    assert batchwork("results", "out.jsonl.journal.db", "-o", "again.jsonl").returncode == 0
    assert (folder / "again.jsonl").read_text() == (folder / "out.jsonl").read_text()


def test_status_of_a_managers_state_file_is_that_of_the_journal_beside_it(batchwork: Run, folder: Path) -> None:
    BatchManager(messages=["a", "b"], model="mock:echo", state_path=folder / "state.json").run()
    status = batchwork("status", "state.json")
    assert "journal  state.json.journal" in status.stdout
    assert "2 succeeded" in status.stdout
    assert batchwork("results", "state.json", "-o", "out.jsonl").returncode == 0
    assert "retry_failed()" in batchwork("retry", "state.json").stderr


def test_a_damaged_journal_is_a_clear_error_that_names_the_remedy_and_the_remedy_works(
    batchwork: Run, rivers: Path, folder: Path
) -> None:
    command = ("run", rivers.name, "-o", "out.jsonl", "--model", "mock:echo", "--prompt", "Say {text}")
    batchwork(*command)
    journal = folder / "out.jsonl.journal.db"
    whole = bytearray(journal.read_bytes())
    at = whole.rindex(b"Say river 7")
    whole[at] ^= 0xFF
    journal.write_bytes(whole)
    broken = batchwork("results", journal.name, "-o", "again.jsonl")
    assert broken.returncode == 2
    assert "batchwork recover" in broken.stderr
    assert "Traceback" not in broken.stderr
    saved = batchwork("recover", journal.name)
    assert saved.returncode == 0, saved.stderr
    assert "damaged-1" in saved.stdout
    assert (folder / "out.jsonl.journal.db.damaged-1").exists()
    assert "whole" in batchwork("recover", journal.name).stdout
    assert batchwork(*command).returncode == 0
    assert len(rows(folder / "out.jsonl")) == 10


def test_a_backup_is_a_journal_of_its_own(batchwork: Run, rivers: Path, folder: Path) -> None:
    batchwork("run", rivers.name, "-o", "out.jsonl", "--model", "mock:echo", "--prompt", "=Say {text}", "-q")
    done = batchwork("backup", "out.jsonl.journal.db", "copy.db")
    assert done.returncode == 0, done.stderr
    assert "copied to copy.db, and read there" in done.stdout
    assert "10 succeeded" in batchwork("status", "copy.db").stdout
    assert batchwork("results", "copy.db", "-o", "safe.csv", "--csv-safe").returncode == 0
    assert (folder / "safe.csv").read_text().count("\"'=Say river") == 10


def test_every_command_takes_the_output_file_for_its_journal(batchwork: Run, rivers: Path, folder: Path) -> None:
    faulty = ("--model", "mock:echo?faults=rejected:0.5&seed=3&log=calls.log", "--prompt", "Say {text}", "-q")
    command = ("run", rivers.name, *faulty)
    batchwork(*command, "-o", "out.jsonl")
    calls = len((folder / "calls.log").read_text().split())
    assert "journal  out.jsonl.journal.db" in batchwork("status", "out.jsonl").stdout
    assert batchwork("results", "out.jsonl", "-o", "again.jsonl").returncode == 0
    assert (folder / "again.jsonl").read_text() == (folder / "out.jsonl").read_text()
    assert "is whole" in batchwork("recover", "out.jsonl").stdout
    assert batchwork("backup", "out.jsonl", "copy.db").returncode == 0
    batchwork(*command, "-o", "out.csv", "--journal", "out.jsonl")
    assert len((folder / "calls.log").read_text().split()) == calls  # the same journal, so nothing is sent again
    assert not (folder / "out.csv.journal.db").exists()
    batchwork("retry", "out.jsonl", "-q")
    assert len((folder / "calls.log").read_text().split()) > calls


def test_a_copy_of_the_results_changes_nothing_about_the_run_and_a_look_leaves_no_files(
    batchwork: Run, rivers: Path, folder: Path
) -> None:
    faulty = ("--model", "mock:echo?faults=rejected:0.5&seed=3", "--prompt", "Say {text}", "-q")
    batchwork("run", rivers.name, "-o", "out.jsonl", *faulty)
    batchwork("results", "out.jsonl", "-o", "copy.jsonl")
    copied, there = (folder / "copy.jsonl").read_text(), {path.name for path in folder.iterdir()}
    assert "Some failed" in batchwork("status", "out.jsonl").stdout
    assert {path.name for path in folder.iterdir()} == there
    batchwork("retry", "out.jsonl", "-q")
    assert (folder / "copy.jsonl").read_text() == copied != (folder / "out.jsonl").read_text()


def test_answers_that_leave_the_results_with_a_changed_input_are_kept_in_the_old_file(
    batchwork: Run, rivers: Path, folder: Path
) -> None:
    command = ("run", rivers.name, "-o", "out.jsonl", "--model", "mock:echo", "--prompt", "Say {text}")
    batchwork(*command)
    before = (folder / "out.jsonl").read_text()
    shorter = batchwork(*command, "--limit", "4")
    assert "6 earlier answers not in the new out.jsonl: their rows are not among --limit 4" in shorter.stderr
    assert (folder / "out.old-1.jsonl").read_text() == before
    assert len(rows(folder / "out.jsonl")) == 4


@pytest.mark.parametrize(
    "option", ["--max-cost", "--price", "--max-wait", "--max-in-flight", "--base-url", "--overwrite"]
)
def test_retry_has_every_option_that_the_end_of_a_run_advises(batchwork: Run, option: str) -> None:
    assert option in batchwork("retry", "--help").stdout


def test_a_retry_takes_new_limits_and_keeps_the_others(batchwork: Run, rivers: Path, folder: Path) -> None:
    faulty = ("--model", "mock:echo?faults=rejected:0.5&seed=3", "--prompt", "Say {text}", "-q")
    batchwork("run", rivers.name, "-o", "out.jsonl", *faulty, "--rpm", "6000")
    batchwork("retry", "out.jsonl", "-q", "--max-wait", "7", "--max-in-flight", "3", "--price", "1,2")
    with closing(JournalReader(folder / "out.jsonl.journal.db")) as reader:
        last = reader.last_run()
    assert last is not None
    names = ("max_wait", "max_in_flight", "price", "rpm")
    assert [last.settings[name] for name in names] == [7.0, 3, "1,2", 6000.0]


def test_a_reader_that_has_enough_ends_the_program_as_any_other(batchwork: Run, rivers: Path, folder: Path) -> None:
    batchwork("run", rivers.name, "-o", "out.jsonl", "--model", "mock:echo", "--prompt", "Say {text}", "-q")
    command = [sys.executable, "-m", "batchwork", "results", "out.jsonl", "-o", "-"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdout.close()
        assert program.stderr.read() == b""
    assert program.returncode == -signal.SIGPIPE


@pytest.mark.parametrize("command", [("status",), ("results", "-o", "x.csv"), ("retry",), ("cancel",), ("recover",)])
@pytest.mark.parametrize("name", [".", ""])
def test_a_folder_is_no_journal(command: tuple[str, ...], name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match="is a folder"):
        app([*command, name], standalone_mode=False)


def test_damage_is_seen_by_status_and_a_backup_names_the_journal_that_has_it(
    batchwork: Run, rivers: Path, folder: Path
) -> None:
    batchwork("run", rivers.name, "-o", "out.jsonl", *MODEL)
    journal = folder / "out.jsonl.journal.db"
    journal.write_bytes(journal.read_bytes().replace(b"Say river 3", b"Say rover 3"))
    for command in (("status", "out.jsonl"), ("backup", "out.jsonl", "copy.db")):
        done = batchwork(*command)
        assert done.returncode == 2
        assert "`batchwork recover out.jsonl.journal.db`" in done.stderr
    assert sorted(path.name for path in folder.glob("*.db*")) == ["out.jsonl.journal.db", "out.jsonl.journal.db.mark"]


def test_results_of_a_manager_name_the_file_of_each_row(folder: Path) -> None:
    files = [folder / name / "x.txt" for name in ("a", "b")]
    for file in files:
        file.parent.mkdir()
        file.write_text(f"This is {file.parent.name}")
    state = folder / "state.json"
    BatchManager(files=files, prompt="What?", model="mock:echo", state_path=state).run()
    app(["results", str(state), "-o", str(folder / "out.jsonl")], standalone_mode=False)
    assert [row["source"] for row in rows(folder / "out.jsonl")] == [str(file) for file in files]
    state.unlink()
    app(["results", f"{state}.journal", "-o", str(folder / "alone.jsonl")], standalone_mode=False)
    assert [row["source"] for row in rows(folder / "alone.jsonl")] == ["x.txt", "x.txt"]


def test_cancel_gives_up_open_batches_so_that_a_live_run_can_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    journal = folder / "j.db"
    with Simulator(persona="echo", batch_time_s=600) as provider:
        options: dict[str, Any] = {"model": "anthropic:claude-haiku-5-5", "base_url": provider.anthropic_url}
        options |= {"journal": journal}

        def leave(event: object) -> None:
            if isinstance(event, BatchSubmitted):
                raise KeyboardInterrupt

        with pytest.raises(BaseException):  # noqa: B017, PT011 - however it ends, the batch stays at the provider
            run(["a", "b"], mode="batch", on_event=leave, **options)
        with pytest.raises(ConfigError, match=r"`batchwork cancel .*j\.db` gives them up"):
            run(["a", "b"], **options)
        app(["cancel", str(journal)], standalone_mode=False)
        assert [outcome.text for outcome in run(["a", "b"], **options)] == ["a", "b"]

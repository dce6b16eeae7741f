"""A run on disk and back, and what is said of a folder that holds none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from batchwork.benchmarks.report import RunFilesError, load_run, save_run
from batchwork.benchmarks.report.__main__ import main
from tests.support.made_calls import call, pair, run_info

ROOT = Path(__file__).parents[2]


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    info = run_info(notice="a\nb", settings={"sizes": [1, 2], "x": None}, versions={"batchwork": "0.1"})
    calls = [call(answer='ä "☃"\n\r\u2028|', truth=[1, 2.5, None], parsed={"answer": 3}, size=10**12), call(score=None)]
    saved = save_run(tmp_path / "deep" / "er", info, calls)
    assert load_run(tmp_path / "deep" / "er") == (saved, calls)
    assert saved == msgspec.structs.replace(info, calls=2)


def test_saving_leaves_nothing_beside(tmp_path: Path) -> None:
    save_run(tmp_path, run_info(), [call()])
    save_run(tmp_path, run_info(), [call()])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.json", "trials.jsonl"]


def test_a_folder_that_cannot_be_written_keeps_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "run.json").mkdir()  # in the place of the file
    with pytest.raises(OSError, match=r"run\.json"):
        save_run(tmp_path, run_info(), [call()])
    assert not list(tmp_path.glob(".*"))


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(RunFilesError, match="does not exist; name the folder that a run wrote"):
        load_run(tmp_path / "nowhere")


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFilesError, match="is not a folder"):
        load_run(tmp_path / "file")


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(RunFilesError, match="is empty"):
        load_run(tmp_path)


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(RunFilesError, match=r"is not the folder of a run: it has no run\.json"):
        load_run(tmp_path)


@pytest.mark.parametrize("left", ["trials.jsonl", "journal.db"])
def test_a_run_that_was_killed(tmp_path: Path, left: str) -> None:
    (tmp_path / left).write_text("")
    with pytest.raises(RunFilesError, match="killed before it ended; run it again with --resume"):
        load_run(tmp_path)


def test_a_run_that_has_begun_and_not_ended(tmp_path: Path) -> None:
    save_run(tmp_path, run_info(ended_at=""), [])
    with pytest.raises(RunFilesError, match="killed before it ended; run it again with --resume"):
        load_run(tmp_path)


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    save_run(tmp_path, run_info(), pair("trend", 0, 1.0, 0.0))
    lines = (tmp_path / "trials.jsonl").read_bytes().splitlines()
    for damage in (lines[1][:40], b"", b"\xff\xfe", b"{}"):
        (tmp_path / "trials.jsonl").write_bytes(lines[0] + b"\n" + damage + b"\n")
        with pytest.raises(RunFilesError, match=r"trials\.jsonl, line 2 is damaged .* run again with --resume"):
            load_run(tmp_path)


def test_a_file_that_was_cut_at_the_end_of_a_line_is_refused(tmp_path: Path) -> None:
    save_run(tmp_path, run_info(), pair("trend", 0, 1.0, 0.0))
    lines = (tmp_path / "trials.jsonl").read_bytes().splitlines(keepends=True)
    for kept in ([], lines[:1], lines + lines[:1]):
        (tmp_path / "trials.jsonl").write_bytes(b"".join(kept))
        told = rf"trials\.jsonl has {len(kept)} calls, and run\.json says 2: .* run again with --resume"
        with pytest.raises(RunFilesError, match=told):
            load_run(tmp_path)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ({"seed": -1}, "`int` >= 0 - at `$.seed`"),
        ({"trials": "two"}, "Expected `int`, got `str` - at `$.trials`"),
        ({"settings": [1]}, "Expected `object`, got `array` - at `$.settings`"),
        ({"colour": "blue"}, "unknown field `colour`"),
        ({"model": None}, "Expected `str`, got `null` - at `$.model`"),
    ],
)
def test_a_run_json_that_is_wrong_is_an_error_that_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: dict[str, object], said: str
) -> None:
    save_run(tmp_path, run_info(), pair("trend", 0, 1.0, 0.0))
    told = msgspec.json.decode((tmp_path / "run.json").read_bytes())
    (tmp_path / "run.json").write_bytes(msgspec.json.encode(told | damage))
    assert main([str(tmp_path), "--no-viz"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("ERROR: ")
    assert said in error
    assert "run again with --resume" in error


def test_a_run_json_that_lacks_a_field_is_an_error_that_names_it(tmp_path: Path) -> None:
    save_run(tmp_path, run_info(), [])
    told = msgspec.json.decode((tmp_path / "run.json").read_bytes())
    del told["baseline"]
    (tmp_path / "run.json").write_bytes(msgspec.json.encode(told))
    with pytest.raises(RunFilesError, match="missing required field `baseline`"):
        load_run(tmp_path)


def test_a_reader_that_leaves_early_gets_no_traceback(tmp_path: Path) -> None:
    save_run(tmp_path, run_info(), pair("trend", 0, 1.0, 0.0))
    command = [sys.executable, "-m", "batchwork.benchmarks.report", str(tmp_path), "--no-viz"]
    there, gone = os.pipe()
    os.close(there)
    with os.fdopen(gone, "wb") as pipe:
        ended = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, check=False, cwd=ROOT)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert (tmp_path / "benchmark_report.md").exists()


def test_a_damaged_or_lost_file_is_named(tmp_path: Path) -> None:
    save_run(tmp_path, run_info(), [])
    (tmp_path / "trials.jsonl").unlink()
    with pytest.raises(RunFilesError, match=r"trials\.jsonl is gone"):
        load_run(tmp_path)
    (tmp_path / "run.json").write_text('{"backend": ')
    with pytest.raises(RunFilesError, match=r"run\.json is damaged"):
        load_run(tmp_path)


def test_files_of_two_runs_are_told_apart(tmp_path: Path) -> None:
    save_run(tmp_path, run_info(), [call(), call(condition="csv")])
    with pytest.raises(RunFilesError, match="line 2: a call of 'csv', which is no condition of this run"):
        load_run(tmp_path)


def test_the_program_renders_again_without_a_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_run(tmp_path, run_info(trials=1), pair("trend", 0, 1.0, 0.0))
    assert main([str(tmp_path), "--no-viz"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert [Path(line).name for line in told] == [
        "benchmark_results.json",
        "benchmark_results.csv",
        "benchmark_report.md",
    ]
    before = (tmp_path / "benchmark_results.json").read_bytes()
    assert main([str(tmp_path), "--no-viz", "--format", "json"]) == 0
    assert (tmp_path / "benchmark_results.json").read_bytes() == before


def test_the_program_says_what_is_wrong_and_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "nowhere")]) == 2
    assert capsys.readouterr().err.startswith("ERROR: ")
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path), "--format", "pdf"])
    assert ended.value.code == 2

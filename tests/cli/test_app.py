"""`batchwork run` as a user meets it: the real program, real files, what it prints and how it exits."""

import csv
import json
import tomllib
from pathlib import Path

import pytest

import batchwork as package
from tests.cli.conftest import Run, rows

ECHO = ("--model", "mock:echo", "--prompt", "Say {text}")
OURS = ["response", "status", "error", "cost_usd", "input_tokens", "output_tokens", "attempts", "latency_s"]


def test_every_row_is_answered_in_input_order_with_its_columns(batchwork: Run, rivers: Path, folder: Path) -> None:
    done = batchwork("run", rivers.name, "-o", "out.jsonl", *ECHO)
    assert done.returncode == 0, done.stderr
    answers = rows(folder / "out.jsonl")
    assert [a["id"] for a in answers] == list(range(10))
    assert [a["response"] for a in answers] == [f"Say river {i}" for i in range(10)]
    assert list(answers[0]) == ["id", "text", *OURS]


def test_the_accounting_and_the_mock_are_stated(batchwork: Run, rivers: Path) -> None:
    done = batchwork("run", rivers.name, "-o", "out.jsonl", *ECHO)
    assert "10 inputs = 10 succeeded + 0 failed + 0 deferred + 0 skipped" in done.stderr
    assert "no language model is called" in done.stderr
    assert "All succeeded." in done.stderr


def test_quiet_prints_nothing_when_all_succeeded(batchwork: Run, rivers: Path) -> None:
    done = batchwork("run", rivers.name, "-o", "out.jsonl", *ECHO, "--quiet")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_quiet_still_says_what_to_do_next_and_advises_no_retry_that_cannot_help(batchwork: Run, folder: Path) -> None:
    (folder / "in.jsonl").write_text('{"text": "a"}\nnot json\n')
    done = batchwork("run", "in.jsonl", "-o", "out.jsonl", *ECHO, "--quiet")
    assert done.returncode == 1
    assert "failed   1 bad_input: " in done.stderr
    assert "Never sent: correct it, then run the same command again." in done.stderr
    assert "retry" not in done.stderr


def test_the_same_command_again_sends_nothing(batchwork: Run, rivers: Path, folder: Path) -> None:
    command = ("run", rivers.name, "-o", "out.jsonl", "--model", "mock:echo?log=calls.log", "--prompt", "Say {text}")
    batchwork(*command)
    first = (folder / "out.jsonl").read_text()
    assert batchwork(*command).returncode == 0
    assert len((folder / "calls.log").read_text().split()) == 10
    assert (folder / "out.jsonl").read_text() == first


def test_new_and_changed_rows_are_sent_and_nothing_else(batchwork: Run, rivers: Path, folder: Path) -> None:
    command = ("run", rivers.name, "-o", "out.jsonl", "--model", "mock:echo?log=calls.log", "--prompt", "Say {text}")
    batchwork(*command)
    lines = rivers.read_text().splitlines()
    lines[3] = json.dumps({"id": 3, "text": "another river"})
    rivers.write_text("\n".join([*lines, json.dumps({"id": 10, "text": "new"})]) + "\n")
    assert batchwork(*command).returncode == 0
    assert len((folder / "calls.log").read_text().split()) == 12
    assert [a["id"] for a in rows(folder / "out.jsonl")] == list(range(11))
    assert rows(folder / "out.jsonl")[3]["response"] == "Say another river"


def test_a_changed_column_that_the_prompt_does_not_use_costs_no_call(batchwork: Run, folder: Path) -> None:
    command = ("run", "in.jsonl", "-o", "out.jsonl", "--model", "mock:echo?log=calls.log", "--prompt", "Say {text}")
    (folder / "in.jsonl").write_text('{"id": 1, "text": "a"}\n')
    batchwork(*command)
    (folder / "in.jsonl").write_text('{"id": 2, "text": "a"}\n')
    batchwork(*command)
    assert len((folder / "calls.log").read_text().split()) == 1
    assert rows(folder / "out.jsonl")[0]["id"] == 2


def test_a_shorter_input_gives_a_shorter_output_and_keeps_the_rest(batchwork: Run, rivers: Path, folder: Path) -> None:
    command = ("run", rivers.name, "-o", "out.jsonl", "--model", "mock:echo?log=calls.log", "--prompt", "Say {text}")
    whole = rivers.read_text()
    batchwork(*command)
    rivers.write_text("".join(whole.splitlines(keepends=True)[:4]))
    batchwork(*command)
    assert len(rows(folder / "out.jsonl")) == 4
    rivers.write_text(whole)
    batchwork(*command)
    assert len(rows(folder / "out.jsonl")) == 10
    assert len((folder / "calls.log").read_text().split()) == 10


def test_limit_reads_only_so_many_rows(batchwork: Run, rivers: Path, folder: Path) -> None:
    batchwork("run", rivers.name, "-o", "out.jsonl", *ECHO, "--limit", "3")
    assert len(rows(folder / "out.jsonl")) == 3


def test_fresh_sets_the_old_journal_aside(batchwork: Run, rivers: Path, folder: Path) -> None:
    command = ("run", rivers.name, "-o", "out.jsonl", "--model", "mock:echo?log=calls.log", "--prompt", "Say {text}")
    batchwork(*command)
    assert batchwork(*command, "--fresh", "--overwrite").returncode == 0
    assert len((folder / "calls.log").read_text().split()) == 20
    assert (folder / "out.jsonl.journal.db.old-1").exists()


def test_a_missing_template_column_names_those_there_are_before_anything_is_sent(
    batchwork: Run, rivers: Path, folder: Path
) -> None:
    done = batchwork("run", rivers.name, "-o", "out.jsonl", "--model", "mock:echo?log=calls.log", "--prompt", "{txt}")
    assert done.returncode == 2
    assert "txt" in done.stderr
    assert "id, text" in done.stderr
    assert not (folder / "calls.log").exists()
    assert "Traceback" not in done.stderr


def test_a_bad_row_fails_with_its_line_number_and_the_others_go_on(batchwork: Run, folder: Path) -> None:
    (folder / "in.jsonl").write_text('{"text": "a"}\nnot json\n{"other": 1}\n{"text": "b"}\n')
    done = batchwork("run", "in.jsonl", "-o", "out.jsonl", *ECHO)
    answers = rows(folder / "out.jsonl")
    assert done.returncode == 1
    assert [a["status"] for a in answers] == ["succeeded", "failed", "failed", "succeeded"]
    assert answers[1]["error"].startswith("bad_input: line 2 ")
    assert answers[2]["error"].startswith("bad_input: line 3")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_out_is_written_by_its_suffix(batchwork: Run, rivers: Path, folder: Path, suffix: str) -> None:
    done = batchwork("run", rivers.name, "-o", f"out.{suffix}", *ECHO)
    assert done.returncode == 0, done.stderr
    if suffix == "csv":
        with (folder / "out.csv").open(newline="") as file:
            answers = list(csv.DictReader(file))
    elif suffix == "parquet":
        pytest.importorskip("pyarrow")
        from pyarrow import parquet

        answers = parquet.read_table(folder / "out.parquet").to_pylist()
    else:
        answers = rows(folder / "out.jsonl")
    assert [a["response"] for a in answers] == [f"Say river {i}" for i in range(10)]


def test_rows_come_from_standard_input(batchwork: Run, folder: Path) -> None:
    done = batchwork("run", "-", "-o", "out.jsonl", *ECHO, stdin='{"text": "a"}\n{"text": "b"}\n')
    assert done.returncode == 0, done.stderr
    assert [a["response"] for a in rows(folder / "out.jsonl")] == ["Say a", "Say b"]


def test_whole_prompts_and_message_lists_need_no_template(batchwork: Run, folder: Path) -> None:
    messages = [{"role": "user", "content": "two"}]
    (folder / "in.jsonl").write_text('{"prompt": "one"}\n' + json.dumps({"messages": messages}) + "\n")
    done = batchwork("run", "in.jsonl", "-o", "out.jsonl", "--model", "mock:echo")
    assert done.returncode == 0, done.stderr
    assert [a["response"] for a in rows(folder / "out.jsonl")] == ["one", "two"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "nowhere.jsonl", "-o", "out.jsonl", "--model", "mock:echo"), "no such file"),
        (("run", "rivers.jsonl", "-o", "out.txt", *ECHO), ".jsonl"),
        (("run", "rivers.jsonl", "-o", "rivers.jsonl", *ECHO), "same file"),
        (("run", "rivers.jsonl", "-o", "no/out.jsonl", *ECHO), "does not exist"),
        (("run", "rivers.jsonl", "-o", "out.jsonl", "--model", "mok:echo", "--prompt", "{text}"), "mock:echo"),
        (("run", "rivers.jsonl", "-o", "out.jsonl", "--model", "mock:echo"), "--prompt"),
        (("run", "rivers.jsonl", "-o", "out.jsonl", *ECHO, "--max-in-flight", "0"), "--max-in-flight must"),
        (("run", "rivers.jsonl", "-o", "out.jsonl", *ECHO, "--max-cost", "-1"), "-1"),
        (("run", "rivers.jsonl", "-o", "out.jsonl", *ECHO, "--price", "cheap"), "IN,OUT"),
        (("run", "rivers.jsonl", "-o", "out.jsonl", *ECHO, "--max-tokens", "0"), "--max-tokens must"),
        (("run", "rivers.jsonl", "-o", "out.jsonl", *ECHO, "--schema", "no.json"), "no.json"),
        (("run", "rivers.jsonl", "-o", "out.jsonl", *ECHO, "--wat"), "--wat"),
        (("run", "rivers.jsonl", "-o", "out.jsonl", *ECHO, "--prompt-file", "p.txt"), "exclude each other"),
        (("run", "rivers.jsonl", "-o", "out.jsonl", "--model", "mock:echo", "--prompt", " "), "prompt is empty"),
        (("ask", " ", "--model", "mock:echo"), "prompt is empty"),
        (("status", "nowhere.db"), "no journal"),
        (("results", "rivers.jsonl", "-o", "out.jsonl"), "not a batchwork journal"),
        (("retry", "nowhere.db"), "no journal"),
        (("backup", "nowhere.db", "copy.db"), "no journal"),
        (("backup", "nowhere.db", "rivers.jsonl"), "replaces nothing"),
    ],
)
def test_bad_arguments_are_one_clear_line_and_exit_2(
    batchwork: Run, rivers: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = batchwork(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "content"),
    [("in.jsonl", ""), ("in.jsonl", "\n\n"), ("in.csv", ""), ("in.csv", "text,id\n"), ("in.tsv", "\n"), ("-", "")],
)
def test_an_input_without_rows_is_a_finished_run_of_nothing(
    batchwork: Run, folder: Path, name: str, content: str
) -> None:
    if name != "-":
        (folder / name).write_text(content)
    done = batchwork("run", name, "-o", "out.csv", *ECHO, "--quiet", stdin="")
    assert (done.returncode, done.stderr) == (0, "the input is empty: nothing was asked\n")
    columns = ["text", "id", "response"] if content.startswith("text") else ["response"]
    assert (folder / "out.csv").read_text().split(",")[: len(columns)] == columns
    assert "0 inputs" in batchwork("status", "out.csv").stdout


def test_a_limit_of_no_rows_is_a_finished_run_of_nothing(batchwork: Run, rivers: Path, folder: Path) -> None:
    done = batchwork("run", rivers.name, "-o", "out.jsonl", *ECHO, "--limit", "0", "--quiet")
    assert (done.returncode, done.stderr) == (0, "--limit 0: nothing was asked\n")
    assert rows(folder / "out.jsonl") == []


def test_an_input_of_bad_rows_alone_is_not_an_empty_one(batchwork: Run, folder: Path) -> None:
    (folder / "in.jsonl").write_text("1\n2\n")
    done = batchwork("run", "in.jsonl", "-o", "out.jsonl", *ECHO)
    assert done.returncode == 2
    assert "which in.jsonl does not have" in done.stderr


def test_a_row_whose_prompt_is_empty_fails_by_itself_and_is_not_sent(batchwork: Run, folder: Path) -> None:
    (folder / "in.jsonl").write_text('{"text": "a"}\n{"text": " "}\n')
    command = ("--model", "mock:echo?log=calls.log", "--prompt", "{text}")
    assert batchwork("run", "in.jsonl", "-o", "out.jsonl", *command).returncode == 1
    assert [row["error"] for row in rows(folder / "out.jsonl")] == [
        None,
        "bad_input: line 2: the prompt is empty: there is nothing to ask",
    ]
    assert len((folder / "calls.log").read_text().split()) == 1


def test_a_foreign_output_file_is_not_replaced_without_being_asked(batchwork: Run, rivers: Path, folder: Path) -> None:
    (folder / "out.jsonl").write_text("mine")
    refused = batchwork("run", rivers.name, "-o", "out.jsonl", *ECHO)
    assert refused.returncode == 2
    assert "--overwrite" in refused.stderr
    assert (folder / "out.jsonl").read_text() == "mine"
    assert batchwork("run", rivers.name, "-o", "out.jsonl", *ECHO, "--overwrite").returncode == 0
    assert batchwork("run", rivers.name, "-o", "out.jsonl", *ECHO).returncode == 0


@pytest.mark.parametrize(
    "command",
    [
        (),
        ("run",),
        ("estimate",),
        ("status",),
        ("results",),
        ("retry",),
        ("worker",),
        ("recover",),
        ("backup",),
        ("simulate",),
        ("serve",),
        ("ask",),
        ("demo",),
    ],
)
def test_every_command_has_help_with_examples(batchwork: Run, command: tuple[str, ...]) -> None:
    done = batchwork(*command, "--help")
    assert done.returncode == 0
    assert ("Examples:" in done.stdout) == bool(command)


def test_the_version_is_that_of_the_package_at_every_door(batchwork: Run) -> None:
    version = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["version"]
    assert batchwork("--version").stdout == f"batchwork {version}\n"
    assert package.__version__ == version

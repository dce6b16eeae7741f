"""What the command line says about the question becomes part of every request."""

from contextlib import closing
from pathlib import Path

import pytest

from batchwork.cli.inputs import json_object, per_row_of, sampling_of
from batchwork.core.errors import ConfigError
from batchwork.journal import JournalReader
from tests.cli.conftest import Run, rows

LOGGED = ("--model", "mock:echo?log=calls.log", "--prompt", "Say {text}", "-q")


def test_values_of_sampling_parameters_are_json() -> None:
    assert sampling_of("0.2", ["top_p=0.9", 'stop=["END", "="]']) == {
        "top_p": 0.9,
        "stop": ["END", "="],
        "temperature": 0.2,
    }
    assert sampling_of(None, None) is None


def test_the_temperature_is_the_sampling_parameter_of_that_name_to_the_digit() -> None:
    assert repr(sampling_of("0", None)) == repr(sampling_of(None, ["temperature=0"]))


@pytest.mark.parametrize("temperature", ["hot", "nan", "true", "", "[0.2]"])
def test_a_temperature_that_is_no_number_is_refused_with_an_example(temperature: str) -> None:
    with pytest.raises(ConfigError, match=r"--temperature takes a number \(0\.2\)"):
        sampling_of(temperature, None)


@pytest.mark.parametrize("pair", ["top_p", "top_p=", "top_p=0,9", "=1", "stop=END", "seed=01"])
def test_a_sampling_parameter_without_a_json_value_is_refused_with_an_example(pair: str) -> None:
    with pytest.raises(ConfigError, match=r"--sampling top_p=0\.9"):
        sampling_of(None, [pair])


def test_a_parameter_that_is_given_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="'temperature' is given twice"):
        sampling_of("1", ["temperature=1"])


@pytest.mark.parametrize("text", ["", "[1]", "{a}", '"x"', "null"])
def test_an_extra_body_that_is_no_object_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigError, match="--extra-body is a JSON object, for example"):
        json_object(text, "--extra-body", {"service_tier": "flex"})


def test_sampling_and_extra_body_reach_every_request_and_are_part_of_its_key(
    batchwork: Run, rivers: Path, folder: Path
) -> None:
    command = ("run", rivers.name, "-o", "out.jsonl", *LOGGED, "--sampling", "top_p=0.5", "--extra-body", '{"a": {}}')
    for temperature, calls in (("0.2", 10), ("0.2", 10), ("0.3", 20)):
        assert batchwork(*command, "--temperature", temperature).returncode == 0
        assert len((folder / "calls.log").read_text().split()) == calls
    with closing(JournalReader(folder / "out.jsonl.journal.db")) as reader:
        requests = [entry.request for entry in reader.entries()]
    assert all(request.sampling == {"top_p": 0.5, "temperature": 0.3} for request in requests)
    assert all(request.extra_body == {"a": {}} for request in requests)


def test_a_retry_keeps_the_sampling_of_the_run(batchwork: Run, rivers: Path, folder: Path) -> None:
    model = ("--model", "mock:echo?faults=rejected:0.5&seed=3", "--prompt", "Say {text}", "-q")
    assert batchwork("run", rivers.name, "-o", "out.jsonl", *model, "--temperature", "0.2").returncode == 1
    batchwork("retry", "out.jsonl.journal.db", "-q")
    with closing(JournalReader(folder / "out.jsonl.journal.db")) as reader:
        assert {str(entry.request.sampling) for entry in reader.entries()} == {"{'temperature': 0.2}"}


def test_a_model_that_takes_no_temperature_says_so_before_anything_is_sent(batchwork: Run, rivers: Path) -> None:
    model = ("--model", "anthropic:claude-haiku-5-5", "--prompt", "{text}")
    done = batchwork("run", rivers.name, "-o", "out.jsonl", *model, "--temperature", "0.2")
    assert done.returncode == 2
    assert "does not take the sampling parameter 'temperature'" in done.stderr


def test_a_jinja_template_and_options_of_each_row_make_the_requests(batchwork: Run, folder: Path) -> None:
    (folder / "in.csv").write_text("city,limit,role\nOslo,5,Be brief.\nRom,,\nBern,many,\n")
    (folder / "ask.j2").write_text("Where is {{ city | upper }}?\n")
    command = ("in.csv", "--model", "mock:echo", "--template", "ask.j2", "--per-row", "max_tokens=limit")
    done = batchwork("run", *command, "-o", "out.jsonl", "--per-row", "system=role", "-q")
    assert done.returncode == 1
    answers = rows(folder / "out.jsonl")
    assert [row["response"] for row in answers] == ["Where is OSLO?", "Where is ROM?", None]
    assert "line 4: column 'limit' is 'many', and max_tokens must be a whole number" in answers[2]["error"]
    with closing(JournalReader(folder / "out.jsonl.journal.db")) as reader:
        asked = [entry.request for entry in reader.entries()]
    assert [(request.max_tokens, request.system) for request in asked if request] == [(5, "Be brief."), (1024, None)]
    assert "items          3 (1 cannot be sent)" in batchwork("estimate", *command).stdout
    taken_for_plain = batchwork("run", "in.csv", "--model", "mock:echo", "-o", "other.jsonl", "--prompt-file", "ask.j2")
    assert "ask.j2 is a Jinja template by its name: give it as --template" in taken_for_plain.stderr
    both = batchwork("run", *command, "-o", "other.jsonl", "--prompt", "{city}")
    assert (both.returncode, "--prompt and --template exclude each other" in both.stderr) == (2, True)


@pytest.mark.parametrize("pairs", [["limit"], ["=limit"], ["max_tokens="], ["system=a", "system=b"]])
def test_a_row_option_without_its_column_is_refused_with_an_example(pairs: list[str]) -> None:
    with pytest.raises(ConfigError, match="--per-row max_tokens=limit"):
        per_row_of(pairs)

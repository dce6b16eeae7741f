"""One interface over every backend; making a client or a runner touches nothing."""

import socket
import subprocess
from datetime import UTC, datetime, timedelta

import pytest

from batchwork.benchmarks.claude_client import BackendType, ClaudeCodeClient, LocalClient, MockClient, get_client
from batchwork.benchmarks.config import BenchmarkConfig, ConfigurationError
from batchwork.benchmarks.runner import BenchmarkRunner, WarmupError
from tests.support.fake_claude import ERROR, Program


@pytest.mark.parametrize("backend", list(BackendType))
def test_making_a_client_and_a_runner_touches_nothing(backend, monkeypatch, tmp_path):
    def touched(*_, **__):
        raise AssertionError("something was touched")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(socket, "socket", touched)
    monkeypatch.setattr(subprocess, "Popen", touched)
    monkeypatch.setattr("pathlib.Path.open", touched)
    monkeypatch.setattr("pathlib.Path.mkdir", touched)
    get_client(backend)
    BenchmarkRunner(BenchmarkConfig(), backend=backend)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("backend", "model", "named"),
    [
        ("api", None, "anthropic:claude-sonnet-5-5"),
        ("api", "haiku", "anthropic:claude-haiku-5-5"),
        ("api", "openai:any", "openai:any"),
        ("api", "claude-opus-5-5", "claude-opus-5-5"),
        ("claude-code", None, "claude-code:sonnet?base_timeout=120&timeout_per_1k_chars=10"),
        ("claude-code", "opus", "claude-code:opus?base_timeout=120&timeout_per_1k_chars=10"),
        ("mock", None, "mock:reader"),
        ("local", None, "local:smollm2"),
        ("local", "local:/models/a.gguf", "local:/models/a.gguf"),
    ],
)
def test_a_backend_and_a_model_name_one_model(backend, model, named):
    assert get_client(backend, BenchmarkConfig(model=model)).model == named


@pytest.mark.parametrize(
    ("backend", "model"),
    [("mock", "echo"), ("mock", "openai:x"), ("claude-code", "mock:reader"), ("api", "mock:reader")],
)
def test_a_model_of_another_backend_is_refused(backend, model):
    with pytest.raises(ConfigurationError):
        _ = get_client(backend, BenchmarkConfig(model=model)).model


def test_an_unknown_backend_is_named_with_those_there_are():
    with pytest.raises(ConfigurationError, match="api, claude-code, mock, local"):
        get_client("gpt")


@pytest.mark.parametrize(
    ("fields", "size"),
    [
        ({}, 1000),
        ({"max_data_size": 500}, 500),
        ({"skip_baseline_above": 2000}, 100_000),
        ({"max_data_size": 200_000}, 100_000),
    ],
)
def test_the_claude_program_is_given_a_thousand_points_unless_told_otherwise(fields, size):
    runner = BenchmarkRunner(
        BenchmarkConfig(tasks=("scaling",), trials=12, treatments=("summary-stats",), **fields), BackendType.CLAUDE_CODE
    )
    assert max(ask.trial.dataset.size for ask in runner.lay_out()) == size


def test_a_question_that_fails_is_a_response_with_an_error():
    client = MockClient(BenchmarkConfig(model="mock:reader?faults=rejected:1"))
    told = client.query("colour: blue\n\nWhat is the colour?")
    assert not told.success
    assert told.error.startswith("rejected")


def test_clients_say_what_they_are():
    assert MockClient.notice == "literal reader, not a language model"
    assert (ClaudeCodeClient.warms_up, LocalClient.notice) == (True, None)


# -- the claude program that cannot answer, with a fake one that says that it is a fake --------------------------------


def warmed_up(program, monkeypatch, **fields):
    """What a run says whose warm-up failed, and how often the program was called for it."""
    monkeypatch.setenv("PATH", str(program.folder))
    with pytest.raises(WarmupError) as told:
        BenchmarkRunner(BenchmarkConfig(**fields), BackendType.CLAUDE_CODE).warmup()
    return str(told.value), len((program.folder / "calls.jsonl").read_text().splitlines())


def test_a_program_that_is_not_signed_in_ends_the_run_at_its_first_call(tmp_path, monkeypatch):
    program = Program(tmp_path)
    program.prints([{**ERROR, "result": "Invalid API key · Please run /login"}], code=1)
    told, calls = warmed_up(program, monkeypatch)
    assert calls == 1
    assert "Invalid API key · Please run /login" in told
    assert told.endswith("Re-authenticate by running `claude` once.")


def test_a_usage_limit_at_the_warm_up_says_by_the_clock_when_it_ends(tmp_path, monkeypatch):
    program = Program(tmp_path)
    end = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=3)
    program.prints([{**ERROR, "result": f"Claude AI usage limit reached|{end.timestamp():.0f}"}], code=1)
    told, calls = warmed_up(program, monkeypatch)
    assert calls == 1
    assert f"usage limit reached, until {end.astimezone():%Y-%m-%d %H:%M %Z}" in told
    assert "Run it again after 20" in told
    assert f"{end.timestamp():.0f}" not in told


def test_a_call_that_takes_too_long_names_the_flag_and_the_seconds(tmp_path, monkeypatch):
    program = Program(tmp_path)
    program.prints(None, hang=True)
    told, _ = warmed_up(program, monkeypatch, base_timeout=0.5, timeout_per_1k_chars=0.0, retries=0)
    assert "CLI timed out after 0.5 s" in told
    assert "--timeout" in told

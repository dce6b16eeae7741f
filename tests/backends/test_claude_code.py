"""The logic around the program, with a fake one: a script of our own that says that it is a fake."""

import asyncio
import json
import time
from pathlib import Path

import pytest

import batchwork
from batchwork.backends import Setup, open_backend
from batchwork.backends.claude_code.resets import is_usage_limit, seconds_until_reset
from batchwork.clock import SystemClock
from batchwork.core.errors import ConfigError
from batchwork.core.failure import FailureKind as K
from batchwork.core.reply import Usage
from batchwork.core.request import Attachment, Message, Request, Schema
from batchwork.settings import Settings
from tests.support.fake_claude import ERROR, RESULT, Program, assistant, until_written


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path)


# -- how it is called -------------------------------------------------------------------------------


def test_the_prompt_goes_to_standard_input_and_the_arguments_switch_everything_off(program):
    assert program.ask().text == "fake answer"
    call = program.call
    assert call["prompt"] == "Is it?"
    assert "-p" in call["args"]
    assert "--no-session-persistence" in call["args"]
    assert "--strict-mcp-config" in call["args"]
    assert program.option("--output-format") == "json"
    assert program.option("--model") == "sonnet"
    assert program.option("--tools") == ""
    assert program.option("--setting-sources") == ""


def test_it_runs_in_a_folder_of_its_own_that_is_empty_and_goes_away(program):
    program.ask()
    assert program.call["lying_about"] == []
    assert program.call["cwd"] != str(Path.cwd())
    assert not Path(program.call["cwd"]).exists()


def test_its_environment_is_built_from_nothing(program):
    environment = {"HOME": "/h", "HTTPS_PROXY": "http://p", "CLAUDE_CONFIG_DIR": "/c", "OTHER": "x"}
    program.ask(environment=environment)
    seen = program.call["env"]
    assert {k: seen[k] for k in ("HOME", "HTTPS_PROXY", "CLAUDE_CONFIG_DIR")} == {
        "HOME": "/h",
        "HTTPS_PROXY": "http://p",
        "CLAUDE_CONFIG_DIR": "/c",
    }
    assert seen["CLAUDE_CODE_MAX_RETRIES"] == "0"
    assert "OTHER" not in seen
    assert "USER" not in seen


def test_a_stray_key_does_not_reach_it(program):
    program.ask(environment={"ANTHROPIC_API_KEY": "sk-stray"})
    assert "ANTHROPIC_API_KEY" not in program.call["env"]


@pytest.mark.parametrize(
    ("environment", "fields"),
    [
        ({"ANTHROPIC_API_KEY": "sk-1", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}, {}),
        ({"ANTHROPIC_API_KEY": "sk-1"}, {"base_url": "http://127.0.0.1:1"}),
        ({"ANTHROPIC_API_KEY": "sk-1", "BATCHWORK_CLAUDE_WITH_KEY": "1"}, {}),
        ({}, {"api_key": "sk-1"}),
    ],
)
def test_a_key_reaches_it_beside_a_base_url_or_when_asked_for(program, environment, fields):
    program.ask(environment=environment, **fields)
    assert program.call["env"]["ANTHROPIC_API_KEY"] == "sk-1"


def test_the_run_says_who_pays(program):
    assert "its own login" in program.open().traits.notice
    with_key = program.open(api_key="sk-1", base_url="http://127.0.0.1:1").traits.notice
    assert "API key" in with_key
    assert "http://127.0.0.1:1" in with_key
    assert "sk-1" not in with_key


def test_max_tokens_and_no_thinking_go_by_the_environment(program):
    program.ask(Request.ask("?", max_tokens=77))
    assert program.call["env"]["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "77"
    assert program.call["env"]["MAX_THINKING_TOKENS"] == "0"


def test_the_ceiling_is_the_programs_budget(program):
    program.ask(ceiling_nano=12_345_678)
    assert program.option("--max-budget-usd") == "0.012345678"
    program.ask()
    assert program.option("--max-budget-usd") is None


def test_the_system_prompt_replaces_the_programs_own_and_goes_by_file(program):
    program.ask(Request.ask("?", system="Be brief."))
    assert program.call["system"]["text"] == "Be brief."
    program.ask()
    assert program.call["system"]["text"] == "Answer the user."
    program.ask(Request.ask("?", system="x" * 200_000))
    assert program.call["system"]["text"] == "x" * 200_000
    assert program.option("--system-prompt") is None


def test_a_conversation_goes_as_a_transcript(program):
    turns = (Message("system", "s"), Message("user", "a"), Message("assistant", "b"), Message("user", "c"))
    program.ask(Request(messages=turns))
    assert program.call["prompt"] == "User: a\n\nAssistant: b\n\nUser: c"
    assert program.call["system"]["text"] == "s"


def test_documents_go_before_the_question_as_text(program):
    document = Attachment(media_type="application/pdf", digest=b"0" * 16, text="Total: 5", title="Bill")
    program.ask(Request.ask("The total?", documents=(document,)))
    assert program.call["prompt"] == '<document title="Bill">\nTotal: 5\n</document>\n\nThe total?'


def test_a_schema_is_handed_over_and_its_answer_taken(program):
    program.prints([{**RESULT, "structured_output": {"a": 1}}])
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    reply = program.ask(Request.ask("?", schema=Schema.of(schema)))
    assert json.loads(reply.text) == {"a": 1}
    assert json.loads(program.option("--json-schema")) == schema


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Request.ask("?", sampling={"temperature": 0}), "temperature"),
        (Request.ask("?", extra_body={"tools": []}), "tools"),
        (Request.ask(" "), "empty"),
        (Request(messages=(Message("user", [{"type": "image", "media_type": "image/png", "data": b"x"}]),)), "image"),
        (Request.ask("?", model="claude-code:opus"), "a run of its own"),
    ],
)
def test_what_it_cannot_be_told_is_not_sent(program, request_, words):
    failure = program.ask(request_)
    assert failure.kind is K.BAD_INPUT
    assert words in failure.message
    assert not (program.folder / "calls.jsonl").exists()


# -- what it says -----------------------------------------------------------------------------------


def test_a_reply_has_the_cost_the_usage_and_the_model_it_reports(program):
    reply = program.ask()
    assert reply.reported_cost_nano == 1_647_000
    assert reply.usage == Usage(
        input_tokens=4310,
        output_tokens=5,
        cache_read_tokens=4000,
        cache_write_tokens=100,
        cache_write_1h_tokens=200,
    )
    assert (reply.model, reply.provider_id) == ("fake-model", "s-1")


def test_an_answer_that_it_continued_by_itself_is_whole(program):
    program.prints([assistant("m1", "fake "), assistant("m2", "answer"), {**RESULT, "result": "answer"}])
    assert program.ask().text == "fake answer"


def test_an_older_program_that_prints_the_result_alone_is_understood(program):
    program.prints(RESULT)
    assert program.ask().text == "fake answer"


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ({**ERROR, "api_error_status": 400}, K.REJECTED),
        ({**ERROR, "api_error_status": 401}, K.AUTH),
        ({**ERROR, "api_error_status": 403}, K.AUTH),
        ({**ERROR, "api_error_status": 413}, K.TOO_LONG),
        ({**ERROR, "api_error_status": 429}, K.RATE_LIMITED),
        ({**ERROR, "api_error_status": 500}, K.SERVER),
        ({**ERROR, "api_error_status": 529}, K.OVERLOADED),
        ({**ERROR, "terminal_reason": "prompt_too_long"}, K.TOO_LONG),
        ({**ERROR, "subtype": "error_during_execution", "result": None, "errors": ["x"]}, K.SERVER),
    ],
)
def test_is_error_and_the_status_are_read_before_the_subtype(program, result, kind):
    program.prints([result], code=1)
    failure = program.ask()
    assert failure.kind is kind
    assert failure.usage is None
    assert not failure.unconfirmed


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ({**RESULT, "is_error": True, "stop_reason": "refusal"}, K.REFUSED),
        ({**RESULT, "is_error": True, "stop_reason": "max_tokens"}, K.TRUNCATED),
        ({**RESULT, "is_error": True, "subtype": "error_max_structured_output_retries"}, K.SCHEMA_VIOLATION),
    ],
)
def test_what_was_paid_for_comes_with_the_failure(program, result, kind):
    program.prints([result], code=1)
    failure = program.ask()
    assert failure.kind is kind
    assert failure.usage.output_tokens == 5
    assert failure.reply.reported_cost_nano == 1_647_000


def test_an_answer_that_came_before_the_budget_was_looked_at_is_kept(program):
    result = {**RESULT, "subtype": "error_max_budget_usd", "is_error": True, "errors": ["Reached maximum budget"]}
    del result["result"]
    program.prints([assistant("m1", "dear answer"), result], code=1)
    assert program.ask().text == "dear answer"


SIGNED_OUT = {**assistant("m1", "Not logged in · Please run /login"), "error": "authentication_failed"}


@pytest.mark.parametrize(
    "printed",
    [
        [SIGNED_OUT, {**ERROR, "result": "Not logged in · Please run /login"}],  # 2.1.197, word by word
        [SIGNED_OUT, {**ERROR, "result": "words that nobody foresaw"}],
        {**ERROR, "result": "Invalid API key · Please run /login"},  # the result alone
    ],
)
def test_a_program_that_is_not_signed_in_is_an_auth_failure_without_any_status(program, printed):
    program.prints(printed, code=1)
    failure = program.ask()
    assert (failure.kind, failure.status) == (K.AUTH, None)
    assert "run `claude` once and sign in" in failure.message


def test_an_answer_that_speaks_of_logging_in_is_an_answer(program):
    program.prints([{**RESULT, "result": "First run /login, then ask."}])
    assert program.ask().text == "First run /login, then ask."


def test_a_usage_limit_that_ends_at_a_stamp_is_told_in_clock_time(program, monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        program.prints([{**ERROR, "result": "Claude AI usage limit reached|1794747600"}], code=1)
        failure = program.ask()
    finally:
        monkeypatch.undo()
        time.tzset()
    assert failure.message == "Claude AI usage limit reached, until 2026-11-15 14:00 CET"


def test_a_usage_limit_is_a_quota_with_its_end(program):
    message = "You've hit your session limit · resets 3pm (UTC)"
    program.prints([{**ERROR, "api_error_status": 429, "result": message}], code=1)
    failure = program.ask()
    assert failure.kind is K.QUOTA
    assert 0 < failure.retry_after_s <= 24 * 3600


def test_a_program_that_prints_no_result_says_why(program):
    program.prints("", stderr="error: unknown option '--tools'", code=1)
    failure = program.ask()
    assert failure.kind is K.REJECTED
    assert "unknown option" in failure.message


# -- the named errors -------------------------------------------------------------------------------


def test_claude_cli_not_found(tmp_path):
    setup = Setup(clock=SystemClock(), max_in_flight=1, settings=Settings.from_environment({"PATH": str(tmp_path)}))
    with pytest.raises(ConfigError, match=r"claude CLI not found.*npm install -g @anthropic-ai/claude-code"):
        open_backend("claude-code:sonnet", setup)


def test_rate_limit_exceeded(program):
    program.prints([{**ERROR, "api_error_status": 429}], code=1)
    assert "Rate limit exceeded" in program.ask().message
    assert "--max-in-flight 2" in program.ask().message


def test_cli_timed_out(program):
    program.prints(None, hang=True)
    failure = program.ask(model="claude-code:sonnet?base_timeout=0.2&timeout_per_1k_chars=0")
    assert (failure.kind, failure.unconfirmed) == (K.TIMEOUT, True)
    assert failure.message.startswith("CLI timed out after 0.2 s: ")
    assert "--timeout" in failure.message


def test_cli_timed_out_is_what_a_run_says_too_and_its_own_timeout_is_the_longest(program):
    program.prints(None, hang=True)

    async def error(base_s, timeout):
        backend = program.open(f"claude-code:sonnet?base_timeout={base_s}&timeout_per_1k_chars=0")
        results = await batchwork.arun(["x"], model="claude-code:sonnet", backend=backend, retries=0, timeout=timeout)
        await backend.aclose()
        return results[0].error

    assert "CLI timed out" in asyncio.run(error(0.2, 600))
    assert asyncio.run(error(600, 0.2)) == "timeout: no answer within 0.2 s"


def test_a_call_that_is_given_up_takes_its_children_with_it(program):
    program.prints(None, hang=True)
    born = program.folder / "child.pid"

    async def main():
        backend = program.open()
        call = asyncio.create_task(backend.complete(Request.ask("Is it?")))
        await until_written(born)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await backend.aclose()

    asyncio.run(asyncio.wait_for(main(), 30))
    for pid in (int(born.read_text()), program.call["pid"]):
        assert not _is_running(pid)


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_the_deadline_grows_with_the_prompt(program):
    backend = program.open("claude-code:sonnet?base_timeout=10&timeout_per_1k_chars=2")
    assert backend.timeout_for(Request.ask("x" * 5000)) == 20.0


def test_unknown_models_and_options_are_refused(program):
    with pytest.raises(ConfigError, match="claude-code:haiku"):
        program.open("claude-code:gpt")
    with pytest.raises(ConfigError, match="base_timeout"):
        program.open("claude-code:sonnet?speed=9")


# -- when a limit ends ------------------------------------------------------------------------------

NOON = 1_794_744_000.0  # 2026-11-15 12:00:00 UTC


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("You've hit your session limit · resets 3pm (UTC)", 3 * 3600),
        ("You've hit your limit · resets 3:30pm (UTC)", 3.5 * 3600),
        ("You've hit your limit · resets 11am (UTC)", 23 * 3600),
        ("You've hit your limit · resets 1pm (Europe/Berlin)", 24 * 3600),
        ("You've hit your limit · resets 2pm (Europe/Berlin)", 3600),
        ("You've reached your weekly limit · resets Nov 17, 12pm (UTC)", 48 * 3600),
        ("You've hit your weekly limit · resets Jan 1, 2027, 12am (UTC)", 46.5 * 86400),
        ("Claude AI usage limit reached|1794747600", 3600),
        ("Claude AI usage limit reached|1794747600000", 3600),
        ("Claude AI usage limit reached", None),
        ("You've hit your limit · resets Feb 30, 3pm (UTC)", None),
    ],
)
def test_the_end_of_a_usage_limit_is_read_from_its_words(message, seconds):
    assert is_usage_limit(message)
    assert seconds_until_reset(message, NOON) == seconds


def test_an_ordinary_error_is_no_usage_limit():
    assert not is_usage_limit("API Error: Request rejected (429) · this request would exceed your rate limit")

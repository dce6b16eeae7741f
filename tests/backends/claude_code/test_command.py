"""The logic around the program, with a fake one: a script of our own that says that it is a fake."""

import json
from pathlib import Path

import pytest

from batchwork.core.failure import FailureKind as K
from batchwork.core.request import Attachment, Message, Request, Schema
from tests.support.fake_claude import RESULT


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

"""The logic around the program, with a fake one: a script of our own that says that it is a fake."""

import asyncio
from pathlib import Path

import pytest

import batchwork
from batchwork.backends import Setup, open_backend
from batchwork.clock import SystemClock
from batchwork.core.errors import ConfigError
from batchwork.core.failure import FailureKind as K
from batchwork.core.request import Request
from batchwork.settings import Settings
from tests.support.fake_claude import ERROR, until_written
from tests.support.waiting import becomes_true


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


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
    assert not _is_running(program.call["pid"])
    assert becomes_true(lambda: not _is_running(int(born.read_text())))  # killed; its end is the system's affair


def test_the_deadline_grows_with_the_prompt(program):
    backend = program.open("claude-code:sonnet?base_timeout=10&timeout_per_1k_chars=2")
    assert backend.timeout_for(Request.ask("x" * 5000)) == 20.0


def test_unknown_models_and_options_are_refused(program):
    with pytest.raises(ConfigError, match="claude-code:haiku"):
        program.open("claude-code:gpt")
    with pytest.raises(ConfigError, match="base_timeout"):
        program.open("claude-code:sonnet?speed=9")

"""What every backend keeps, whichever provider it speaks to: one sentence, one test, every implementation."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Protocol

import pytest

from batchwork.backends import Setup, open_backend, traits_of
from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import Backend
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Message, Request
from batchwork.settings import Settings
from batchwork.simulator import Simulator
from tests.support.fake_claude import ERROR, RESULT, Program

STRANGE = "Zoë 🦉 “quoted” \u200f\u05d0 \t tab, line\nnext, \\ and \x01"


class Bench(Protocol):
    """A backend with a provider behind it that echoes, and can be told to fail."""

    model: str

    def open(self) -> Backend: ...

    def will(self, what: str) -> None: ...

    def calls(self) -> int: ...


class MockBench:
    model = "mock:echo"

    def __init__(self) -> None:
        self._next: list[str] = []
        self._made: list[MockBackend] = []

    def open(self) -> Backend:
        self._made.append(MockBackend(clock=SystemClock(), script=self._say))
        return self._made[-1]

    def will(self, what: str) -> None:
        self._next.append(what)

    def calls(self) -> int:
        return sum(backend.calls for backend in self._made)

    def _say(self, request: Request, call: int) -> Reply | Failure | str:
        text = request.messages[-1].content
        assert isinstance(text, str)
        reply = Reply(text=text, usage=Usage(input_tokens=5, output_tokens=5), model="mock", stop_reason="end_turn")
        what = self._next.pop(0) if self._next else ""
        if what == "refuse":
            return Failure(kind=FailureKind.REFUSED, message="no", reply=reply, usage=reply.usage)
        kinds = {
            "break": FailureKind.SERVER,
            "limit": FailureKind.RATE_LIMITED,
            "key": FailureKind.AUTH,
            "cut": FailureKind.CONNECTION,
        }
        if what in kinds:
            return Failure(kind=kinds[what], message="scripted", unconfirmed=what == "cut")
        return reply


SIMULATED = {
    "anthropic": "anthropic:claude-haiku-5-5",
    "openai": "openai:gpt-6-luna",
    "gemini": "gemini:gemini-3.8-flash",
    "mistral": "mistral:mistral-small-latest",
    "openrouter": "openrouter:openai/gpt-4o-mini",
    "bedrock": "bedrock:amazon.nova-lite-v1:0",
    # Rows that differ from OpenAI: an address with the model in it, limits, states and lists.
    "azure-classic": "azure-classic:my-deployment",
    "groq": "groq:openai/gpt-oss-120b",
    "together": "together:meta-llama/Llama-3.3-70B-Instruct-Turbo",
}
FAULTS = {"break": "500", "limit": "429", "key": "401", "cut": "reset_after", "refuse": "refusal"}


class SimulatedBench:
    def __init__(self, model: str, simulator: Simulator) -> None:
        self.model = model
        self._simulator = simulator

    def open(self) -> Backend:
        sim = self._simulator
        url = sim.service_url(self.model.partition(":")[0])
        setup = Setup(clock=SystemClock(), max_in_flight=8, base_url=url, api_key="any", settings=Settings())
        return open_backend(self.model, setup)[0]

    def will(self, what: str) -> None:
        self._simulator.next_faults("live", [FAULTS[what]])

    def calls(self) -> int:
        received: int = self._simulator.log()["total"]["received"]
        return received


class ProgramBench:
    model = "claude-code:sonnet"

    def __init__(self, folder: Path) -> None:
        self._program = Program(folder)
        self._program.prints([RESULT], echo=True)

    def open(self) -> Backend:
        return self._program.open(self.model)

    def will(self, what: str) -> None:
        plans: dict[str, dict[str, Any]] = {
            "break": {"stdout": [{**ERROR, "api_error_status": 500}], "code": 1},
            "limit": {"stdout": [{**ERROR, "api_error_status": 429}], "code": 1},
            "key": {"stdout": [{**ERROR, "api_error_status": 401}], "code": 1},
            "refuse": {"stdout": [{**RESULT, "is_error": True, "stop_reason": "refusal"}], "code": 1},
            "cut": {"stdout": None, "die": True},
        }
        self._program.prints(**plans[what])

    def calls(self) -> int:
        log = self._program.folder / "calls.jsonl"
        return len(log.read_text().splitlines()) if log.exists() else 0


@pytest.fixture(scope="module")
def simulator():
    with Simulator(persona="echo") as running:
        yield running


@pytest.fixture(params=["mock", *SIMULATED, "claude-code"])
def bench(request, tmp_path, simulator) -> Bench:
    simulator.reset()
    if request.param == "mock":
        return MockBench()
    if request.param == "claude-code":
        return ProgramBench(tmp_path)
    return SimulatedBench(SIMULATED[request.param], simulator)


def complete(bench: Bench, *requests: Request) -> list[Reply | Failure]:
    async def one(backend: Backend, request: Request) -> Reply | Failure:
        try:
            return await backend.complete(request)
        except BackendError as error:
            return error.failure

    async def main() -> list[Reply | Failure]:
        backend = bench.open()
        try:
            return await asyncio.gather(*(one(backend, request) for request in requests))
        finally:
            await backend.aclose()

    return run(main())


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, 30))


def test_it_answers_with_what_the_model_said(bench):
    (reply,) = complete(bench, Request.ask("Is it?"))
    assert isinstance(reply, Reply)
    assert reply.text == "Is it?"
    assert not reply.truncated


def test_it_says_what_was_used_and_why_it_ended(bench):
    (reply,) = complete(bench, Request.ask("Is it?"))
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0
    assert reply.stop_reason in ("end_turn", "stop")


def test_it_says_which_model_answered(bench):
    (reply,) = complete(bench, Request.ask("Is it?"))
    assert reply.model


def test_every_character_arrives_unharmed(bench):
    (reply,) = complete(bench, Request.ask(STRANGE))
    assert reply.text == STRANGE


def test_a_long_prompt_arrives_whole(bench):
    prompt = "many words " * 20_000
    (reply,) = complete(bench, Request.ask(prompt, max_tokens=200_000))
    assert len(reply.text.strip()) >= len(prompt) - 1


def test_many_at_once_get_each_their_own(bench):
    replies = complete(bench, *(Request.ask(f"number {i}") for i in range(6)))
    assert [reply.text for reply in replies] == [f"number {i}" for i in range(6)]


def test_one_call_is_one_request_and_a_failure_is_not_tried_again(bench):
    bench.will("break")
    (failure,) = complete(bench, Request.ask("Is it?"))
    assert isinstance(failure, Failure)
    assert bench.calls() == 1


def test_the_run_may_name_the_model_as_it_was_opened(bench):
    (reply,) = complete(bench, Request.ask("Is it?", model=bench.model))
    assert isinstance(reply, Reply)


def test_a_system_prompt_and_a_conversation_are_taken(bench):
    turns = (Message("user", "one"), Message("assistant", "two"), Message("user", "three"))
    (reply,) = complete(bench, Request(messages=turns, system="Be brief."))
    assert "three" in reply.text


@pytest.mark.parametrize(
    ("what", "kind"),
    [
        ("break", FailureKind.SERVER),
        ("limit", FailureKind.RATE_LIMITED),
        ("key", FailureKind.AUTH),
    ],
)
def test_a_refused_call_is_a_failure_of_its_kind_that_costs_nothing(bench, what, kind):
    bench.will(what)
    (failure,) = complete(bench, Request.ask("Is it?"))
    assert failure.kind is kind
    assert failure.message
    assert failure.usage is None
    assert not failure.unconfirmed


def test_a_refusal_of_the_model_is_a_failure_with_the_reply_that_was_paid_for(bench):
    bench.will("refuse")
    (failure,) = complete(bench, Request.ask("Is it?"))
    assert failure.kind is FailureKind.REFUSED
    assert failure.reply is not None
    assert failure.usage == failure.reply.usage
    assert failure.usage.input_tokens > 0
    assert not failure.unconfirmed


def test_a_call_cut_off_after_it_was_sent_is_unconfirmed(bench):
    bench.will("cut")
    (failure,) = complete(bench, Request.ask("Is it?"))
    assert failure.kind in (FailureKind.CONNECTION, FailureKind.SERVER)
    assert failure.unconfirmed
    assert failure.usage is None


def test_a_failure_leaves_the_backend_usable(bench):
    bench.will("break")
    first, *_ = complete(bench, Request.ask("Is it?"))
    assert isinstance(first, Failure)

    async def main() -> Reply:
        backend = bench.open()
        reply = await backend.complete(Request.ask("And now?"))
        await backend.aclose()
        return reply

    if not isinstance(bench, ProgramBench):  # its script says the same every time
        assert run(main()).text == "And now?"


def test_a_cancelled_call_leaves_the_backend_usable(bench):
    async def main() -> str:
        backend = bench.open()
        call = asyncio.create_task(backend.complete(Request.ask("never mind")))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        reply = await backend.complete(Request.ask("Is it?"))
        await backend.aclose()
        return reply.text

    assert run(main()) == "Is it?"


def test_closing_without_a_call_and_closing_twice_are_harmless(bench):
    async def main() -> int:
        backend = bench.open()
        closed = 0
        for _ in range(2):
            await backend.aclose()
            closed += 1
        return closed

    assert run(main()) == 2


def test_its_traits_are_known_before_it_is_opened(bench):
    async def main() -> Any:
        backend = bench.open()
        await backend.aclose()
        return backend.traits

    opened = run(main())
    known, _ = traits_of(bench.model)
    own = ("notice", "address", "schemas")  # the environment has a say in where an opened one sends
    assert dataclasses.replace(opened, **dict.fromkeys(own)) == dataclasses.replace(known, **dict.fromkeys(own))
    assert opened.name
    assert opened.free or opened.price_provider


def test_it_never_prices_unless_its_program_says_what_it_cost(bench):
    (reply,) = complete(bench, Request.ask("Is it?"))
    assert (reply.reported_cost_nano is not None) == bench.model.startswith("claude-code:")

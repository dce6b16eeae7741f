"""The real Claude Code program through our backend, against the simulator.

`BATCHWORK_CLAUDE` names the program (`npm install @anthropic-ai/claude-code` in a scratch folder). Its environment is
built from nothing, so that no login of the machine is used.
"""

import asyncio
import json
import os
from pathlib import Path

import pytest

from batchwork.backends import Setup, open_backend
from batchwork.clock import SystemClock
from batchwork.core.errors import BackendError
from batchwork.core.failure import FailureKind as K
from batchwork.core.request import Message, Request, Schema
from batchwork.settings import Settings
from batchwork.simulator import Simulator

PROGRAM = os.environ.get("BATCHWORK_CLAUDE", "")

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not Path(PROGRAM).is_file(), reason="BATCHWORK_CLAUDE does not name the claude program"),
]


@pytest.fixture
def ask(tmp_path):
    """Ask the real program one thing, with a fault of the provider if so wished."""

    def go(request, *faults, ceiling_nano=None, persona="reader"):
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        environment = {
            "HOME": str(home),
            "CLAUDE_CONFIG_DIR": str(home / "config"),
            "PATH": os.environ["PATH"],
            "BATCHWORK_CLAUDE": PROGRAM,
        }

        async def main(sim):
            settings = Settings.from_environment(environment)
            setup = Setup(
                clock=SystemClock(), max_in_flight=1, settings=settings, base_url=sim.anthropic_url, api_key="dummy"
            )
            backend, _ = open_backend("claude-code:haiku", setup)
            try:
                return await backend.complete(request, ceiling_nano=ceiling_nano)
            except BackendError as error:
                return error.failure
            finally:
                await backend.aclose()

        with Simulator(persona=persona) as sim:
            sim.next_faults("live", faults)
            return asyncio.run(main(sim)), sim.log()

    return go


def test_it_answers_and_says_what_it_cost(ask):
    reply, log = ask(Request.ask("Total: $1,250.00\nTax: $50.00\n\nWhat is the total?"))
    assert reply.text == "$1,250.00"
    assert reply.reported_cost_nano == log["total"]["nano_dollars"]
    assert reply.usage.input_tokens > 0
    assert log["total"]["received"] == 1


def test_it_answers_by_a_schema(ask):
    schema = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}
    reply, _ = ask(Request.ask("Total: $1,250.00\n\nWhat is the total?", schema=Schema.of(schema)))
    assert json.loads(reply.text) == {"total": 1250}


def test_an_answer_over_max_tokens_is_put_together(ask):
    reply, log = ask(Request.ask("Say something.", max_tokens=500), "max_tokens", persona="echo")
    assert log["total"]["received"] == 2
    assert reply.text.startswith("<system-reminder>")
    assert "Output token limit" in reply.text  # the echo of the program's own request to go on


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("401", K.AUTH), ("429", K.RATE_LIMITED), ("500", K.SERVER), ("529", K.OVERLOADED), ("413", K.TOO_LONG)],
)
def test_its_errors_are_understood(ask, fault, kind):
    failure, _ = ask(Request.ask("Total: 5\nWhat is the total?"), fault)
    assert failure.kind is kind
    assert failure.usage is None


def test_a_refusal_is_paid_for(ask):
    failure, log = ask(Request.ask("Total: 5\nWhat is the total?"), "refusal")
    assert failure.kind is K.REFUSED
    assert failure.reply.reported_cost_nano == log["total"]["nano_dollars"]


def test_an_answer_above_the_ceiling_is_kept(ask):
    reply, _ = ask(Request.ask("Total: 5\n\nWhat is the total?"), ceiling_nano=1000)
    assert reply.text == "5"


def test_a_conversation_is_understood(ask):
    turns = (Message("user", "Total: 5"), Message("assistant", "I see."), Message("user", "What is the total?"))
    reply, _ = ask(Request(messages=turns))
    assert "5" in reply.text

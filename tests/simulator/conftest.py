from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import anthropic
import openai
import pytest

from batchwork.simulator import Simulator

Start = Callable[..., Simulator]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts simulators that end with the test."""
    with ExitStack() as stack:

        def begin(**settings: Any) -> Simulator:
            return stack.enter_context(Simulator(**{"persona": "echo", **settings}))

        yield begin


@pytest.fixture
def sim(start: Start) -> Simulator:
    return start()


@pytest.fixture
def claude() -> Iterator[Callable[[Simulator], anthropic.Anthropic]]:
    with ExitStack() as stack:
        yield lambda sim: stack.enter_context(
            anthropic.Anthropic(api_key="key", base_url=sim.anthropic_url, max_retries=0)
        )


@pytest.fixture
def gpt() -> Iterator[Callable[[Simulator], openai.OpenAI]]:
    with ExitStack() as stack:
        yield lambda sim: stack.enter_context(openai.OpenAI(api_key="key", base_url=sim.openai_url, max_retries=0))

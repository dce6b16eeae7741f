"""Prompts through the pipeline, on a clock that nobody waits for."""

from collections.abc import Coroutine
from typing import Any, TypeVar

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.ports import Backend
from batchwork.prompts import PromptAnswers, open_prompt_service, process_multiple_prompts
from tests.support.virtual_time import run_virtual

T = TypeVar("T")


def virtually(main: Coroutine[Any, Any, T]) -> T:
    return run_virtual(main)


def backend_of(**settings: Any) -> MockBackend:
    return MockBackend(clock=SystemClock(), **settings)


async def asked(prompts: list[Any], backend: Backend, **options: Any) -> PromptAnswers:
    batch_size = options.pop("batch_size", 100)
    async with open_prompt_service("mock:echo", backend=backend, **options) as service:
        return await process_multiple_prompts(prompts, service, batch_size=batch_size)

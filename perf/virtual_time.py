"""The tests' event loop with a time of its own, and how long something took by it."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

from tests.support.virtual_time import run_virtual, virtual_now

T = TypeVar("T")


def run_virtually(main: Coroutine[Any, Any, T]) -> tuple[T, float]:
    """What a coroutine returns, and how many virtual seconds it took."""

    async def timed() -> tuple[T, float]:
        return await main, virtual_now()

    return run_virtual(timed())

"""Transports to test: our own in both kinds of event loop, and aiohttp's."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvloop

from batchwork.backends._transport import Transport
from batchwork.backends._transport.pool import Pool
from batchwork.backends._transport.session import Session
from tests.support.scripted_server import HEADERS, Script, ScriptedServer, open_transport, outcome

TRANSPORTS: dict[str, Callable[[int], Transport]] = {
    "pool": lambda limit: Pool(headers=HEADERS, limit=limit),
    "session": lambda limit: Session(headers=HEADERS, limit=limit, trust_env=False),
}
LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest.fixture(params=["pool-asyncio", "pool-uvloop", "session-asyncio"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make(kind: str) -> Callable[[int], Transport]:
    return TRANSPORTS[kind.split("-", maxsplit=1)[0]]


@pytest.fixture
def run(kind: str) -> Callable[[Awaitable[Any]], Any]:
    """Run a test's coroutine in the loop it is meant for; whatever it leaves open or unheard is an error."""

    def run_to_end(main: Any) -> Any:
        unheard: list[Any] = []
        with asyncio.Runner(loop_factory=LOOPS[kind.split("-")[1]]) as runner:
            runner.get_loop().set_exception_handler(lambda _, context: unheard.append(context))
            result = runner.run(asyncio.wait_for(main, 20))
            gc.collect()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            gc.collect()
        assert unheard == []
        return result

    return run_to_end


@pytest.fixture
def exchange(make: Callable[[int], Transport], run: Any) -> Callable[..., Any]:
    """Post to a server with a script: the outcomes of so many posts one after the other, and the server."""

    def posted(script: Script, body: bytes = b"{}", times: int = 1, **fields: Any) -> Any:
        async def main() -> Any:
            async with ScriptedServer(script, **fields) as server, open_transport(make) as transport:
                outcomes = []
                for _ in range(times):
                    outcomes.append(await outcome(transport, server.url, body))
                    await server.scripts_over.wait()
                    await asyncio.sleep(0.02)  # what it did last reaches the client
                return (outcomes[0] if times == 1 else outcomes), server

        return run(main())

    return posted

import asyncio

from batchwork.backends import Setup, open_backend
from batchwork.clock import SystemClock
from batchwork.core.ports import TokenCounter
from batchwork.core.request import Request


def opened(url, **fields):
    setup = Setup(clock=SystemClock(), base_url=url, api_key="k", **{"max_in_flight": 4, **fields})
    return open_backend("anthropic:claude-haiku-5-5", setup)[0]


def test_anthropic_counts_tokens(canned):
    async def main():
        async with canned({"input_tokens": 42}) as server:
            backend = opened(server.url)
            assert isinstance(backend, TokenCounter)
            counted = await backend.count_tokens(Request.ask("Is it?", system="Be brief."))
            await backend.aclose()
            return counted, server.asked[0]

    counted, asked = asyncio.run(main())
    assert counted == 42
    assert asked.path == "/v1/messages/count_tokens"
    assert "max_tokens" not in asked.body
    assert asked.body["system"] == "Be brief."

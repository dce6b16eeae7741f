"""One measured side of perf/http: so many requests to a canned provider, its bill as JSON on standard output.

Runs in our environment (`batchwork`, `aiohttp`) or in the peers' (`anthropic`, `litellm`), so it imports only what
the side it is asked for needs. Every side asks the same questions, keeps as many in flight (100 unless it is told),
and reads the text of the answer. The first requests are not counted: they pay for imports and first uses.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

IN_FLIGHT = 100
MODEL = "claude-haiku-5-5"
MAX_TOKENS = 256
Ask = Callable[[str], Awaitable[str]]


class Spent(NamedTuple):
    """What so many answers took."""

    answered: int
    cpu_s: float
    wall_s: float


def prompts(count: int) -> list[str]:
    return [f"What is the capital of country number {i}, and why is it there? " * 5 for i in range(count)]


def cpu_s() -> float:
    """All threads and children of this process."""
    own, theirs = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + theirs.ru_utime + theirs.ru_stime


async def keep_busy(ask: Ask, questions: list[str], in_flight: int = IN_FLIGHT) -> int:
    """As many at once as may be; how many answers came."""
    waiting, answered = iter(questions), 0

    async def worker() -> None:
        nonlocal answered
        for question in waiting:
            text = await ask(question)  # not in one line with the sum, which would be read before and written after
            answered += bool(text)

    await asyncio.gather(*(worker() for _ in range(in_flight)))
    return answered


async def measured(ask: Ask, count: int) -> Spent:
    return await counted(lambda count: keep_busy(ask, prompts(count)), count)


def message(question: str) -> dict[str, object]:
    return {"model": MODEL, "max_tokens": MAX_TOKENS, "messages": [{"role": "user", "content": question}]}


async def counted(asked: Callable[[int], Awaitable[int]], count: int) -> Spent:
    """What it took, after a tenth as much that is not counted."""
    await asked(count // 10)
    gc.collect()
    cpu, began = cpu_s(), time.monotonic()
    return Spent(await asked(count), cpu_s() - cpu, time.monotonic() - began)


async def raw(url: str, count: int) -> Spent:
    """aiohttp as one writes it by hand: no retries, no limits, no budget, nothing kept."""
    import aiohttp

    headers = {"authorization": "Bearer any", "anthropic-version": "2026-10-21"}

    async def asked(count: int) -> int:
        async with aiohttp.ClientSession(headers=headers) as session:

            async def ask(question: str) -> str:
                async with session.post(f"{url}/v1/messages", json=message(question)) as response:
                    response.raise_for_status()
                    reply = await response.json()
                    return str(reply["content"][0]["text"])

            return await keep_busy(ask, prompts(count))

    return await counted(asked, count)


async def transport(url: str, count: int, *, in_flight: int) -> Spent:
    """The same by hand over batchwork's own transport, without batchwork."""
    from yarl import URL

    from batchwork.backends._transport.pool import Pool

    headers = {"authorization": "Bearer any", "anthropic-version": "2026-10-21", "content-type": "application/json"}
    address = URL(f"{url}/v1/messages")

    async def asked(count: int) -> int:
        pool = Pool(headers=headers, limit=in_flight)

        async def ask(question: str) -> str:
            answer = await pool.post(address, json.dumps(message(question)).encode())
            assert answer.status == 200
            return str(json.loads(answer.body)["content"][0]["text"])

        answered = await keep_busy(ask, prompts(count), in_flight)
        await pool.aclose()
        return answered

    return await counted(asked, count)


async def sdk(url: str, count: int) -> Spent:
    """The anthropic SDK as it comes."""
    import anthropic

    async with anthropic.AsyncAnthropic(api_key="any", base_url=url) as client:

        async def ask(question: str) -> str:
            said = await client.messages.create(**message(question))
            return str(said.content[0].text)

        return await measured(ask, count)


async def litellm(url: str, count: int) -> Spent:
    """litellm as it comes, but for its look at the network when it is imported."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.suppress_debug_info = True

    async def ask(question: str) -> str:
        asked = {**message(question), "model": f"anthropic/{MODEL}"}
        said = await litellm.acompletion(**asked, api_key="any", api_base=url)
        return str(said.choices[0].message.content)

    return await measured(ask, count)


def batchwork(
    url: str, count: int, *, in_flight: int, max_cost: float | None = None, in_users_loop: bool = False
) -> Spent:
    """batchwork with everything on: journal on disk, gate, ledger, price; and a budget if one is given."""
    import tempfile
    from pathlib import Path

    import batchwork

    def once(number: int, journal: Path) -> int:
        fields = {
            "model": f"anthropic:{MODEL}",
            "base_url": url,
            "api_key": "any",
            "max_tokens": MAX_TOKENS,
            "max_in_flight": in_flight,
            "max_cost": max_cost,
            "journal": journal,
        }
        if in_users_loop:
            results = asyncio.run(batchwork.arun(prompts(number), **fields))
        else:
            results = batchwork.run(prompts(number), **fields)
        settled = sum(bool(outcome.text) for outcome in results)
        results.close()
        return settled

    with tempfile.TemporaryDirectory(prefix="batchwork-perf-") as folder:
        once(count // 10, Path(folder) / "first.db")
        gc.collect()
        cpu, began = cpu_s(), time.monotonic()
        return Spent(once(count, Path(folder) / "counted.db"), cpu_s() - cpu, time.monotonic() - began)


def main(side: str, url: str, count: int, in_flight: int = IN_FLIGHT) -> None:
    if side.startswith("batchwork"):
        spent = batchwork(
            url,
            count,
            in_flight=in_flight,
            max_cost=1000 if side == "batchwork-budget" else None,
            in_users_loop=side == "batchwork-user-loop",
        )
    elif side == "transport":
        import uvloop

        spent = uvloop.run(transport(url, count, in_flight=in_flight))
    else:
        spent = asyncio.run({"raw": raw, "sdk": sdk, "litellm": litellm}[side](url, count))
    print(json.dumps(spent._asdict()))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))

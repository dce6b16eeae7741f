"""The prompts API against its promises: five prompts of half a second, a thousand, and one beside a thousand.

The thousand have long-tailed latency and run on a clock that nobody waits for, against `asyncio.gather` per hundred
over the same backend with the same latencies. The five and the one go over real HTTP in real time.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.request import Request
from batchwork.pipeline import open_prompt_service, process_multiple_prompts
from batchwork.server.app import Application
from batchwork.server.config import ServerConfig
from batchwork.server.web_server import Server, listen
from perf._harness import arguments, show_table, verdict
from perf.window import Dawdler
from tests.support.virtual_time import run_virtual, virtual_now

PROMPTS = 1_000
BATCH_SIZE = 100
SEEDS = 10
LEAST_OVER_GATHER = 3.0
FIVE_WITHIN_S = 0.6
MOST_BESIDE = 1.5
LATENCY_S = 0.2


def main() -> int:
    smoke = arguments(__doc__ or "").smoke
    rows, gains = [], []
    for seed in range(SEEDS):
        dice = random.Random(seed)
        latencies = [LATENCY_S * dice.lognormvariate(0.0, 1.0) for _ in range(PROMPTS)]
        texts, ours = run_virtual(_ours(latencies))
        expected, gathered = run_virtual(_gathered(latencies))
        assert texts == expected, "the answers differ from those of gather"
        gains.append(gathered / ours)
        rows.append((str(seed), f"{ours:.2f} s", f"{gathered:.2f} s", f"{gathered / ours:.2f}x"))
    show_table((f"seed ({PROMPTS:,} prompts, batch_size {BATCH_SIZE})", "batchwork", "gather per 100", "gain"), rows)
    five_s = _five()
    alone_s, beside_s = _fairness(rounds=8 if smoke else 30)
    show_table(
        ("over real HTTP", "seconds", "bar"),
        [
            ("5 prompts of 0.5 s (one by one: 2.5 s)", f"{five_s:.3f}", f"{FIVE_WITHIN_S:g}"),
            (f"1 prompt of {LATENCY_S:g} s alone, median", f"{alone_s:.3f}", ""),
            ("the same beside a request of 1,000, median", f"{beside_s:.3f}", f"{MOST_BESIDE * alone_s:.3f}"),
        ],
    )
    gain, beside = median(gains), beside_s / alone_s
    return verdict(
        "prompts",
        f"{gain:.2f}x of gather, 5 prompts in {five_s:.3f} s, one beside a thousand {beside:.2f}x",
        f"{LEAST_OVER_GATHER:g}x, {FIVE_WITHIN_S:g} s, {MOST_BESIDE:g}x",
        ok=gain >= LEAST_OVER_GATHER and five_s <= FIVE_WITHIN_S and beside <= MOST_BESIDE,
    )


async def _ours(latencies: list[float]) -> tuple[list[str], float]:
    async with open_prompt_service("dawdler:1", backend=Dawdler(latencies)) as service:
        prompts = [str(index) for index in range(len(latencies))]
        result = await process_multiple_prompts(prompts, service, batch_size=BATCH_SIZE)
    assert result.summary.completed == len(latencies)
    return [answer.response for answer in result.answers], virtual_now()


async def _gathered(latencies: list[float]) -> tuple[list[str], float]:
    """What the seed describes: batch after batch, each with gather."""
    backend = Dawdler(latencies)
    requests = [Request.ask(str(index)) for index in range(len(latencies))]
    texts: list[str] = []
    for start in range(0, len(requests), BATCH_SIZE):
        replies = await asyncio.gather(*map(backend.complete, requests[start : start + BATCH_SIZE]))
        texts += [reply.text for reply in replies]
    return texts, virtual_now()


# -- over HTTP ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Client:
    port: int

    def post(self, prompts: int, connection: http.client.HTTPConnection | None = None) -> float:
        """Seconds from asking to having read the answer."""
        wire = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        body = json.dumps({"prompts": [{"prompt": str(index)} for index in range(prompts)]})
        started = time.perf_counter()
        wire.request("POST", "/api/v1/prompts", body, {"content-type": "application/json"})
        response = wire.getresponse()
        told = json.loads(response.read())
        seconds = time.perf_counter() - started
        assert told["summary"]["completed"] == prompts, told["summary"]
        if connection is None:
            wire.close()
        return seconds


@contextmanager
def serving(backend: Callable[[], MockBackend], **settings: int) -> Iterator[Client]:
    """Our server in a thread of its own."""
    config = ServerConfig(model="mock:echo", port=0, **settings)  # type: ignore[arg-type]
    application = Application(config, backend=backend())
    started = threading.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    def tell(_: str) -> None:
        loops.append(asyncio.get_running_loop())
        started.set()

    server = Server(application, on_started=tell)
    listening = listen(config.host, config.port)

    async def run() -> None:
        async with application.open():
            await server.serve([listening])

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    started.wait()
    try:
        yield Client(listening.getsockname()[1])
    finally:
        loops[0].call_soon_threadsafe(server.end)
        thread.join()
        listening.close()


def _five() -> float:
    with serving(lambda: MockBackend(clock=SystemClock(), latency_s=0.5)) as client:
        client.post(1)
        return min(client.post(5) for _ in range(2))


def _fairness(rounds: int) -> tuple[float, float]:
    """A request of 1 alone, and while a request of 1,000 runs: the window is just one request wide."""
    with serving(lambda: MockBackend(clock=SystemClock(), latency_s=LATENCY_S), max_in_flight=BATCH_SIZE) as client:
        wire = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
        client.post(1, wire)
        alone = [client.post(1, wire) for _ in range(rounds)]
        beside: list[float] = []
        while len(beside) < rounds:
            large = threading.Thread(target=client.post, args=(PROMPTS,))
            large.start()
            time.sleep(LATENCY_S / 2)
            while len(beside) < rounds:
                measured = client.post(1, wire)
                if not large.is_alive():
                    break
                beside.append(measured)
            large.join()
        wire.close()
    return median(alone), median(beside)


if __name__ == "__main__":
    sys.exit(main())

"""The prompts API under load, beside a bare relay under the same load: what the engine in between costs.

200 clients send 100 requests a second in all to a server that asks the simulator, which takes 0.2 s: 60 s of it in
thirty short rounds. Ours and the relay take turns, so that a busy machine slows both alike, and the figure is the
median over the rounds of one p99 by the other. A request's time counts from the moment it was due, so that a server
that falls behind cannot hide it. Everybody is a process of its own.

A probe in our server's event loop measures the longest turn: the CPU of the loop's thread between two looks at its
sockets. It must stay below a bar under this load, and under requests of a thousand prompts with a schema each.
"""

from __future__ import annotations

import asyncio
import multiprocessing as mp
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp

from perf._harness import arguments, ratio, show_table, verdict
from perf._turns import LONGEST_TURN_MS, TurnProbe

CLIENTS = 200
PER_S = 100
LATENCY_S = 0.2
MOST_P99 = 1.5
MOST_GROWTH_MB = 4.0
WARM_UP_S = 4.0
MODEL = "claude-haiku-4-5"


# -- the three servers, each in a process of its own ------------------------------------------------


def simulator(out: Connection) -> None:
    from batchwork.simulator import Latency, Simulator, SimulatorConfig

    provider = Simulator(SimulatorConfig(persona="echo", latency=Latency(median_s=LATENCY_S)))
    asyncio.run(provider.serve_forever(out.send))


def ours(out: Connection, url: str) -> None:
    from batchwork.server.app import Application
    from batchwork.server.config import ServerConfig
    from batchwork.server.web_server import Server, listen, settle_memory

    TurnProbe.install()
    threading.Thread(target=_tell_turns, args=(out,), daemon=True).start()
    os.environ["ANTHROPIC_API_KEY"] = "nobody-checks-it-here"
    application = Application(ServerConfig(model=f"anthropic:{MODEL}", base_url=url, port=0))

    async def run() -> None:
        with listen("127.0.0.1", 0) as listening:
            async with application.open():
                settle_memory()
                await Server(application, on_started=out.send).serve([listening])

    asyncio.run(run())


def _tell_turns(out: Connection) -> None:
    while True:
        out.recv()
        out.send(TurnProbe.longest_ms())


def relay(out: Connection, url: str) -> None:
    """As little as can stand between a caller and a provider."""
    import json

    import uvicorn

    from batchwork.server.web_server import listen

    held: dict[str, aiohttp.ClientSession] = {}

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message["body"], message["more_body"]
        messages = [{"role": "user", "content": json.loads(body)["prompt"]}]
        asked = {"model": MODEL, "max_tokens": 1024, "messages": messages}
        headers = {"x-api-key": "nobody-checks-it-here", "anthropic-version": "2023-06-01"}
        async with held["session"].post(f"{url}/v1/messages", json=asked, headers=headers) as response:
            told = await response.json()
        answer = json.dumps({"response": told["content"][0]["text"]}).encode()
        head = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": answer})

    async def run() -> None:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as held["session"]:
            with listen("127.0.0.1", 0) as listening:
                config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")
                out.send(f"http://127.0.0.1:{listening.getsockname()[1]}")
                await uvicorn.Server(config).serve([listening])

    asyncio.run(run())


@contextmanager
def running(main: Callable[..., None], *more: str) -> Iterator[tuple[str, int, Connection]]:
    """A server's address and process id, and the line to it."""
    context = mp.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=main, args=(there, *more), daemon=True)
    process.start()
    try:
        yield here.recv(), process.pid or 0, here
    finally:
        process.kill()
        process.join()


# -- the load ---------------------------------------------------------------------------------------


@dataclass
class Seen:
    """What the clients of one server saw."""

    url: str
    pid: int
    line: Connection
    rounds: list[list[float]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    cpu_s: float = 0.0
    megabytes: list[float] = field(default_factory=list)

    @property
    def halves(self) -> tuple[float, float]:
        """The most memory in the first and in the second half: it grows with the load, and must not grow with time."""
        middle = (len(self.megabytes) + 1) // 2
        return max(self.megabytes[:middle]), max(self.megabytes[middle:])

    def longest_turn_ms(self) -> float:
        """Of its event loop since this was asked last; for our server only."""
        self.line.send(None)
        return float(self.line.recv())

    @property
    def seconds(self) -> list[float]:
        return [second for seconds in self.rounds for second in seconds]


def at(share: float, seconds: list[float]) -> float:
    return sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))]


async def load(seen: Seen, seconds: float, *, keep: bool) -> None:
    """So many clients, each in its own rhythm, all of them spread evenly."""
    before = _cpu_s(seen.pid)
    measured: list[float] = []
    timeout = aiohttp.ClientTimeout(total=30)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout) as session:
        start = time.perf_counter() + 0.2
        every = CLIENTS / PER_S

        async def client(number: int) -> None:
            turn = 0
            while (due := number / PER_S + turn * every) < seconds:
                await asyncio.sleep(max(0.0, start + due - time.perf_counter()))
                error = await _ask(session, seen.url, f"client {number}, turn {turn}")
                measured.append(time.perf_counter() - start - due)
                if error is not None:
                    seen.errors.append(error)
                turn += 1

        await asyncio.gather(*map(client, range(CLIENTS)))
    if keep:
        seen.rounds.append(measured)
        seen.cpu_s += _cpu_s(seen.pid) - before
    seen.megabytes.append(_megabytes(seen.pid))


async def _ask(session: aiohttp.ClientSession, url: str, prompt: str) -> str | None:
    try:
        async with session.post(f"{url}/api/v1/prompt", json={"prompt": prompt}) as response:
            told = await response.json()
    except (aiohttp.ClientError, TimeoutError) as error:
        return f"{type(error).__name__}: {error}"
    if response.status != 200 or told.get("error") is not None or prompt not in (told["response"] or ""):
        return f"{response.status}: {told}"
    return None


async def thousand_schemas(seen: Seen) -> None:
    """One request of a thousand prompts, each with a schema that nobody else has."""
    names = [[f"f{number}_{n}" for n in range(20)] for number in range(1000)]
    prompts = [
        {
            "prompt": "?",
            "response_format": {
                "type": "json_schema",
                "json_schema": {
                    "schema": {
                        "type": "object",
                        "properties": {name: {"type": "string"} for name in own},
                        "required": own,
                        "additionalProperties": False,
                    }
                },
            },
        }
        for own in names
    ]
    address = f"{seen.url}/api/v1/prompts"
    async with aiohttp.ClientSession() as session, session.post(address, json={"prompts": prompts}) as response:
        told = await response.json()
    if response.status != 200:
        seen.errors.append(f"{response.status}: {told}")


def _cpu_s(pid: int) -> float:
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def _megabytes(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> int:
    smoke = arguments(__doc__ or "").smoke
    rounds, seconds = (3, 2.0) if smoke else (30, 2.0)
    with running(simulator) as (provider, *_), running(ours, provider) as one, running(relay, provider) as other:
        sides = {"batchwork": Seen(*one), "bare relay": Seen(*other)}
        for seen in sides.values():
            asyncio.run(load(seen, WARM_UP_S, keep=False))
        mine = sides["batchwork"]
        mine.longest_turn_ms()
        for number in range(rounds):
            for seen in list(sides.values())[:: 1 if number % 2 else -1]:
                asyncio.run(load(seen, seconds, keep=True))
        turn_ms = mine.longest_turn_ms()
        tries = []
        for _ in range(3):
            asyncio.run(thousand_schemas(mine))
            tries.append(mine.longest_turn_ms())
        schemas_ms = min(tries)  # a busy machine adds to it and never takes away
    show_table(
        (
            f"{CLIENTS} clients, {PER_S}/s, {rounds} x {seconds:g} s",
            "p50",
            "p95",
            "p99",
            "errors",
            "CPU ms each",
            "MB, halves",
        ),
        [
            (
                name,
                f"{median(seen.seconds):.3f} s",
                f"{at(0.95, seen.seconds):.3f} s",
                f"{at(0.99, seen.seconds):.3f} s",
                str(len(seen.errors)),
                f"{1000 * seen.cpu_s / len(seen.seconds):.2f}",
                f"{seen.halves[0]:.1f} -> {seen.halves[1]:.1f}",
            )
            for name, seen in sides.items()
        ],
    )
    bare = sides["bare relay"]
    print(f"longest turn of the loop: {turn_ms:.1f} ms under load, {schemas_ms:.1f} ms with a thousand schemas")
    for error in mine.errors[:5]:
        print(error)
    times = ratio([at(0.99, one) for one in mine.rounds], [at(0.99, one) for one in bare.rounds])
    growth = mine.halves[1] - mine.halves[0]
    return verdict(
        "server",
        f"p99 {times:.2f}x of a bare relay in the median round, {len(mine.errors)} errors, {growth:+.1f} MB,"
        f" longest turn {max(turn_ms, schemas_ms):.0f} ms",
        f"{MOST_P99:g}x, 0 errors, +{MOST_GROWTH_MB:g} MB, {LONGEST_TURN_MS:g} ms",
        ok=times <= MOST_P99
        and not mine.errors
        and growth <= MOST_GROWTH_MB
        and max(turn_ms, schemas_ms) <= LONGEST_TURN_MS,
    )


if __name__ == "__main__":
    sys.exit(main())

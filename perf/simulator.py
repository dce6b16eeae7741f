"""How fast the simulator is beside a bare aiohttp server with a canned answer, in one run.

Both servers run in processes of their own and are driven by the same hand-rolled client, round by round in turn, so
that a busy machine slows both alike. A server of one thread answers as many requests per second as its processor
time allows, so the figure is requests per CPU-second of the server process, simulator / bare, median of the rounds:
it does not depend on who else uses the machine. The wall-clock rates and their ratio stand beside it.
"""

import argparse
import asyncio
import multiprocessing as mp
import os
import statistics
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

from aiohttp import web

from perf._harness import verdict

BAR = 0.33
CANNED = (
    b'{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hello"}],'
    b'"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":2}}'
)


def bare(out: Connection) -> None:
    async def handler(request: web.BaseRequest) -> web.Response:
        await request.read()
        return web.Response(body=CANNED, headers={"Content-Type": "application/json"})

    async def main() -> None:
        runner = web.ServerRunner(web.Server(handler, access_log=None))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        out.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(main())


def simulated(out: Connection) -> None:
    from batchwork.simulator import Simulator, SimulatorConfig

    simulator = Simulator(SimulatorConfig(persona="echo"))
    asyncio.run(simulator.serve_forever(lambda url: out.send(int(url.rpartition(":")[2]))))


class Client(asyncio.Protocol):
    """One connection that asks again as soon as it is answered."""

    def __init__(self, path: str, head: str, body: str, counter: list[int], done: asyncio.Event) -> None:
        self._path, self._head, self._body = path, head, body
        self._counter, self._done = counter, done
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._ask()

    def _ask(self) -> None:
        assert self._transport is not None
        left = self._counter[0]
        if left <= 0:
            self._transport.close()
            return
        self._counter[0] = left - 1
        body = self._body.replace("NUMBER", str(left))
        self._transport.write(
            f"POST {self._path} HTTP/1.1\r\n{self._head}Content-Length: {len(body)}\r\n\r\n{body}".encode()
        )

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._buffer[:end].lower()
        at = head.index(b"content-length:") + 15
        size = int(head[at : head.find(b"\r", at) if head.find(b"\r", at) > 0 else len(head)])
        if len(self._buffer) < end + 4 + size:
            return
        assert self._buffer.startswith(b"HTTP/1.1 200"), self._buffer[:400]
        self._buffer = self._buffer[end + 4 + size :]
        self._counter[1] -= 1
        if self._counter[1] == 0:
            self._done.set()
        self._ask()


WIRES = {
    "anthropic": (
        "/v1/messages",
        "Host: x\r\nx-api-key: k\r\nanthropic-version: 2026-10-21\r\nContent-Type: application/json\r\n",
        '{"model":"claude-haiku-5-5","max_tokens":100,"messages":[{"role":"user","content":"say hello to NUMBER"}]}',
    ),
    "openai": (
        "/v1/chat/completions",
        "Host: x\r\nAuthorization: Bearer k\r\nContent-Type: application/json\r\n",
        '{"model":"gpt-6-luna","messages":[{"role":"user","content":"say hello to NUMBER"}]}',
    ),
}


async def drive(port: int, wire: str, requests: int, connections: int = 32) -> float:
    """Requests per second."""
    path, head, body = WIRES[wire]
    done = asyncio.Event()
    counter = [requests, requests]
    loop = asyncio.get_running_loop()
    start = time.perf_counter()
    for _ in range(connections):
        await loop.create_connection(lambda: Client(path, head, body, counter, done), "127.0.0.1", port)
    await done.wait()
    return requests / (time.perf_counter() - start)


def cpu_s(pid: int | None) -> float:
    """Processor seconds a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(process: mp.process.BaseProcess, port: int, wire: str, requests: int) -> tuple[float, float]:
    """Requests per second by the wall clock, and per CPU-second of the server."""
    before = cpu_s(process.pid)
    rate = asyncio.run(drive(port, wire, requests))
    return rate, requests / max(cpu_s(process.pid) - before, 0.01)


def start(main: object) -> tuple[mp.process.BaseProcess, int]:
    context = mp.get_context("spawn")
    inside, outside = context.Pipe()
    process = context.Process(target=main, args=(outside,), daemon=True)
    process.start()
    return process, inside.recv()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true", help="a small cut")
    parser.add_argument("--requests", type=int, default=6000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    requests, rounds = (2000, 3) if options.smoke else (options.requests, options.rounds)
    bare_process, bare_port = start(bare)
    sim_process, sim_port = start(simulated)
    print(f"{requests} requests a round, 32 connections, keep-alive")
    print(f"{'':<18}{'requests per second':^28}{'requests per CPU-second':^28}")
    print(f"{'wire':<12}{'round':>6}{'bare':>9}{'simulator':>11}{'ratio':>8}{'bare':>9}{'simulator':>11}{'ratio':>8}")
    worst = 1e9
    try:
        for wire in WIRES:
            ratios = []
            for number in range(rounds + 1):
                wall_a, cpu_a = measure(bare_process, bare_port, wire, requests)
                wall_b, cpu_b = measure(sim_process, sim_port, wire, requests)
                if number:  # the first round warms up
                    ratios.append(cpu_b / cpu_a)
                    walls = f"{wall_a:>9.0f}{wall_b:>11.0f}{wall_b / wall_a:>8.2f}"
                    print(f"{wire:<12}{number:>6}{walls}{cpu_a:>9.0f}{cpu_b:>11.0f}{cpu_b / cpu_a:>8.2f}")
            worst = min(worst, statistics.median(ratios))
    finally:
        bare_process.terminate()
        sim_process.terminate()
    enough = worst >= BAR
    return verdict("simulator", f"{worst:.2f}", f"{BAR}", ok=enough)


if __name__ == "__main__":
    sys.exit(main())

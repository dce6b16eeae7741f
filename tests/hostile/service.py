"""The real server as a program with a probe in its loop, and the attacks on its connections."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from perf._turns import LONGEST_TURN_MS
from tests.support.waiting import becomes_true

__all__ = ["HEAD", "LONGEST_TURN_MS", "MANY", "Attacked", "answer_of", "attacked"]
PROGRAM = Path(__file__).parent / "probed_server.py"
MANY = "/api/v1/prompts"
HEAD = f"POST {MANY} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n".encode()


class Attacked:
    """A server under attack."""

    def __init__(self, process: "subprocess.Popen[str]", port: int, log: Any) -> None:
        self.process = process
        self.port = port
        self._log = log

    def longest_turn_ms(self) -> float:
        """The CPU of the loop's thread in its longest turn since this was asked last."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def logged(self) -> int:
        """Bytes on standard error."""
        return os.fstat(self._log.fileno()).st_size

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, {"content-type": "application/json"} | headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def post(self, path: str, body: Any, **headers: str) -> tuple[int, Any]:
        status, answer = self.send("POST", path, json.dumps(body).encode(), **headers)
        return status, json.loads(answer)

    def health_s(self) -> float:
        """Seconds until /health has answered."""
        started = time.perf_counter()
        assert self.send("GET", "/health")[0] == 200
        return time.perf_counter() - started

    def metric(self, line: str) -> float:
        """A number of /metrics by the beginning of its line; 0 when it is not there."""
        text = self.send("GET", "/metrics")[1].decode()
        return sum(float(row.rpartition(" ")[2]) for row in text.splitlines() if row.startswith(line))

    def connect(self, data: bytes = b"", *, receive_bytes: int | None = None) -> socket.socket:
        wire = socket.socket()
        if receive_bytes is not None:
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        wire.settimeout(20)
        wire.connect(("127.0.0.1", self.port))
        wire.sendall(data)
        return wire

    @contextmanager
    def held(self, count: int, data: bytes) -> Iterator[list[socket.socket]]:
        """So many connections that have sent so much and nothing more."""
        with ExitStack() as stack:
            wires = []
            for _ in range(count):
                try:
                    wires.append(stack.enter_context(self.connect(data)))
                except OSError:  # turned away, which is an answer too
                    continue
            yield wires

    def end_s(self) -> float:
        """Seconds from SIGTERM to the end."""
        started = time.perf_counter()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0
        return time.perf_counter() - started


@contextmanager
def attacked(*options: str, model: str = "mock:echo", **environment: str) -> Iterator[Attacked]:
    """The program, ended whatever happens."""
    with tempfile.TemporaryDirectory() as home, tempfile.NamedTemporaryFile("w+") as log:
        # The echo of an attack comes back whole, however long it is.
        command = [sys.executable, str(PROGRAM), "--model", model, "--port", "0", "--max-tokens", "10000000", *options]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=home,
            env={"PATH": os.environ["PATH"], "HOME": home, **environment},
        )
        try:
            yield Attacked(process, _port(process, Path(log.name)), log)
        finally:
            process.kill()
            process.communicate()


def _port(process: "subprocess.Popen[str]", log: Path) -> int:
    said = "http://127.0.0.1:"
    assert becomes_true(lambda: said in log.read_text(), unless=lambda: process.poll() is not None), log.read_text()
    return int(log.read_text().split(said)[1].split()[0])


def answer_of(wire: socket.socket, seconds: float = 20) -> bytes:
    """What the server says until it closes."""
    wire.settimeout(seconds)
    answer = b""
    try:
        while chunk := wire.recv(65536):
            answer += chunk
    except ConnectionError:
        pass
    return answer

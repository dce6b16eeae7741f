"""A real server on loopback in a thread of its own, and a small client."""

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.ports import Backend
from batchwork.core.request import Request
from batchwork.server.app import Application
from batchwork.server.config import ServerConfig
from batchwork.server.web_server import Server, listen

JSON = {"content-type": "application/json"}
ONE, MANY = "/api/v1/prompt", "/api/v1/prompts"
RIVER = {
    "type": "json_schema",
    "json_schema": {
        "name": "river",
        "schema": {
            "type": "object",
            "properties": {"river": {"type": "string"}, "km": {"type": "integer", "minimum": 1}},
            "required": ["river", "km"],
        },
    },
}


@dataclass
class Answered:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The error code of an error of the documented shape."""
        told = self.json()
        assert set(told) == {"status", "response", "error", "error_code", "retryable", "where", "request_id"}, told
        assert told["status"] == "error"
        assert told["response"] is None
        assert told["request_id"] == self.headers["x-request-id"]
        return str(told["error_code"])


@dataclass
class House:
    """A server under test."""

    host: str
    port: int
    application: Application
    server: Server
    loop: asyncio.AbstractEventLoop
    headers: dict[str, str] = field(default_factory=dict)

    def send(
        self, method: str, path: str, body: bytes | str | None = None, headers: dict[str, str] | None = None
    ) -> Answered:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        try:
            connection.request(method, path, body, self.headers | (headers or {}))
            response = connection.getresponse()
            told = {name.lower(): value for name, value in response.getheaders()}
            return Answered(response.status, told, response.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answered:
        return self.send("GET", path, headers=headers)

    def post(self, path: str, body: Any, headers: dict[str, str] | None = None) -> Answered:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.send("POST", path, raw, JSON | (headers or {}))

    def prompt(self, **fields: Any) -> Answered:
        return self.post("/api/v1/prompt", fields)

    def prompts(self, prompts: list[Any], **fields: Any) -> Answered:
        items = [item if isinstance(item, dict) else {"prompt": item} for item in prompts]
        return self.post("/api/v1/prompts", {"prompts": items, **fields})

    def call(self, function: Any) -> None:
        """Call something inside the server's loop."""
        self.loop.call_soon_threadsafe(function)


@contextmanager
def serving(backend: Backend | None = None, **settings: Any) -> Iterator[House]:
    """A server that is up, with a door to it; ended gracefully."""
    config = ServerConfig(**({"model": "mock:echo", "port": 0, "grace_s": 5.0} | settings))
    application = Application(config, backend=backend)
    started = threading.Event()
    held: dict[str, Any] = {}

    def tell(address: str) -> None:
        held["loop"] = asyncio.get_running_loop()
        started.set()

    server = Server(application, on_started=tell)
    listening = listen(config.host, config.port)

    async def run() -> None:
        async with application.open():
            await server.serve([listening])

    def work() -> None:
        try:
            asyncio.run(run())
        except BaseException as error:
            held["error"] = error
        finally:
            started.set()

    thread = threading.Thread(target=work)
    thread.start()
    started.wait(10)
    try:
        if "error" in held:
            raise held["error"]
        host, port = listening.getsockname()[:2]
        yield House(host, port, application, server, held["loop"])
    finally:
        if "loop" in held and thread.is_alive():
            held["loop"].call_soon_threadsafe(server.end)
        thread.join(20)
        listening.close()
        assert not thread.is_alive()


def sent(house: House, prompts: int, batch_size: int, accept: str = "application/json") -> socket.socket:
    """A request under way, whose caller can hang up."""
    body = json.dumps({"prompts": [{"prompt": str(i)} for i in range(prompts)], "batch_size": batch_size}).encode()
    head = f"POST {MANY} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: {accept}\r\n"
    wire = socket.create_connection((house.host, house.port), timeout=10)
    wire.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    return wire


def scripted(script: Callable[[Request, int], Any], **settings: Any) -> MockBackend:
    return MockBackend(clock=SystemClock(), script=script, **settings)


def text_of(request: Request) -> str:
    content = request.messages[-1].content
    assert isinstance(content, str)
    return content

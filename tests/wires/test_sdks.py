"""The providers' own clients as witnesses: they send what we send, and read the simulator.

OpenAI's own is always here, and speaks for Azure as well; the others are `make test-wires`'s.

A client gets our own body as its keywords, so that a field it does not know is an error; the request that it makes of
them must be ours: the same path, the same key in the same header, the same body.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from batchwork.backends import Setup, open_backend, open_embedder
from batchwork.clock import SystemClock
from batchwork.core.ports import BatchTag
from batchwork.core.request import Request
from batchwork.core.text_pack import pack_request
from batchwork.settings import Settings
from batchwork.simulator import Simulator
from batchwork.simulator.openai.embeddings import vector_of
from tests.wires import sdk_side

SDKS = Path(os.environ.get("BATCHWORK_SDKS", Path(sys.executable).parents[1] / "sdks" / "bin" / "python"))
SIDE = Path(__file__).with_name("sdk_side.py")
HERE = ("openai", "azure", "azure-classic")


APART = [
    pytest.mark.real,
    pytest.mark.skipif(not SDKS.exists(), reason="not installed (make test-wires)"),
]


def services(*names: str) -> Any:
    """A test at each of these services, where its client is."""
    return pytest.mark.parametrize("service", [n if n in HERE else pytest.param(n, marks=APART) for n in names])


# Where each client wants its base to end, below the root, and where we do; and a model.
BASES = {
    "openai": ("/v1", "/v1", "gpt-4o-mini"),
    "azure": ("/openai/v1", "/openai/v1", "my-deployment"),
    "azure-classic": ("", "/openai?api-version=2024-10-21", "my-deployment"),
    "groq": ("", "/openai/v1", "openai/gpt-oss-120b"),
    "together": ("", "/v1", "meta-llama/Llama-3.3-70B-Instruct-Turbo"),
}
CHAT = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}
VECTORS = {
    "object": "list",
    "model": "m",
    "data": [{"object": "embedding", "index": n, "embedding": "AACAPwAAAAA="} for n in range(2)],
    "usage": {"prompt_tokens": 2, "total_tokens": 2},
}
BATCH = {
    "id": "batch-1",
    "object": "batch",
    "endpoint": "/v1/chat/completions",
    "input_file_id": "file-1",
    "completion_window": "24h",
    "status": "validating",
    "created_at": 1,
}
FILE = {
    "id": "file-1",
    "object": "file",
    "bytes": 1,
    "created_at": 1,
    "filename": "f",
    "purpose": "batch",
    "status": "ok",
}


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def key(self) -> dict[str, str]:
        return {
            name: value for name, value in self.headers.items() if name in ("authorization", "api-key", "x-api-key")
        }

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Recorder:
    url: str = ""
    asked: list[Asked] = field(default_factory=list)

    def last(self) -> Asked:
        return self.asked[-1]


@contextmanager
def recording() -> Iterator[Recorder]:
    """A server that writes down what it is asked, and answers what any client can read."""
    recorder = Recorder()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.headers.get("transfer-encoding") == "chunked":
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size + 2)[:-2]
                self.rfile.readline()
            headers = {name.lower(): value for name, value in self.headers.items()}
            recorder.asked.append(Asked(self.command, self.path, headers, body))
            path = self.path.partition("?")[0]
            said: Any = CHAT
            if path.endswith("/embeddings"):
                said = VECTORS
            elif "/files" in path:
                said = FILE
            elif "/batches" in path:
                said = {"data": [BATCH], "has_more": False} if self.command == "GET" and path.endswith("s") else BATCH
                said = {**said, "job": BATCH}
            raw = json.dumps(said).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        do_GET = do_POST = answer

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    recorder.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield recorder
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def by_sdk(sdk: str, url: str, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """What a provider's client makes of these calls."""
    if sdk in HERE:
        with sdk_side.client_of(sdk, url) as client:
            answers = json.loads(json.dumps(sdk_side.answers_of(client, calls)))
    else:
        told = json.dumps({"sdk": sdk, "url": url, "calls": calls})
        done = subprocess.run([SDKS, SIDE], input=told, capture_output=True, text=True, timeout=120, check=True)
        answers = json.loads(done.stdout)
    for answer in answers:
        assert not (isinstance(answer, dict) and "raised" in answer), answer
    return list(answers)


def by_us(service: str, url: str, *, embeds: bool = False) -> Any:
    open_it = open_embedder if embeds else open_backend
    model = BASES.get(service, ("", "", "voyage-4"))[2]
    setup = Setup(clock=SystemClock(), max_in_flight=1, settings=Settings(), base_url=url, api_key="key")
    return open_it(f"{service}:{model}", setup)[0]


def at_once(backend: Any, *calls: Any) -> None:
    async def main() -> None:
        try:
            for call in calls:
                await call(backend)
        finally:
            await backend.aclose()

    asyncio.run(main())


@services(*BASES)
def test_a_chat_call_is_the_one_that_the_providers_client_makes(service: str) -> None:
    theirs, ours, _ = BASES[service]
    with recording() as server:
        request = Request.ask("Is it?", max_tokens=7, system="Be brief.", sampling={"temperature": 0.5})
        at_once(by_us(service, f"{server.url}{ours}"), lambda backend: backend.complete(request))
        own = server.last()
        by_sdk(service, f"{server.url}{theirs}", ("chat", own.json))
        assert (server.last().method, server.last().path, server.last().key) == (own.method, own.path, own.key)
        assert server.last().json == own.json


@services("openai", "azure", "azure-classic", "together")
def test_a_call_for_embeddings_is_the_one_that_the_providers_client_makes(service: str) -> None:
    theirs, ours, model = BASES[service]
    with recording() as server:
        pack = pack_request(["one", "two"], model="", options={"dimensions": 2} if service != "together" else None)
        at_once(by_us(service, f"{server.url}{ours}", embeds=True), lambda backend: backend.complete(pack))
        own = server.last()
        by_sdk(service, f"{server.url}{theirs}", ("embeddings", own.json))
        assert (server.last().path, server.last().key, server.last().json) == (own.path, own.key, own.json)
        assert own.json["model"] == model


@services("voyage")
def test_a_call_for_embeddings_at_voyage_is_its_clients_but_for_what_that_leaves_empty(service: str) -> None:
    with recording() as server:
        pack = pack_request(["one", "two"], model="", options={"input_type": "document", "dimensions": 256})
        at_once(by_us(service, f"{server.url}/v1", embeds=True), lambda backend: backend.complete(pack))
        own = server.last()
        told = {"texts": ["one", "two"], "model": "voyage-4", "input_type": "document", "output_dimension": 256}
        by_sdk(service, f"{server.url}/v1", ("embed", told))
        sent = {name: value for name, value in server.last().json.items() if value is not None and name != "truncation"}
        assert (server.last().path, server.last().key, sent) == (own.path, own.key, own.json)


@services(*BASES)
def test_a_batch_is_made_and_looked_at_as_the_providers_client_does(service: str) -> None:
    theirs, ours, _ = BASES[service]
    tag = BatchTag(run_id="run", chunk=1, custom_ids=("a",), intended_at=time.time(), file_id="file-1")
    with recording() as server:
        backend = by_us(service, f"{server.url}{ours}")
        line = backend.batch_line("a", Request.ask("Is it?", max_tokens=7))
        looks = [
            lambda backend: backend.submit_batch([line], tag),
            lambda backend: backend.poll_batch("batch-1"),
            lambda backend: backend.cancel_batch("batch-1"),
            lambda backend: backend.find_batch(tag),
            lambda backend: backend.upload_batch([line], tag),
        ]
        at_once(backend, *looks)
        create, poll, cancel, listed, upload = server.asked
        calls: list[tuple[str, dict[str, Any]]] = [("create", create.json), ("retrieve", {"id": "batch-1"})]
        calls += [("cancel", {"id": "batch-1"})] + ([] if service == "together" else [("list", {})])
        server.asked.clear()
        by_sdk(service, f"{server.url}{theirs}", *calls)
        for own, sdk in zip((create, poll, cancel), server.asked, strict=False):
            assert (sdk.method, sdk.path, sdk.key) == (own.method, own.path, own.key)
        assert server.asked[0].json == create.json
        if service != "together":  # its client has another way of uploading, by way of another host
            assert server.asked[3].path.partition("?")[0] == listed.path.partition("?")[0]
            by_sdk(service, f"{server.url}{theirs}", ("upload", {"name": "run-1.jsonl", "content": line.decode()}))
            assert (server.last().path, server.last().key) == (upload.path, upload.key)
            assert _parts(server.last()) == _parts(upload)


def _parts(asked: Asked) -> list[tuple[str, bytes]]:
    """The parts of a form: their names and contents."""
    boundary = asked.headers["content-type"].partition("boundary=")[2].strip('"').encode()
    parts = []
    for part in asked.body.split(b"--" + boundary)[1:-1]:
        head, _, content = part.strip(b"\r\n").partition(b"\r\n\r\n")
        parts.append((head.partition(b'name="')[2].partition(b'"')[0].decode(), content.strip()))
    return parts


@services(*BASES)
def test_a_providers_client_reads_what_the_simulator_answers(service: str) -> None:
    theirs, _, model = BASES[service]
    with Simulator(persona="echo", batch_time_s=0.05, validation_time_s=0.01) as sim:
        root = sim.url if service == "openai" else f"{sim.url}/{service.removesuffix('-classic')}"
        base = f"{root}{theirs}"
        chat = {"model": model, "messages": [{"role": "user", "content": "Is it?"}]}
        (said,) = by_sdk(service, base, ("chat", chat))
        assert said["choices"][0]["message"]["content"] == "Is it?"
        if service != "groq":
            vectors = {"model": model, "input": ["one"], "dimensions": 4}
            if service == "together":
                del vectors["dimensions"]
            (told,) = by_sdk(service, base, ("embeddings", vectors))
            assert len(told["data"][0]["embedding"]) == (1024 if service == "together" else 4)
        if service == "together":
            return
        prefix = "" if service == "azure-classic" else "/v1"
        line = {"custom_id": "a", "method": "POST", "url": f"{prefix}/chat/completions", "body": chat}
        (stored,) = by_sdk(service, base, ("upload", {"name": "f.jsonl", "content": json.dumps(line)}))
        order = {"input_file_id": stored["id"], "endpoint": line["url"], "completion_window": "24h"}
        (batch,) = by_sdk(service, base, ("create", {**order, "metadata": {"name": "n"}}))
        sim.advance(60)
        ended, listed = by_sdk(service, base, ("retrieve", {"id": batch["id"]}), ("list", {}))
        assert (ended["status"], ended["metadata"]) == ("completed", {"name": "n"})
        assert [one["id"] for one in listed["data"]] == [batch["id"]]
        (content,) = by_sdk(service, base, ("content", {"id": ended["output_file_id"]}))
        assert json.loads(content["text"])["custom_id"] == "a"


@services("together")
def test_the_client_of_together_follows_a_batch_at_the_simulator(service: str) -> None:
    tag = BatchTag(run_id="run", chunk=1, custom_ids=("a",), intended_at=time.time())
    made: list[str] = []

    async def submit(backend: Any) -> None:
        made.append(await backend.submit_batch([backend.batch_line("a", Request.ask("Is it?"))], tag))

    with Simulator(persona="echo", batch_time_s=0.05, validation_time_s=0.01) as sim:
        at_once(by_us(service, sim.service_url(service)), submit)
        sim.advance(60)
        batch, listed = by_sdk(service, f"{sim.url}/together", ("retrieve", {"id": made[0]}), ("list", {}))
        assert (batch["status"], [one["id"] for one in listed]) == ("COMPLETED", made)
        (content,) = by_sdk(service, f"{sim.url}/together", ("content", {"id": batch["output_file_id"]}))
        assert json.loads(content["text"])["custom_id"] == "a"


@services("voyage")
def test_the_client_of_voyage_reads_the_vectors_of_the_simulator(service: str) -> None:
    with Simulator() as sim:
        told = {"texts": ["one", "two"], "model": "voyage-4", "output_dimension": 8}
        (said,) = by_sdk(service, f"{sim.url}/voyage/v1", ("embed", told))
        import struct

        assert [struct.pack("<8f", *vector) for vector in said["embeddings"]] == [
            vector_of(t, 8) for t in ("one", "two")
        ]

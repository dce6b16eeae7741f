"""Raw HTTP for the tests: nothing between the test and the wire."""

import http.client
import json
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from batchwork.simulator import Simulator

ANTHROPIC = {"authorization": "Bearer key", "anthropic-version": "2026-10-21"}
OPENAI = {"authorization": "Bearer key"}


class Got(NamedTuple):
    status: int
    headers: dict[str, str]
    raw: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.raw)


def send(sim: Simulator, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Got:
    where = urlsplit(sim.url)
    link = http.client.HTTPConnection(where.hostname or "", where.port, timeout=20)
    try:
        raw = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        link.request(method, path, raw, headers or {})
        answer = link.getresponse()
        return Got(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        link.close()


def message(text: str = "hello", **more: Any) -> dict[str, Any]:
    return {"model": "claude-haiku-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": text}], **more}


def chat(text: str = "hello", **more: Any) -> dict[str, Any]:
    return {"model": "gpt-6-luna", "messages": [{"role": "user", "content": text}], **more}


def ask_anthropic(sim: Simulator, body: Any, **headers: str) -> Got:
    return send(sim, "POST", "/v1/messages", body, {**ANTHROPIC, **headers})


def ask_openai(sim: Simulator, body: Any) -> Got:
    return send(sim, "POST", "/v1/chat/completions", body, OPENAI)

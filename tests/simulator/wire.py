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


def create_batch(sim: Simulator, wire: str, requests: dict[str, dict[str, Any]]) -> Got:
    """Create a batch of these bodies, by their custom ids, at `anthropic` or `openai`."""
    if wire == "anthropic":
        asked = [{"custom_id": name, "params": body} for name, body in requests.items()]
        return send(sim, "POST", "/v1/messages/batches", {"requests": asked}, ANTHROPIC)
    endpoint = "/v1/chat/completions"
    lines = [{"custom_id": name, "method": "POST", "url": endpoint, "body": body} for name, body in requests.items()]
    form = (
        '--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        '--b\r\nContent-Disposition: form-data; name="file"; filename="i.jsonl"\r\n\r\n'
        + "\n".join(map(json.dumps, lines))
        + "\r\n--b--\r\n"
    ).encode()
    kind = {"content-type": "multipart/form-data; boundary=b"}
    uploaded = send(sim, "POST", "/v1/files", form, {**OPENAI, **kind}).json
    order = {"input_file_id": uploaded["id"], "endpoint": endpoint, "completion_window": "24h"}
    return send(sim, "POST", "/v1/batches", order, OPENAI)

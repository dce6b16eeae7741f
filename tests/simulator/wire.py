"""Raw HTTP for the tests: nothing between the test and the wire."""

import http.client
import json
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from batchwork.simulator import Simulator

ANTHROPIC = {"authorization": "Bearer key", "anthropic-version": "2026-10-21"}
OPENAI = {"authorization": "Bearer key"}
GEMINI = {"x-goog-api-key": "key"}


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


def upload_gemini(sim: Simulator, content: bytes, name: str = "i.jsonl") -> Got:
    """Upload a file as Gemini takes it: an address first, then the bytes."""
    start = {"x-goog-upload-protocol": "resumable", "x-goog-upload-command": "start"}
    began = send(sim, "POST", "/gemini/upload/v1/files", {"file": {"displayName": name}}, GEMINI | start)
    where = urlsplit(began.headers["x-goog-upload-url"])
    rest = {"x-goog-upload-offset": "0", "x-goog-upload-command": "upload, finalize"}
    return send(sim, "POST", f"{where.path}?{where.query}", content, GEMINI | rest)


def created_id(answer: Got) -> str:
    """The id of a batch that was created."""
    return str(answer.json.get("id") or answer.json["name"])


def create_batch(sim: Simulator, wire: str, requests: dict[str, dict[str, Any]]) -> Got:
    """Create a batch of these bodies, by their custom ids, on one of the wires."""
    if wire == "gemini":
        written = [json.dumps({"key": name, "request": body}) for name, body in requests.items()]
        file = upload_gemini(sim, "\n".join(written).encode()).json["file"]["name"]
        order = {"batch": {"displayName": "theirs", "inputConfig": {"fileName": file}}}
        return send(sim, "POST", "/gemini/v1/models/gemini-3.6-flash:batchGenerateContent", order, GEMINI)
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
    where = "/mistral/v1" if wire == "mistral" else "/v1"
    uploaded = send(sim, "POST", f"{where}/files", form, {**OPENAI, **kind}).json
    if wire == "mistral":
        model = next(iter(requests.values()))["model"]
        job = {"input_files": [uploaded["id"]], "endpoint": endpoint, "model": model}
        return send(sim, "POST", f"{where}/batch/jobs", job, OPENAI)
    order = {"input_file_id": uploaded["id"], "endpoint": endpoint, "completion_window": "24h"}
    return send(sim, "POST", "/v1/batches", order, OPENAI)

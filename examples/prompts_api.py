"""Start the server, ask it one prompt, a thousand and a stream, and end it. No key, no network, no language model."""

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

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
KEY = "bw-only-for-this-example"


def main() -> None:
    """The demonstration."""
    command = [sys.executable, "-m", "batchwork", "serve", "--model", "mock:echo?latency=0.2&sigma=1", "--port", "0"]
    with tempfile.TemporaryDirectory(prefix="batchwork-demo-") as folder:
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "BATCHWORK_API_KEYS": KEY}
        server = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, cwd=folder)
        assert server.stderr is not None
        said = server.stderr.readline().strip()
        print(f"$ BATCHWORK_API_KEYS=... batchwork {' '.join(command[3:])}\n{said}\n")
        port = int(said.split("http://127.0.0.1:")[1].split()[0])
        try:
            demonstrate(port)
        finally:
            server.send_signal(signal.SIGTERM)
            server.communicate()


def demonstrate(port: int) -> None:
    """One, a thousand, a stream."""
    print("one prompt, with a schema and a field of the answer:")
    asked = {"prompt": '{"river": "Danube", "km": 2850}', "response_format": RIVER, "extract_field_path": "river"}
    print(f"  {next(ask(port, '/api/v1/prompt', asked))['response']!r}")

    print("an answer that breaks the schema, and a prompt that cannot be asked, beside good ones:")
    items = [
        {"prompt": "hello"},
        {"prompt": '{"river": "Danube"}', "response_format": RIVER},
        {"prompt": "x", "model": "?"},
    ]
    for answer in next(ask(port, "/api/v1/prompts", {"prompts": items}))["results"]:
        print(f"  {answer['status']:8}{answer['error_code'] or answer['response']!r}")

    print("a thousand prompts with long-tailed latency (median 0.2 s), 100 in flight:")
    started = time.monotonic()
    thousand = {"prompts": [{"prompt": f"number {i}"} for i in range(1000)], "batch_size": 100}
    told = next(ask(port, "/api/v1/prompts", thousand))
    in_order = [answer["response"] for answer in told["results"]] == [f"number {i}" for i in range(1000)]
    print(f"  {told['summary']}\n  in request order: {in_order}, {time.monotonic() - started:.1f} s")

    print("the same as a stream, the first three lines and the last:")
    lines = list(ask(port, "/api/v1/prompts", thousand, accept="application/x-ndjson"))
    for line in [*lines[:3], lines[-1]]:
        print(f"  {json.dumps({key: line[key] for key in ('index', 'response', 'summary') if key in line})}")


def ask(port: int, path: str, body: Any, accept: str = "application/json") -> Iterator[Any]:
    """The JSON values in the answer: one, or one per line."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"content-type": "application/json", "accept": accept, "x-api-key": KEY}
    connection.request("POST", path, json.dumps(body), headers)
    for line in connection.getresponse():
        yield json.loads(line)
    connection.close()


if __name__ == "__main__":
    main()

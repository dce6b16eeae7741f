"""Callers that go away, and servers that end."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from tests.server.house import House, serving

MANY = "/api/v1/prompts"


def wait_for(condition: Any, seconds: float = 5.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.005)


def sent(house: House, prompts: int, batch_size: int, accept: str = "application/json") -> socket.socket:
    """A request under way, whose caller can hang up."""
    body = json.dumps({"prompts": [{"prompt": str(i)} for i in range(prompts)], "batch_size": batch_size}).encode()
    head = f"POST {MANY} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: {accept}\r\n"
    wire = socket.create_connection((house.host, house.port), timeout=10)
    wire.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    return wire


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_a_caller_that_goes_away_cancels_what_has_not_been_sent(accept: str) -> None:
    backend = MockBackend(clock=SystemClock(), latency_s=0.15)
    with serving(backend) as house:
        wire = sent(house, prompts=100, batch_size=5, accept=accept)
        wait_for(lambda: backend.in_flight == 5)
        wire.close()
        wait_for(lambda: house.application.admission.under_way == 0)
        assert backend.calls == 5
        assert backend.in_flight == 0  # those that were sent were let finish, and are booked
        assert house.prompt(prompt="next").status == 200


def test_a_caller_that_leaves_in_the_middle_of_a_stream_is_noticed() -> None:
    backend = MockBackend(clock=SystemClock(), latency_s=0.05)
    with serving(backend) as house:
        wire = sent(house, prompts=200, batch_size=4, accept="application/x-ndjson")
        while b'"index":' not in wire.recv(65536):
            pass
        wire.close()
        wait_for(lambda: house.application.admission.under_way == 0)
        assert backend.calls < 40


@contextmanager
def program(folder: Path, model: str, *more: str) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """The real program; its process and its port."""
    command = [sys.executable, "-m", "batchwork", "serve", "--model", model, "--port", "0", *more]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        yield process, int(process.stderr.readline().split("http://127.0.0.1:")[1].split()[0])
    finally:
        process.kill()
        process.communicate()


def post(port: int, prompts: int, **fields: Any) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        body = json.dumps({"prompts": [{"prompt": str(i)} for i in range(prompts)], **fields})
        connection.request("POST", MANY, body, {"content-type": "application/json"})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def get(port: int, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


def in_thread(function: Any, *arguments: Any, **named: Any) -> tuple[threading.Thread, list[Any]]:
    got: list[Any] = []
    thread = threading.Thread(target=lambda: got.append(function(*arguments, **named)))
    thread.start()
    return thread, got


def test_sigterm_finishes_what_is_under_way_and_takes_nothing_new(tmp_path: Path) -> None:
    with program(tmp_path, "mock:echo?latency=0.3") as (process, port):
        assert get(port, "/ready") == 200
        thread, got = in_thread(post, port, 15, batch_size=5)
        time.sleep(0.15)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.15)
        assert get(port, "/ready") == 503
        assert get(port, "/health") == 200
        status, told = post(port, 1)
        assert (status, told["error_code"], told["retryable"]) == (503, "shutting_down", True)
        thread.join()
        assert process.wait(10) == 0
    status, told = got[0]
    assert (status, told["summary"]["completed"]) == (200, 15)


def test_after_the_grace_time_what_is_not_sent_is_told_as_retryable(tmp_path: Path) -> None:
    with program(tmp_path, "mock:echo?latency=0.4", "--grace", "0.2") as (process, port):
        thread, got = in_thread(post, port, 20, batch_size=5)
        time.sleep(0.15)
        process.send_signal(signal.SIGTERM)
        thread.join()
        assert process.wait(10) == 0
    status, told = got[0]
    codes = [answer["error_code"] for answer in told["results"]]
    assert status == 200
    assert codes[:5] == [None] * 5  # they were in flight, and were let finish
    assert set(codes[5:]) == {"shutting_down"}
    assert all(answer["retryable"] for answer in told["results"][5:])


def test_a_second_signal_leaves_at_once(tmp_path: Path) -> None:
    with program(tmp_path, "mock:echo?latency=30") as (process, port):
        thread, got = in_thread(tried, port)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        thread.join()
    assert got != [200]


def tried(port: int) -> int | None:
    try:
        return post(port, 1)[0]
    except (OSError, http.client.HTTPException, ValueError):
        return None

"""How a server starts to listen, and how it ends."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from batchwork.core.errors import ConfigError
from batchwork.server.web_server import listen
from tests.server.house import MANY
from tests.support.waiting import becomes_true, lines_of


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
    with program(tmp_path, f"mock:echo?latency=0.5&log={tmp_path / 'calls'}") as (process, port):
        assert get(port, "/ready") == 200
        thread, got = in_thread(post, port, 15, batch_size=5)
        assert becomes_true(lambda: lines_of(tmp_path / "calls") >= 5)
        process.send_signal(signal.SIGTERM)
        assert becomes_true(lambda: get(port, "/ready") == 503)
        assert get(port, "/health") == 200
        status, told = post(port, 1)
        assert (status, told["error_code"], told["retryable"]) == (503, "shutting_down", True)
        thread.join()
        assert process.wait(10) == 0
    status, told = got[0]
    assert (status, told["summary"]["completed"]) == (200, 15)


def test_after_the_grace_time_what_is_not_sent_is_told_as_retryable(tmp_path: Path) -> None:
    with program(tmp_path, f"mock:echo?latency=1&log={tmp_path / 'calls'}", "--grace", "0.2") as (process, port):
        thread, got = in_thread(post, port, 20, batch_size=5)
        assert becomes_true(lambda: lines_of(tmp_path / "calls") >= 5)
        process.send_signal(signal.SIGTERM)
        thread.join()
        assert process.wait(10) == 0
    status, told = got[0]
    codes = [answer["error_code"] for answer in told["results"]]
    assert status == 200
    assert codes[:5] == [None] * 5  # they were in flight, and were let finish
    assert set(codes[5:]) == {"shutting_down"}
    assert all(answer["retryable"] for answer in told["results"][5:])


def test_a_second_signal_leaves_at_once_and_says_what_was_in_flight(tmp_path: Path) -> None:
    with program(tmp_path, f"mock:echo?latency=30&log={tmp_path / 'calls'}") as (process, port):
        thread, got = in_thread(post, port, 2, batch_size=1)
        assert becomes_true(lambda: lines_of(tmp_path / "calls") >= 1)
        process.send_signal(signal.SIGINT)
        assert becomes_true(lambda: get(port, "/ready") == 503)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        thread.join()
        assert process.stderr is not None
        log = process.stderr.read()
    status, told = got[0]
    assert (status, [answer["error_code"] for answer in told["results"]]) == (200, ["cut_off", "shutting_down"])
    assert "Exception" not in log
    assert '"status":200' in log


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_every_address_of_ipv6_is_every_address_of_ipv4_as_well() -> None:
    with listen("::", 0) as listening:
        with socket.create_connection(("127.0.0.1", listening.getsockname()[1]), timeout=5):
            taken, _ = listening.accept()
        with taken:
            assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), "an answer's two packets are sent at once"


def test_an_address_that_cannot_be_had_is_a_wrong_setting() -> None:
    with listen("127.0.0.1", 0) as listening, pytest.raises(ConfigError, match=r"cannot listen on 127\.0\.0\.1 port"):
        listen("127.0.0.1", listening.getsockname()[1])

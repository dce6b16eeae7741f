"""The service among strangers: connections that do not talk, schemas and answers that take for ever, invented words."""

import json
import os
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.reply import Reply, Usage
from tests.hostile.schemas import Request, attacks, one, ordinary
from tests.hostile.service import HEAD, LONGEST_TURN_MS, MANY, Attacked, answer_of, attacked
from tests.server.house import serving
from tests.support.waiting import becomes_true

IMPATIENT = ("--head-timeout", "0.5", "--slow-timeout", "0.5", "--max-connections", "100", "--grace", "2")
HALF = {
    "half a head": b"GET /health HTTP/1.1\r\nhost: localhost\r\nx-a: ",
    "nothing at all": b"",
    "half a body": HEAD + b"content-length: 1000\r\n\r\n{",
    "half a body in chunks": HEAD + b"transfer-encoding: chunked\r\n\r\n1\r\n{\r\n",
    "a body that is announced": HEAD + b"content-length: 8000000\r\nexpect: 100-continue\r\n\r\n",
}
SMOKE, WHOLE = 0.1, 1.0


@pytest.fixture(scope="module")
def server() -> Iterator[Attacked]:
    with attacked(*IMPATIENT) as server:
        yield server


# -- connections ------------------------------------------------------------------------------------


def health_s(server: Attacked) -> float:
    """The longest of five looks, in the best of three tries: a busy machine adds to it and never takes away."""
    longest = float("inf")
    for _ in range(3):
        longest = min(longest, max(server.health_s() for _ in range(5)))
        if longest < 1.0:
            break
    return longest


class UnderFlood(NamedTuple):
    """What others get while very many connections are held, and what is logged of it."""

    health_s: float
    completed: int
    logged: int

    @property
    def is_served(self) -> bool:
        return self.health_s < 1.0 and self.completed == 100 and self.logged < 50_000


def flooded(server: Attacked, count: int, data: bytes) -> UnderFlood:
    before = server.logged()
    with server.held(count, data):
        longest = health_s(server)
        status, body = server.post(MANY, {"prompts": [{"prompt": "x"}] * 100})
    completed = body["summary"]["completed"] if status == 200 else 0
    return UnderFlood(longest, completed, server.logged() - before)


@pytest.mark.attack(
    "service",
    "more connections than there is room for, each with half a request (a head, a body, nothing)",
    "/health answers within 1 s, others are served, the log does not grow: the least useful connection makes room",
)
@pytest.mark.parametrize("kind", HALF)
def test_half_sent_requests_lock_nobody_out(server: Attacked, kind: str) -> None:
    seen = flooded(server, 200, HALF[kind])
    assert seen.is_served, seen


@pytest.mark.attack(
    "service",
    "a flood of half-sent bodies that never stops",
    "whoever has just come has its chance: an old half-sent body goes before a new connection",
)
def test_a_flood_of_half_sent_bodies_does_not_push_newcomers_out(server: Attacked) -> None:
    over = threading.Event()

    def flood() -> None:
        wires: list[socket.socket] = []
        while not over.is_set():
            with suppress(OSError):
                wires.append(server.connect(HALF["half a body"]))
            time.sleep(0.002)  # some hundred a second
            if len(wires) > 400:
                wires.pop(0).close()
        for wire in wires:
            wire.close()

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        time.sleep(0.3)
        assert health_s(server) < 1.0
    finally:
        over.set()
        thread.join()


@pytest.mark.slow
def test_a_house_full_of_readers_that_do_not_read_still_answers() -> None:
    body = json.dumps({"prompts": [{"prompt": "x" * 7500}] * 1000}).encode()
    with attacked("--max-connections", "16", "--max-open", "900", "--slow-timeout", "60", "--grace", "2") as server:
        wires = []
        for _ in range(30):
            wires.append(server.connect(HEAD + b"content-length: %d\r\n\r\n" % len(body) + body, receive_bytes=4096))
            assert health_s(server) < 1.0
        assert server.post(MANY, {"prompts": [{"prompt": "x"}]})[0] == 200
        for wire in wires:
            wire.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", HALF)
def test_eleven_hundred_half_sent_requests_lock_nobody_out(kind: str) -> None:
    with attacked("--grace", "3") as server:
        seen = flooded(server, 1100, HALF[kind])
        assert seen.is_served, seen
        assert server.end_s() < 5


@pytest.mark.attack(
    "service", "a head that drips, a body slower than the least rate", "408 when the time is over, and the end"
)
def test_who_does_not_come_to_the_end_of_a_request_is_let_go(server: Attacked) -> None:
    kinds = (HALF["half a head"], HALF["half a body"], HALF["half a body in chunks"])
    wires = [server.connect(data) for data in kinds]
    started = time.monotonic()
    while time.monotonic() - started < 0.4:
        for wire in wires:
            wire.sendall(b" " if wire is wires[0] else b"")
        time.sleep(0.1)
    for wire in wires:
        assert b"408 Request Timeout" in wire.recv(1000)
        wire.close()


@pytest.mark.attack("service", "a slow but steady upload, longer than every deadline", "it is taken (no attack)")
def test_a_slow_upload_stays_possible(server: Attacked) -> None:
    body = json.dumps({"prompts": [{"prompt": "x" * 15_000}]}).encode()
    with server.connect(HEAD + b"content-length: %d\r\n\r\n" % len(body)) as wire:
        for start in range(0, len(body), 2000):
            wire.sendall(body[start : start + 2000])
            time.sleep(0.12)
        assert wire.recv(1000).startswith(b"HTTP/1.1 200")


@pytest.mark.attack(
    "service",
    "readers that never read their answer",
    "their prompts are free when they are answered; the connection is cut at the least rate",
)
@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_a_reader_that_does_not_read_holds_nothing(server: Attacked, accept: str) -> None:
    body = json.dumps({"prompts": [{"prompt": "x" * 7500}] * 1000}).encode()
    head = HEAD + f"accept: {accept}\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    dropped = 'batchwork_connections_dropped_total{why="slow reader"}'
    before = server.metric(dropped)
    with server.connect(head + body, receive_bytes=4096) as wire:
        wire.recv(1)
        assert becomes_true(lambda: server.metric("batchwork_prompts_open") == 0)
        assert becomes_true(lambda: server.metric(dropped) == before + 1)


@pytest.mark.attack("service", "a body in chunks of one byte", "400 after some thousand of them")
def test_a_body_in_crumbs_is_refused(server: Attacked) -> None:
    server.longest_turn_ms()
    with server.connect(HEAD + b"transfer-encoding: chunked\r\n\r\n") as wire:
        with suppress(OSError):
            wire.sendall(b"1\r\nx\r\n" * 20_000)
        assert b"400 Bad Request" in wire.recv(1000)
    assert server.longest_turn_ms() < LONGEST_TURN_MS


@pytest.mark.attack(
    "service", "bytes that are no HTTP, on very many connections", "400 each, and a few lines in the log"
)
def test_garbage_does_not_fill_the_log(server: Attacked) -> None:
    dice = random.Random(7)
    before = server.logged()
    for _ in range(150):
        with server.connect(dice.randbytes(dice.randint(1, 300)) + b"\r\n\r\n\r\n") as wire:
            wire.shutdown(socket.SHUT_WR)
            answer_of(wire)
    assert server.logged() - before < 20_000
    assert health_s(server) < 1.0


@pytest.mark.attack("service", "a thousand pipelined requests at once", "answered one by one, between those of others")
def test_pipelined_requests_come_one_by_one(server: Attacked) -> None:
    server.longest_turn_ms()
    with server.connect(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n" * 1000) as wire:
        assert health_s(server) < 1.0
        wire.recv(1000)
    assert server.longest_turn_ms() < LONGEST_TURN_MS


@pytest.mark.attack(
    "service",
    "SIGTERM while connections are half sent, silent or not read",
    "the server ends within its grace time",
)
def test_sigterm_ends_within_the_grace_time_whatever_connections_do() -> None:
    body = json.dumps({"prompts": [{"prompt": "x" * 7500}] * 1000}).encode()
    with attacked("--grace", "1") as server:
        wires = [server.connect(data) for data in HALF.values() for _ in range(5)]
        unread = [server.connect(HEAD + b"content-length: %d\r\n\r\n" % len(body) + body, receive_bytes=4096)]
        unread[0].recv(1)
        assert server.end_s() < 3.0
        for wire in (*wires, *unread):
            wire.close()


# -- shares -----------------------------------------------------------------------------------------

KEYS = ("bw-the-first-key-of-ours", "bw-the-second-key-of-ours")


@pytest.mark.attack(
    "service",
    "one key opens as many prompts and requests as it is given",
    "others still get theirs: a key may hold as much as it leaves free",
)
def test_a_key_that_takes_all_it_can_does_not_lock_others_out() -> None:
    options = ("--max-open-prompts", "100", "--max-connections", "40")
    with attacked(*options, model="mock:echo?latency=0.8", BATCHWORK_API_KEYS=",".join(KEYS)) as server:
        greedy, other = ({"x-api-key": key} for key in KEYS)
        statuses: list[int] = []

        def ask(prompts: int) -> None:
            statuses.append(server.post(MANY, {"prompts": [{"prompt": "x"}] * prompts}, **greedy)[0])

        threads = [threading.Thread(target=ask, args=(10,)) for _ in range(12)]
        for thread in threads:
            thread.start()
        assert becomes_true(lambda: len(statuses) >= 7)  # those that are refused
        assert set(statuses) == {503}
        assert server.post(MANY, {"prompts": [{"prompt": "x"}] * 25}, **other)[0] == 200
        for thread in threads:
            thread.join()
        assert sorted(statuses) == [200] * 5 + [503] * 7


# -- schemas and answers ----------------------------------------------------------------------------


def longest_turn_of(server: Attacked, request: Request) -> tuple[float, int, Any]:
    """The longest turn of the best of three tries: a busy machine adds to it and never takes away."""
    longest, status, body = float("inf"), 0, None
    for _ in range(3):
        server.longest_turn_ms()
        status, body = server.post(*request)
        longest = min(longest, server.longest_turn_ms())
        if longest < LONGEST_TURN_MS:
            break
    return longest, status, body


@pytest.mark.attack(
    "service",
    "schemas, patterns, answers and paths that take the validator as long as they like",
    "refused by their weight, or another process's work; no turn of the loop takes 50 ms of CPU",
)
@pytest.mark.parametrize("name", attacks(SMOKE))
def test_no_schema_and_no_answer_holds_the_loop_up(server: Attacked, name: str) -> None:
    longest, status, body = longest_turn_of(server, attacks(SMOKE)[name]())
    assert longest < LONGEST_TURN_MS
    assert status in (200, 422), body
    assert body.get("error_code") != "internal", body


@pytest.mark.slow
@pytest.mark.parametrize("name", attacks(SMOKE))
def test_no_schema_and_no_answer_of_any_size_holds_the_loop_up(server: Attacked, name: str) -> None:
    longest, status, body = longest_turn_of(server, attacks(WHOLE)[name]())
    assert longest < LONGEST_TURN_MS
    assert status in (200, 422), body
    assert body.get("error_code") != "internal", body


@pytest.mark.attack(
    "service", "a thousand prompts with a schema each (no attack)", "served in slices of a few milliseconds"
)
def test_ordinary_requests_do_not_hold_the_loop_up_either(server: Attacked) -> None:
    longest, status, body = longest_turn_of(server, ordinary(300))
    assert longest < LONGEST_TURN_MS
    assert (status, body["summary"]["completed"]) == (200, 300)


@pytest.mark.attack(
    "service", "an answer that takes the validator minutes", "its process is killed; the item's error names the limit"
)
def test_what_takes_too_long_is_killed_and_the_next_goes_on() -> None:
    with attacked("--work-timeout", "0.4") as server:
        wide = {"contains": {"anyOf": [{"required": [f"x{k}"]} for k in range(2000)]}}
        status, body = server.post(*one([{"a": 1}] * 100_000, wide))
        assert (status, body["error_code"]) == (200, "schema_violation")
        assert "more than 0.4 s" in body["error"]
        assert server.post(*attacks(SMOKE)["unique elements"]())[1]["status"] == "success"


# -- words ------------------------------------------------------------------------------------------


@pytest.mark.attack("service", "invented methods and addresses", "one line each in /metrics, whatever they are called")
def test_metrics_do_not_grow_with_invented_words(server: Attacked) -> None:
    server.send("BREW", "/pot")
    server.send("GET", "/metrics")
    before = len(server.send("GET", "/metrics")[1].splitlines())
    for number in range(50):
        server.send(f"M{number}", f"/{number}", None, **{f"x-{number}": "y"})
    assert len(server.send("GET", "/metrics")[1].splitlines()) == before


def _spender() -> MockBackend:
    reply = Reply(text="done", usage=Usage(input_tokens=10, output_tokens=50))
    return MockBackend(clock=SystemClock(), script=lambda *_: reply)


@pytest.mark.attack(
    "service",
    "the day's book cannot be written while requests run",
    "callers are told so without a path; a stream ends with a line that says it",
)
@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_a_storage_error_shows_no_path_and_ends_a_stream_with_a_word(tmp_path: Path, accept: str) -> None:
    settings: dict[str, Any] = {"price": "0,100", "max_cost_per_day": 1, "budget_file": tmp_path / "book"}
    body = {"prompts": [{"prompt": "x", "max_tokens": 100}] * 3}
    with serving(_spender(), **settings) as house:
        aside = tmp_path / f".book.{os.getpid()}.part"
        aside.mkdir()  # stands in for a disk that takes no more
        answered = house.post(MANY, body, {"accept": accept})
        last = json.loads(answered.body.splitlines()[-1])
        assert (last["error_code"], last["retryable"]) == ("storage_failed", True)
        assert last["request_id"] == answered.headers["x-request-id"]
        assert str(tmp_path).encode() not in answered.body
        assert answered.status == (503 if accept == "application/json" else 200)
        aside.rmdir()
        assert house.post(MANY, body).status == 200

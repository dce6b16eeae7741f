"""Which requests may start: money, open prompts, callers that go away."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.errors import PriceUnknownError
from batchwork.core.money import NANO
from batchwork.core.reply import Reply, Usage
from batchwork.server.admission import Lease, Quotas
from batchwork.server.api import ApiError
from batchwork.server.config import ConnectionLimits, ServerConfig
from batchwork.server.keys import key_ring
from tests.server.house import MANY, House, scripted, sent, serving, text_of
from tests.support.waiting import becomes_true, lines_of

# With this price a call of 100 tokens at most may cost a little over a cent, and costs half a cent.
DEAR = "0,100"


def spender() -> MockBackend:
    reply = Reply(text="done", usage=Usage(input_tokens=10, output_tokens=50))
    return MockBackend(clock=SystemClock(), script=lambda *_: reply)


def spent(house: House) -> float:
    return house.application.admission.service.ledger.spent / NANO


def test_money_that_ends_in_the_middle_makes_the_rest_over_budget_and_retryable(tmp_path: Path) -> None:
    with serving(spender(), price=DEAR, max_cost_per_day=0.1, budget_file=tmp_path / "book") as house:
        answered = house.prompts([{"prompt": f"p{i}", "max_tokens": 100} for i in range(50)], batch_size=5)
        assert answered.status == 200
        results = answered.json()["results"]
        done = [a for a in results if a["status"] == "success"]
        rest = [a for a in results if a["status"] == "error"]
        assert len(done) == 19  # the twentieth might have cost a cent with half a cent left
        assert {(a["error_code"], a["retryable"], a["cost_usd"]) for a in rest} == {("over_budget", True, 0.0)}
        assert answered.json()["summary"]["cost_usd"] == pytest.approx(19 * 0.005)
        refused = house.prompts([{"prompt": "more", "max_tokens": 100}])
        assert (refused.status, refused.code) == (402, "over_budget")
        assert 0 < int(refused.headers["retry-after"]) <= 86_401
        assert house.prompt(prompt="more", max_tokens=100).status == 402
        assert house.prompt(prompt="small", max_tokens=50).status == 200  # that much is left
        assert spent(house) <= 0.1


def test_what_the_whole_days_budget_does_not_cover_is_not_to_be_asked_again(tmp_path: Path) -> None:
    with serving(spender(), price=DEAR, max_cost_per_day=0.1, budget_file=tmp_path / "book") as house:
        refused = house.prompt(prompt="dear", max_tokens=5000)
        assert (refused.status, refused.code, refused.json()["retryable"]) == (402, "over_budget", False)
        assert "the whole day's budget of $0.10: lower max_tokens or raise --max-cost" in refused.json()["error"]
        assert "retry-after" not in refused.headers
        among = house.prompts([{"prompt": "cheap", "max_tokens": 10}, {"prompt": "dear", "max_tokens": 5000}]).json()
        assert [(one["error_code"], one["retryable"]) for one in among["results"]][1] == ("over_budget", False)
        assert "more than the whole budget of $0.1: lower max_tokens" in among["results"][1]["error"]


def test_the_days_budget_survives_a_restart(tmp_path: Path) -> None:
    book = tmp_path / "folder" / "book"
    with serving(spender(), price=DEAR, max_cost_per_day=0.1, budget_file=book) as house:
        house.prompts([{"prompt": f"p{i}", "max_tokens": 100} for i in range(10)])
        before = spent(house)
    with serving(spender(), price=DEAR, max_cost_per_day=0.1, budget_file=book) as house:
        assert spent(house) == before == pytest.approx(0.05)
        house.prompts([{"prompt": f"p{i}", "max_tokens": 100} for i in range(50)])
        assert spent(house) == pytest.approx(0.095)


def test_the_days_budget_survives_kill_9_and_is_never_passed(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    model = f"mock:echo?latency=0.02&log={log}"
    most_calls = 100  # each may cost a cent, and echoing 400 characters costs one

    def start() -> tuple[subprocess.Popen[str], int]:
        command = [sys.executable, "-m", "batchwork", "serve", "--model", model, "--port", "0", "--price", DEAR]
        command += ["--max-cost-per-day", "1.03", "--budget-file", str(tmp_path / "book")]
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        first = process.stderr.readline()
        return process, int(first.split("http://127.0.0.1:")[1].split()[0])

    items = [{"prompt": "x" * 396, "max_tokens": 100} for _ in range(60)]
    body = json.dumps({"prompts": items, "batch_size": 10})

    def ask(port: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        with closing(connection), suppress(OSError, http.client.HTTPException):  # it may be killed
            connection.request("POST", "/api/v1/prompts", body, {"content-type": "application/json"})
            connection.getresponse().read()

    process, port = start()
    caller = threading.Thread(target=ask, args=(port,))
    caller.start()
    assert becomes_true(lambda: lines_of(log) >= 25)
    process.kill()
    process.communicate()
    caller.join()
    before = len(log.read_text().splitlines())
    assert 25 <= before < 60
    process, port = start()
    for _ in range(3):
        ask(port)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    calls = len(log.read_text().splitlines())
    assert process.returncode == 0
    assert before < calls <= most_calls + 3
    assert calls >= most_calls - 15  # not much more than the calls cut off is lost to caution


def test_a_budget_needs_a_price(tmp_path: Path) -> None:
    backend = MockBackend(clock=SystemClock())
    backend.traits = replace(backend.traits, free=False)
    with pytest.raises(PriceUnknownError), serving(backend, max_cost_per_day=1, budget_file=tmp_path / "book"):
        pass


def test_money_of_several_models_is_one_budget(tmp_path: Path) -> None:
    models = ("mock:echo?latency=0.01", "mock:echo?latency=0.02")
    with serving(
        None, model=models[0], models=models[1:], price=DEAR, max_cost_per_day=0.1, budget_file=tmp_path / "book"
    ) as house:
        items = [{"prompt": "x" * 396, "max_tokens": 100, "model": models[i % 2]} for i in range(40)]
        results = house.prompts(items, batch_size=8).json()["results"]
        assert sum(a["status"] == "success" for a in results) == 10  # a cent each
        assert spent(house) <= 0.1


def test_a_request_whose_money_cannot_be_written_down_is_not_sent(tmp_path: Path) -> None:
    backend = spender()
    with serving(backend, price=DEAR, max_cost_per_day=1, budget_file=tmp_path / "book") as house:
        full = tmp_path / f".book.{os.getpid()}.part"
        full.mkdir()
        answered = house.prompt(prompt="x", max_tokens=100)
        assert (answered.status, answered.code) == (503, "storage_failed")
        assert backend.calls == 0
        full.rmdir()
        assert house.prompt(prompt="x", max_tokens=100).status == 200


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_a_caller_that_goes_away_cancels_what_has_not_been_sent(accept: str) -> None:
    backend = MockBackend(clock=SystemClock(), latency_s=0.15)
    with serving(backend) as house:
        wire = sent(house, prompts=100, batch_size=5, accept=accept)
        assert becomes_true(lambda: backend.in_flight == 5)
        wire.close()
        assert becomes_true(lambda: house.application.admission.under_way == 0)
        assert backend.calls == 5
        assert backend.in_flight == 0  # those that were sent were let finish, and are booked
        assert house.prompt(prompt="next").status == 200


def test_too_many_waiting_prompts_are_turned_away_for_a_while() -> None:
    with serving(None, model="mock:echo?latency=0.5", max_open_prompts=10) as house:
        assert house.prompts(["x"] * 50).status == 200  # alone it may be as large as it likes
        with socket.create_connection((house.host, house.port), timeout=10) as wire:
            body = json.dumps({"prompts": [{"prompt": "x"}] * 8}).encode()
            head = f"POST {MANY} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            wire.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
            while house.application.admission.under_way == 0:
                pass
            answered = house.prompts(["x"] * 3)
            assert (answered.status, answered.code) == (503, "too_busy")
            assert int(answered.headers["retry-after"]) > 0
            wire.recv(100)


KEYS = ["the-first-key-of-two", "the-second-key-of-two"]


def quotas(keys: int = 2, **settings: int) -> Quotas:
    limits = ConnectionLimits(max_connections=4)
    return Quotas(ServerConfig(model="mock:echo", keys=key_ring(KEYS[:keys]), connections=limits, **settings))  # type: ignore[arg-type]


def test_a_lease_gives_back_all_it_held_whatever_happens() -> None:
    held = quotas()

    def fail() -> None:
        with Lease(held, 1) as lease:
            lease.take_bytes(100)
            lease.begin()
            lease.add_bytes(50)
            assert (held.bytes.used, held.requests.used) == (150, 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (held.bytes.used, held.requests.used) == (0, 0)


def test_one_caller_of_several_leaves_room_for_the_others_and_alone_has_all() -> None:
    several, alone = quotas(), quotas(keys=1)
    with Lease(several, 1) as first, Lease(several, 1) as second, Lease(several, 1) as third:
        first.begin()
        second.begin()
        with pytest.raises(ApiError, match="left for others") as refused:
            third.begin()
        assert refused.value.code == "too_busy"
        with Lease(several, 2) as other:
            other.begin()
    leases = [Lease(alone, 1) for _ in range(4)]
    for lease in leases:
        lease.begin()
    assert alone.requests.used == 4


def test_prompts_beyond_the_total_are_refused_unless_they_come_alone() -> None:
    held = quotas(max_open_prompts=10)
    held.take_prompts(1, 50)
    with pytest.raises(ApiError, match="50 of 10 prompts"):
        held.take_prompts(2, 1)


def test_calls_whose_caller_left_are_let_finish_when_the_server_ends(lines: list[dict[str, Any]]) -> None:
    backend = scripted(lambda request, _: text_of(request), latency_s=0.3)
    with serving(backend, grace_s=0.01) as house:
        with sent(house, 4, 2):
            assert becomes_true(lambda: backend.in_flight == 2)
        runs = house.application.admission._runs
        assert becomes_true(lambda: all(run.client_left for run in runs))
    request = next(line for line in lines if line["event"] == "request")
    assert (request["completed"], request["error_codes"], request["client_left"]) == (2, {"cancelled": 2}, True)

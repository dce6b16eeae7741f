"""The day's money: never more, whatever happens in between."""

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.errors import JournalDamagedError, JournalLockedError, JournalWriteError, PriceUnknownError
from batchwork.core.ledger import Ledger
from batchwork.core.money import NANO
from batchwork.core.reply import Reply, Usage
from batchwork.journal import DayBook
from batchwork.journal.daybook import day_of, seconds_left
from tests.server.house import House, serving

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
    while not log.exists() or len(log.read_text().splitlines()) < 25:
        time.sleep(0.005)
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
    backend._traits = replace(backend._traits, free=False)
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


# -- the book itself ------------------------------------------------------------------------------


class Calendar:
    def __init__(self) -> None:
        self.utc_s = 1_000_000.0

    def __call__(self) -> float:
        return self.utc_s


@pytest.fixture
def calendar() -> Calendar:
    return Calendar()


def opened(path: Path, calendar: Calendar, ceiling: int | None = 10_000) -> DayBook:
    return DayBook(path, ledger=Ledger(ceiling=ceiling), utc=calendar)


async def _cover(book: DayBook, amount: int) -> None:
    assert book.ledger.reserve(amount)
    await book.cover()


def test_the_mark_on_disk_is_never_below_what_is_spent_and_reserved(tmp_path: Path, calendar: Calendar) -> None:
    async def story() -> None:
        book = opened(tmp_path / "book", calendar)
        for _ in range(30):
            await _cover(book, 70)
            crashed = (tmp_path / "book").read_bytes()
            (tmp_path / "after").write_bytes(crashed)
            after = opened(tmp_path / "after", calendar)
            assert book.ledger.spent + book.ledger.reserved <= after.ledger.spent <= 30 * 70 + 100
            await after.aclose()
            book.ledger.settle(70, 20)
        await book.aclose()
        again = opened(tmp_path / "book", calendar)
        assert again.ledger.spent == 600
        await again.aclose()

    asyncio.run(story())


def test_a_new_day_has_a_new_budget_and_a_clock_that_goes_back_has_none(tmp_path: Path, calendar: Calendar) -> None:
    async def story() -> None:
        book = opened(tmp_path / "book", calendar)
        await _cover(book, 900)
        book.ledger.settle(900, 900)
        assert not book.turn_page()
        calendar.utc_s -= 100_000
        assert not book.turn_page()
        assert book.ledger.spent == 900
        calendar.utc_s += 100_000 + seconds_left(calendar.utc_s + 100_000)
        assert book.turn_page()
        assert (book.ledger.spent, book.day) == (0, day_of(calendar.utc_s))
        await book.aclose()
        assert opened(tmp_path / "book", calendar).ledger.spent == 0

    asyncio.run(story())


def test_a_clock_set_back_across_a_restart_gives_no_second_budget(
    tmp_path: Path, calendar: Calendar, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        book = opened(tmp_path / "book", calendar)
        await _cover(book, 900)
        book.ledger.settle(900, 900)
        await book.aclose()
        calendar.utc_s -= 100_000
        again = opened(tmp_path / "book", calendar)
        assert again.ledger.spent == 900
        assert "move the book away to start at $0" in caplog.text
        assert not again.turn_page()
        assert again.seconds_left() == 100_000 + seconds_left(calendar.utc_s + 100_000)
        await again.aclose()
        calendar.utc_s += 100_000
        assert opened(tmp_path / "book", calendar).ledger.spent == 900, "nor does coming back to the right day"

    asyncio.run(story())


def test_a_book_of_a_clock_that_was_far_ahead_is_moved_away_to_start_anew(tmp_path: Path, calendar: Calendar) -> None:
    async def story() -> None:
        calendar.utc_s += 4_000 * 86_400
        book = opened(tmp_path / "book", calendar)
        await _cover(book, 900)
        book.ledger.settle(900, 900)
        await book.aclose()
        calendar.utc_s -= 4_000 * 86_400
        again = opened(tmp_path / "book", calendar)
        assert (again.ledger.spent, again.seconds_left()) == (900, 4_000 * 86_400 + seconds_left(calendar.utc_s))
        await again.aclose()
        (tmp_path / "book").rename(tmp_path / "away")
        anew = opened(tmp_path / "book", calendar)
        assert (anew.ledger.spent, anew.day) == (0, day_of(calendar.utc_s))
        await anew.aclose()

    asyncio.run(story())


def test_one_process_writes_a_book_at_a_time(tmp_path: Path, calendar: Calendar) -> None:
    opened(tmp_path / "book", calendar)
    with pytest.raises(JournalLockedError):
        opened(tmp_path / "book", calendar)


@pytest.mark.parametrize("text", ["", "{}", '{"day": "1970-01-12", "spent_nano": 5, "check": 1}', "\xff"])
def test_a_book_that_cannot_be_trusted_is_not_read_as_zero(tmp_path: Path, calendar: Calendar, text: str) -> None:
    (tmp_path / "book").write_text(text, encoding="latin-1")
    with pytest.raises(JournalDamagedError):
        opened(tmp_path / "book", calendar)


def test_a_book_that_cannot_be_written_says_so(tmp_path: Path, calendar: Calendar) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(JournalWriteError):
        opened(tmp_path / "file" / "book", calendar)

    async def story() -> None:
        book, full = opened(tmp_path / "book", calendar), tmp_path / f".book.{os.getpid()}.part"
        full.mkdir()  # stands in for a disk that takes no more
        with pytest.raises(JournalWriteError):
            await _cover(book, 50)
        full.rmdir()
        await book.cover()
        await book.aclose()

    asyncio.run(story())


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

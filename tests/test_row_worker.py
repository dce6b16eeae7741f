"""Workers that share the rows of a table which nobody sees as a whole, on a real PostgreSQL; no Ray is needed."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

import batchwork
from batchwork.cli import app
from batchwork.core.block import SharedInput
from batchwork.core.dsn import Dsn
from batchwork.core.errors import ConfigError, InputError, JournalLockedError
from batchwork.core.event import Began, Ended
from batchwork.input_source import row_requests
from batchwork.options import defaults_of, plan_of, supplied_of
from batchwork.row_worker import RowWorker, check_columns
from tests.support.postgres_server import PostgresServer, why_not

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
pa = pytest.importorskip("pyarrow")


class Calls:
    """A run on one journal, and what a provider was asked in it."""

    def __init__(self, journal: str, folder: Path, **options: Any) -> None:
        self.journal, self.log, self.run = journal, folder / "calls.log", uuid.uuid4().hex
        self.options: Any = {
            "model": f"mock:echo?log={self.log}",
            "prompt": "say {word}",
            "price": (1, 1),
            "max_tokens": 20,
            "max_in_flight": 8,
            "journal": journal,
            **options,
        }

    @asynccontextmanager
    async def worker(self, name: str = "one", key: str | None = "id") -> AsyncIterator[RowWorker]:
        part = SharedInput(run=self.run, worker=name)
        plan = replace(plan_of(self.options), shares=True, joins=True, shared_input=part)
        requests = row_requests(self.options, defaults_of(self.options))
        assert requests is not None
        worker = RowWorker(plan, supplied_of(self.options), requests, key=key)
        try:
            yield worker
        finally:
            await asyncio.to_thread(worker.end)

    def asked(self) -> Counter[str]:
        return Counter(self.log.read_text().splitlines()) if self.log.exists() else Counter()

    def events(self) -> list[Any]:
        from batchwork.postgres.reader import DatabaseReader

        with closing(DatabaseReader(Dsn.parse(self.journal))) as reader:
            sums = reader.sums()
            assert sums.counts == reader.counts()
            assert sums.reserved == 0
            return list(reader.events())


@pytest.fixture
def calls(postgres: PostgresServer, tmp_path: Path) -> Calls:
    return Calls(postgres.journal(), tmp_path)


def rows(*words: object, first: int = 0) -> Any:
    return pa.table({"id": range(first, first + len(words)), "word": words, "beside": [b"much"] * len(words)})


def said(table: Any) -> list[Any]:
    return [row["response"] if row["status"] == "succeeded" else row["error"] for row in table.to_pylist()]


def test_two_workers_ask_every_row_once_and_another_number_of_them_asks_nothing_again(calls: Calls) -> None:
    words = [f"w{number}" for number in range(60)]
    parts = [rows(*words[at : at + 20], first=at) for at in (0, 20, 40, 0)]

    async def ask(*names: str) -> list[Any]:
        async with AsyncExitStack() as stack:
            workers = [await stack.enter_async_context(calls.worker(name)) for name in names]
            asked = [workers[at % len(workers)].answer(part) for at, part in enumerate(parts)]
            return await asyncio.gather(*asked)

    for names in (("one", "two"), ("three",)):
        found = asyncio.run(ask(*names))
        assert [answer for part in found[:3] for answer in said(part)] == [f"say {word}" for word in words]
        assert said(found[3]) == said(found[0])
        assert found[0].column("beside").to_pylist() == [b"much"] * 20
        assert sorted(calls.asked().values()) == [1] * 60
        kinds = [type(event) for event in calls.events() if isinstance(event, Began | Ended)]
        calls.run = uuid.uuid4().hex
    assert kinds == [Began, Ended] * 2


def test_a_rate_of_the_run_holds_for_all_workers_and_is_leased_from_its_journal(
    calls: Calls, postgres: PostgresServer
) -> None:
    calls.options |= {"rpm": 60_000}

    async def ask() -> list[Any]:
        async with calls.worker("one") as one, calls.worker("two") as two:
            return await asyncio.gather(one.answer(rows("a", "b")), two.answer(rows("c", first=2)))

    assert [answer for part in asyncio.run(ask()) for answer in said(part)] == ["say a", "say b", "say c"]
    schema = Dsn.parse(calls.journal).schema
    assert [stated for (stated,) in postgres.execute(f'SELECT stated FROM "{schema}".rate')] == [60_000.0]


def test_rows_that_ask_the_same_are_one_item_unless_they_have_keys(calls: Calls) -> None:
    async def ask(key: str | None) -> list[Any]:
        async with calls.worker("one", key) as one, calls.worker("two", key) as two:
            same = rows(*["w"] * 10)
            return await asyncio.gather(one.answer(same), two.answer(same))

    assert [said(part) for part in asyncio.run(ask(None))] == [["say w"] * 10] * 2
    assert [*calls.asked().values()] == [1]
    calls.run = uuid.uuid4().hex
    assert [said(part) for part in asyncio.run(ask("id"))] == [["say w"] * 10] * 2
    assert [*calls.asked().values()] == [11]


def test_what_cannot_be_asked_is_a_row_that_failed(calls: Calls) -> None:
    async def ask() -> Any:
        async with calls.worker() as one:
            table = pa.table({"id": [1, None, 3], "word": ["w1", "w2", "x" * 9], "status": ["old"] * 3})
            return await one.answer(table)

    calls.options["model"] += "&faults=server:1.0"
    calls.options |= {"retries": 0, "max_consecutive_failures": 100}
    found = asyncio.run(ask())
    assert found.column("status").to_pylist() == ["failed"] * 3
    assert found.column("input_status").to_pylist() == ["old"] * 3
    assert [error.partition(":")[0] for error in said(found)] == ["server", "bad_input", "server"]
    assert "the key, column 'id', is empty" in said(found)[1]
    calls.events()


def test_what_the_budget_does_not_cover_comes_out_deferred_and_a_later_run_takes_it_up(calls: Calls) -> None:
    async def ask() -> Counter[str]:
        async with calls.worker("one") as one, calls.worker("two") as two:
            parts = [rows(*(f"w{at + number}" for number in range(30)), first=at) for at in (0, 30)]
            found = await asyncio.gather(one.answer(parts[0]), two.answer(parts[1]))
        return Counter(status for part in found for status in part.column("status").to_pylist())

    calls.options["max_cost"] = "0.0003"
    first = asyncio.run(ask())
    assert set(first) == {"succeeded", "deferred"}
    calls.options["max_cost"], calls.run = "1", uuid.uuid4().hex
    assert asyncio.run(ask()) == {"succeeded": 60}
    assert set(calls.asked().values()) == {1}


@pytest.mark.parametrize("apart", [True, False])
def test_a_key_that_stands_for_two_requests_is_refused(calls: Calls, apart: bool) -> None:
    async def ask() -> None:
        async with calls.worker("one") as one, calls.worker("two") as two:
            if not apart:
                await one.answer(pa.table({"id": [7, 7], "word": ["a", "b"]}))
            await one.answer(rows("a", first=7))
            await two.answer(rows("b", first=7))

    with pytest.raises(InputError, match="the key 7 stands for two different requests: give every row a key"):
        asyncio.run(ask())


def test_a_row_that_has_changed_since_the_last_run_is_asked_anew(calls: Calls) -> None:
    async def ask(word: str) -> list[Any]:
        async with calls.worker() as one:
            return said(await one.answer(rows(word)))

    assert asyncio.run(ask("a")) == ["say a"]
    calls.run = uuid.uuid4().hex
    assert asyncio.run(ask("b")) == ["say b"]


def test_what_another_input_has_displaced_is_found_again(calls: Calls) -> None:
    async def ask() -> list[Any]:
        async with calls.worker(key=None) as one:
            return said(await one.answer(rows("a", "b")))

    assert asyncio.run(ask()) == ["say a", "say b"]
    options = {name: value for name, value in calls.options.items() if name != "prompt"}
    assert [outcome.text for outcome in batchwork.run(["say c", "say b"], **options)] == ["say c", "say b"]
    calls.run = uuid.uuid4().hex
    assert asyncio.run(ask()) == ["say a", "say b"]
    assert sorted(calls.asked().values()) == [1, 1, 1]
    calls.events()


def test_the_commands_know_a_journal_of_a_shared_input(calls: Calls) -> None:
    async def ask() -> None:
        async with calls.worker() as one:
            await one.answer(rows("a", "b"))

    calls.options["model"] += "&faults=server:1.0"
    calls.options["retries"] = 0
    asyncio.run(ask())
    for command, told in (
        ("status", "2 inputs = 0 succeeded + 2 failed"),
        ("worker", "0 items settled by this process"),
    ):
        ran = CliRunner().invoke(app, [command, calls.journal])
        assert told in ran.output
    ran = CliRunner().invoke(app, ["retry", calls.journal, "-o", str(calls.log.with_name("out.jsonl"))])
    assert "2 inputs" in ran.output


def test_another_run_is_turned_away_while_one_is_at_work(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batchwork.postgres.writer._BEGIN_S", 0.2)

    async def ask() -> None:
        async with calls.worker("one") as one:
            await one.answer(rows("a"))
            calls.run = uuid.uuid4().hex
            async with calls.worker("two") as two:
                await two.answer(rows("b"))

    with pytest.raises(JournalLockedError, match="is being written by one"):
        asyncio.run(ask())


def test_whoever_comes_back_under_its_name_takes_its_calls_over_at_once(calls: Calls) -> None:
    async def ask() -> tuple[list[Any], list[Any]]:
        async with calls.worker("one") as lost:
            under_way = asyncio.create_task(lost.answer(rows("slow")))
            while not calls.asked():  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            async with calls.worker("one") as again:
                return said(await again.answer(rows("slow"))), said(await under_way)

    calls.options["model"] += "&latency=1"
    assert asyncio.run(ask()) == (["say slow"], ["say slow"])
    assert 2 <= calls.asked().total() <= 3


def test_the_journal_keeps_what_was_asked_and_not_what_else_there_is(calls: Calls) -> None:
    from batchwork.postgres.reader import DatabaseReader

    async def ask() -> None:
        async with calls.worker() as one:
            await one.answer(rows("a"))

    asyncio.run(ask())
    with closing(DatabaseReader(Dsn.parse(calls.journal))) as reader:
        assert [entry.columns for entry in reader.entries()] == [{"id": 0, "word": "a"}]


def test_columns_that_are_missing_are_named(calls: Calls) -> None:
    requests = row_requests(calls.options, defaults_of(calls.options))
    assert requests is not None
    with pytest.raises(ConfigError, match=r"asks for 'word', which the dataset does not have. Did you mean 'words'"):
        check_columns(requests, ["id", "words"], "id")
    with pytest.raises(ConfigError, match=r"key names the column 'id', which the dataset does not have. .* are: word"):
        check_columns(requests, ["word"], "id")


@pytest.mark.scale
def test_a_database_that_crashes_thrice_loses_and_doubles_nothing(tmp_path: Path) -> None:
    server = PostgresServer()
    calls = Calls(server.journal(), tmp_path, max_cost="1")
    calls.options["model"] += "&latency=0.2"
    parts = [rows(*(f"w{at + number}" for number in range(20)), first=at) for at in range(0, 600, 20)]

    async def feed(worker: RowWorker, some: list[Any]) -> list[Any]:
        return [answer for part in some for answer in said(await worker.answer(part))]

    async def crash() -> None:
        for asked in (100, 250, 400):
            while calls.asked().total() < asked:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            await asyncio.to_thread(server.crash)

    async def ask() -> list[list[Any]]:
        async with calls.worker("one") as one, calls.worker("two") as two:
            crashing = asyncio.create_task(crash())
            feeds = [feed((one, two)[at % 2], parts[at::4]) for at in range(4)]
            found = await asyncio.gather(*feeds)
            await crashing
            return found

    try:
        found = asyncio.run(ask())
        assert sorted(answer for some in found for answer in some) == sorted(f"say w{number}" for number in range(600))
        assert Counter(calls.asked().values()) == {1: 600}
        calls.events()
    finally:
        server.close()

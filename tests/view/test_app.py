"""The pages of a journal: who may see them, that nothing in them is taken for markup, and that each has its twin."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient, TestServer

from batchwork.core.errors import ConfigError
from batchwork.view.app import ViewApp
from batchwork.view.watch import JournalWatch
from tests.support.journals import BEGAN, Pass, row, run_pass, settle, sqlite_journal, succeeded
from tests.support.view_pages import HOSTILE, TOKEN, Elements, answers, hostile_journal


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[JournalWatch]:
    hostile_journal(tmp_path / "run.db")
    with closing(JournalWatch(tmp_path / "run.db", tmp_path)) as watch:
        while watch.catch_up():
            pass
        yield watch


PAGES = ["/", "/items", "/items?words=script&sort=paid", "/items/0", "/items/1", "/items?words=%3Cscript%3E&page=x"]


@pytest.mark.parametrize("path", PAGES)
def test_nothing_that_a_model_or_a_user_wrote_becomes_markup(watch: JournalWatch, path: str) -> None:
    ((status, text, headers),) = answers(watch, f"/{TOKEN}{path}")
    assert status == (400 if "page=x" in path else 200)
    seen = Elements(text)
    assert seen.tags.count("script") == 1, "the page's own"
    assert "img" not in seen.tags
    assert not [name for name in seen.attributes if name.startswith("on") or name == "style"]
    assert "alert(1)</script>" not in text
    assert "49" not in text or "{{ 7*7 }}" in text
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert (headers["Referrer-Policy"], headers["X-Content-Type-Options"]) == ("no-referrer", "nosniff")


def test_an_item_shows_every_call_with_what_is_known_of_it(watch: JournalWatch) -> None:
    (page,) = answers(watch, f"/{TOKEN}/items/0.json")
    item = json.loads(page[1])
    assert [(call["number"], call["result"], call["why_again"]) for call in item["calls"]] == [
        (1, "server", "tried again"),
        (2, "succeeded", ""),
    ]
    assert item["calls"][0] | {"message": HOSTILE, "request_id": HOSTILE, "latency_s": 0.5} == item["calls"][0]
    assert json.loads(item["value"]) == {HOSTILE: HOSTILE}


def test_every_page_has_a_twin_with_the_same_figures(watch: JournalWatch) -> None:
    run, items, item = (
        json.loads(text)
        for _, text, _ in answers(
            watch, f"/{TOKEN}/run.json", f"/{TOKEN}/items.json?status=failed", f"/{TOKEN}/items/1.json"
        )
    )
    assert (run["counts"]["failed"], run["total"], run["read"], run["state"]) == (1, 9, 2, "stopped")
    assert run["headline"] == f"Paused: {HOSTILE}"
    assert run["failures"][0]["place"] == items["items"][0]["place"] == item["place"] == 1
    assert run["spent_nano"] == 12


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", {}, 404),
        ("/wrong/items", {}, 404),
        (f"/{TOKEN}x/items", {}, 404),
        (f"/{TOKEN}/", {"Host": "evil.example"}, 403),
        (f"/{TOKEN}/", {"Host": "127.0.0.1.evil.example:80"}, 403),
        (f"/{TOKEN}/", {"Host": "localhost:1"}, 200),
        (f"/{TOKEN}/", {"Host": "127.0.0.1"}, 200),
        (f"/{TOKEN}/items/999", {}, 404),
        (f"/{TOKEN}/items/%2e%2e/%2e%2e/view.css", {}, 404),
        (f"/{TOKEN}/view.css", {}, 200),
        (f"/{TOKEN}/index_tables.sql", {}, 404),
    ],
)
def test_a_page_is_shown_to_whoever_has_the_token_under_a_name_of_this_machine(
    watch: JournalWatch, path: str, headers: dict[str, str], status: int
) -> None:
    ((found, text, _),) = answers(watch, path, headers=headers)
    assert found == status
    if status in (403, 404):
        assert HOSTILE not in text


def test_a_selection_is_downloaded_in_every_format(watch: JournalWatch) -> None:
    lines, table, other, parquet = answers(
        watch,
        *(f"/{TOKEN}/items.{kind}?status=succeeded" for kind in ("jsonl", "csv")),
        f"/{TOKEN}/items.jsonl?kind=rejected",
        f"/{TOKEN}/items.parquet",
    )
    assert json.loads(lines[1])["response"] == HOSTILE
    assert "attachment" in lines[2]["Content-Disposition"]
    assert table[1].count("\n") >= 2
    assert json.loads(other[1])["status"] == "failed"
    assert parquet[1].startswith("PAR1")


def test_a_page_is_told_when_there_is_news(tmp_path: Path) -> None:
    path = tmp_path / "live.db"
    journal = sqlite_journal(path)
    run_pass(journal, Pass([("a", None)], ["succeeded"]))
    journal.flush()

    async def main() -> list[bytes]:
        heard = []
        server = TestServer(ViewApp(watch, TOKEN).application, host="127.0.0.1")
        async with TestClient(server) as client, client.get(f"/{TOKEN}/events") as events:
            heard.append(await events.content.readuntil(b"\n\n"))
            journal.begin(BEGAN)
            settle(journal, journal.place(1, row("b")).item, succeeded(1))
            journal.flush()
            watch.catch_up()
            heard.append(await events.content.readuntil(b"\n\n"))
        return heard

    with closing(JournalWatch(path, tmp_path)) as watch:
        while watch.catch_up():
            pass
        before, after = asyncio.run(main())
    journal.close()
    assert before != after


def test_the_page_of_a_very_large_run_is_shown_as_it_was_and_the_next_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("batchwork.view.app._MANY", 0)
    journal = sqlite_journal(tmp_path / "live.db")
    run_pass(journal, Pass([("a", None)], ["succeeded"]))
    journal.flush()

    async def main() -> list[int]:
        server = TestServer(ViewApp(watch, TOKEN).application, host="127.0.0.1")
        done = []
        async with TestClient(server) as client, client.get(f"/{TOKEN}/events") as events:
            told = [await events.content.readuntil(b"\n\n")]
            done.append((await (await client.get(f"/{TOKEN}/run.json")).json())["done"])
            journal.begin(BEGAN)
            settle(journal, journal.place(1, row("b")).item, succeeded(1))
            journal.flush()
            watch.catch_up()
            told.append(await events.content.readuntil(b"\n\n"))
            done.append((await (await client.get(f"/{TOKEN}/run.json")).json())["done"])
            told.append(await events.content.readuntil(b"\n\n"))
            done.append((await (await client.get(f"/{TOKEN}/run.json")).json())["done"])
        assert len(set(told)) == 3
        return done

    with closing(JournalWatch(tmp_path / "live.db", tmp_path)) as watch:
        while watch.catch_up():
            pass
        assert asyncio.run(main()) == [1, 1, 2]
    journal.close()


def test_a_journal_of_an_older_version_is_shown_as_well(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).parents[1] / "data" / "journals" / "v0.1-batches.db", tmp_path / "run.db")
    with closing(JournalWatch(tmp_path / "run.db", tmp_path)) as watch:
        while watch.catch_up():
            pass
        pages = answers(watch, *(f"/{TOKEN}{path}" for path in ("/", "/items", "/items/0", "/run.json")))
    assert [status for status, _, _ in pages] == [200] * 4
    assert json.loads(pages[3][1])["batches"] != []


def test_an_index_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    hostile_journal(tmp_path / "run.db")
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(ConfigError, match="XDG_CACHE_HOME"):
        JournalWatch(tmp_path / "run.db", tmp_path / "cache")

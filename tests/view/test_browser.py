"""The viewer in a real browser: live, by keyboard, narrow and wide, light and dark, and nothing from anywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from batchwork.server.keys import key_ring
from batchwork.view.export import write_report
from perf.view import write_journal
from tests.server.house import serving
from tests.support.browser import RunProgram, Window, chromium, viewer
from tests.support.journals import BEGAN, row, settle, sqlite_journal, succeeded
from tests.support.view_documents import document_journal
from tests.support.view_pages import hostile_journal

pytestmark = pytest.mark.browser
LOOKS = [("light", 1200), ("dark", 1200), ("light", 390), ("dark", 390)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def window(browser: Any) -> Iterator[Window]:
    window = Window(browser)
    yield window
    window.close()


def is_clean(window: Window) -> None:
    assert window.troubles == []
    assert window.hosts <= {"127.0.0.1"}


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_smoke_every_page_can_be_read_by_everybody_and_fits(
    tmp_path: Path, browser: Any, scheme: str, width: int
) -> None:
    hostile_journal(tmp_path / "run.db")
    document_journal(tmp_path)
    window = Window(browser, scheme=scheme, width=width)
    for journal, paths in (
        ("run.db", ["", "items", "items?status=failed&min_cost=0", "items/0", "items/1", "nowhere"]),
        ("state.json.journal", ["", "items/0", "items/0/documents/0"]),
    ):
        with viewer(tmp_path / journal) as url:
            for path in paths:
                window.page.goto(url + path)
                if path == "nowhere":
                    window.troubles.clear()  # the browser's own word for a 404
                assert window.findings() == [], path
                assert window.page.evaluate("document.documentElement.scrollWidth") <= width, path
    is_clean(window)
    window.close()


def test_smoke_a_page_grows_with_the_journal(tmp_path: Path, window: Window) -> None:
    journal = sqlite_journal(tmp_path / "run.db")
    journal.begin(BEGAN)
    settle(journal, journal.place(0, row("a")).item, succeeded(0))
    journal.flush()
    with viewer(tmp_path / "run.db") as url:
        window.page.goto(url)
        window.page.get_by_role("heading", name="Running").wait_for()
        done = window.page.locator(".figure", has_text="Done").locator("dd")
        assert done.inner_text().split()[0] == "1"
        for place in range(1, 40):
            settle(journal, journal.place(place, row(f"p{place}")).item, succeeded(place))
        journal.flush()
        done.get_by_text("40").wait_for()
        assert window.page.evaluate("performance.getEntriesByType('navigation').length") == 1, "it was not loaded anew"
        is_clean(window)
    journal.close()
    window.page.locator("#lost").wait_for(state="visible")


def test_a_kill_and_a_resume_show_under_an_open_page(tmp_path: Path, window: Window) -> None:
    run = RunProgram(tmp_path, prompts=400, in_flight=4)
    run.wait_for_journal()
    with viewer(run.journal) as url:
        window.page.goto(url)
        window.page.get_by_role("heading", name="Running").wait_for()
        window.page.locator(".chart .good").first.wait_for(state="attached")
        run.kill()
        window.page.get_by_role("heading", name="Cut off").wait_for()
        again = RunProgram(tmp_path, prompts=400, in_flight=100)
        window.page.get_by_role("heading", name="Finished", exact=True).wait_for()
        again.end()
        states = [one.get_attribute("class") for one in window.page.locator(".runs li").all()]
        assert states == ["cut_off", "finished"]
        assert window.page.locator(".chart .break").count() >= 1
        window.page.locator(".figure dd").get_by_text("400").first.wait_for()
        is_clean(window)


def test_smoke_everything_can_be_reached_by_keyboard(tmp_path: Path, window: Window) -> None:
    write_journal(tmp_path / "run.db", 300)
    with viewer(tmp_path / "run.db") as url:
        page = window.page
        page.goto(url)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("i")
        page.get_by_role("heading", name="Items", exact=True).wait_for()
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Item 1").wait_for()
        page.keyboard.press("j")
        page.get_by_role("heading", name="Item 2").wait_for()
        page.keyboard.press("k")
        page.get_by_role("heading", name="Item 1").wait_for()
        page.keyboard.press("i")
        page.get_by_role("heading", name="Items", exact=True).wait_for()
        page.keyboard.press("/")
        page.keyboard.type("number 217 rise")
        page.keyboard.press("Enter")
        page.get_by_text("of 300").wait_for()
        assert page.locator("[data-row]").all_inner_texts() == ["217"]
        page.keyboard.press("r")
        page.get_by_role("heading", name="Finished,").wait_for()
        is_clean(window)


@pytest.mark.slow
def test_a_million_items_are_looked_through_as_easily_as_a_few(tmp_path: Path, window: Window) -> None:
    write_journal(tmp_path / "run.db", 1_000_000)
    with viewer(tmp_path / "run.db") as url:
        page = window.page
        page.set_default_timeout(120_000)
        page.goto(url)
        page.get_by_text("Reading the journal:").wait_for()
        page.get_by_role("heading", name="Finished,").wait_for()
        page.locator(".figure", has_text="Done").get_by_text("1,000,000").wait_for()
        page.get_by_text("Reading the journal:").wait_for(state="detached")
        page.set_default_timeout(5_000)
        page.keyboard.press("i")
        page.get_by_role("heading", name="Items", exact=True).wait_for()
        for words, found in (("number 654321 rise", ["654321"]), ("nowhere", [])):
            page.keyboard.press("/")
            page.keyboard.press("Control+a")
            page.keyboard.type(words)
            page.keyboard.press("Enter")
            page.get_by_text("of 1,000,000").wait_for()
            assert page.locator("[data-row]").all_inner_texts() == found
        page.goto(f"{url}items?sort=latency&order=desc&page=9000")
        assert page.locator("[data-row]").count() > 0
        page.goto(f"{url}items/999999")
        page.get_by_role("heading", name="Item 999999").wait_for()
        is_clean(window)


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_a_field_leads_to_its_place_and_the_place_back_to_the_field(
    tmp_path: Path, browser: Any, scheme: str, width: int
) -> None:
    document_journal(tmp_path)
    window = Window(browser, scheme=scheme, width=width)
    with viewer(tmp_path / "state.json.journal") as url:
        page = window.page
        page.goto(f"{url}items/0/documents/0")
        page.get_by_role("link", name="A-17").first.click()
        title = page.evaluate("document.querySelector('.sheet .mark:target title').textContent")
        assert title.startswith("invoice_number")
        in_sight = (
            "([one]) => { const box = one.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight }"
        )
        assert page.eval_on_selector_all(".sheet .mark.chosen", in_sight)
        page.locator(".sheet .mark:target").click()
        assert page.evaluate("document.querySelector('.fields a:target').innerText").startswith("A-17")
        assert page.eval_on_selector_all(".fields .chosen", in_sight)
        assert page.locator(".chosen").count() == 2
        is_clean(window)
    window.close()


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_the_services_page_can_be_read_by_everybody_and_opens_to_a_key(browser: Any, scheme: str, width: int) -> None:
    key = "a-key-that-is-long-enough"
    window = Window(browser, scheme=scheme, width=width)
    with serving(keys=key_ring([key])) as house:
        window.page.goto(f"http://127.0.0.1:{house.port}/")
        assert window.findings() == []
        window.page.get_by_label("API key").fill(key)
        window.page.keyboard.press("Enter")
        window.page.get_by_role("heading", name="Serving").wait_for()
        assert window.findings() == []
        assert window.page.evaluate("document.cookie") == "", "no script can read it"
        assert window.page.evaluate("document.documentElement.scrollWidth") <= width
    is_clean(window)
    window.close()


def test_a_report_opens_as_a_file_and_asks_for_nothing(tmp_path: Path, window: Window) -> None:
    hostile_journal(tmp_path / "run.db")
    write_report(tmp_path / "run.db", tmp_path, tmp_path / "report.html", say=print)
    window.page.goto((tmp_path / "report.html").as_uri())
    window.page.locator(".report-item summary").first.click()
    window.page.get_by_role("heading", name="Answered").first.wait_for()
    assert window.findings() == []
    assert window.hosts == {"none"}
    assert window.troubles == []

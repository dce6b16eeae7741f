"""A run as one file to send to somebody: the page about it, and its items, or a sample of them where they are many.

The file stands alone and runs no script. It is at most `LARGEST` bytes: every kind of failure comes first, then items
from all over the input, as many as fit; and the file says so.
"""

import base64
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

from markupsafe import Markup

from batchwork.clock import SystemClock, stopwatch
from batchwork.core.dsn import JournalAddress, name_of
from batchwork.core.errors import ConfigError
from batchwork.core.failure import FailureKind
from batchwork.core.outcome import Status
from batchwork.core.words import counted
from batchwork.journal.atomic import write_atomically
from batchwork.view.item_page import ItemPage, item_page
from batchwork.view.pages import HERE, render
from batchwork.view.run_page import run_page
from batchwork.view.selection import Selection
from batchwork.view.watch import JournalWatch

LARGEST = 5_000_000
_ROOM = 4_800_000  # what the page may grow to while items are added
_MOST_ITEMS = 2_000
_LARGEST_ITEM = 250_000
_OF_EACH_KIND = 20
_MARK = b"<!-- a batchwork report -->"
_SAY_EVERY_S = 5.0


def write_report(journal: JournalAddress, cache: Path, path: Path, *, say: Callable[[str], None]) -> str:
    """Write the report; what was done, in a sentence.

    Raises ConfigError: there is a file that is no report, or it cannot be written; JournalError: there is no journal,
    or it cannot be read.
    """
    _refuse_foreign(path)
    body, shown, total = report_of(journal, cache, say=say)
    try:
        write_atomically(path, body)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror or error}") from error
    sampled = "" if shown == total else f" (a sample: {shown:,} of {total:,})"
    return f"{path} written: {len(body) / 1e6:.1f} MB, {counted(shown, 'item')}{sampled}"


def report_of(journal: JournalAddress, cache: Path, *, say: Callable[[str], None]) -> tuple[bytes, int, int]:
    """The report, how many items it shows, and how many there are. Raises JournalError as `write_report` does."""
    with closing(JournalWatch(journal, cache)) as watch:
        _fill(watch, say)
        return _report(watch)


def _refuse_foreign(path: Path) -> None:
    try:
        with path.open("rb") as file:
            is_report = _MARK in file.read(200)
    except FileNotFoundError:
        return
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error
    if not is_report:
        raise ConfigError(f"{path} exists and is no report of a run; name another file")


def _fill(watch: JournalWatch, say: Callable[[str], None]) -> None:
    elapsed, said = stopwatch(), 0.0
    while watch.catch_up():
        if elapsed() - said > _SAY_EVERY_S:
            said = elapsed()
            say(f"reading the journal: {watch.progress.done:,} of {watch.progress.total:,} events")


def _report(watch: JournalWatch) -> tuple[bytes, int, int]:
    now = SystemClock().utc()
    style = (HERE / "view.css").read_text("utf-8")
    page = run_page(watch, now=now)
    room = _ROOM - len(style) - 120_000  # for the charts
    items: list[Markup] = []
    places: set[int] = set()
    for place in _places(watch):
        if place in places or (found := item_page(watch, place)) is None:
            continue
        rendered = _item(found)
        size = len(rendered.encode("utf-8", "replace"))
        if size <= min(room, _LARGEST_ITEM):
            items.append(Markup(rendered))  # noqa: S704 - made by our own templates, which escape
            places.add(place)
            room -= size
        if len(items) >= _MOST_ITEMS or room < 2_000:
            break
    text = render(
        "report.html",
        page=page,
        name=name_of(watch.journal),
        made_at=now,
        style=Markup(style),  # noqa: S704 - our own
        style_hash=base64.b64encode(sha256(style.encode()).digest()).decode(),
        shown=items,
        note=_note(len(items), page.read),
        is_live=False,
        to=lambda path: _anchor(path, places),
    )
    return text.encode("utf-8", "replace"), len(items), page.read


def _note(shown: int, total: int) -> str:
    if shown == total:
        return f"All {counted(total, 'item')}, those that failed first."
    return (
        f"A sample: {shown:,} of {counted(total, 'item')}. Some of every kind of failure come first, then items from"
        " all over the input; the viewer shows all of them."
    )


def _item(page: ItemPage) -> str:
    text = page.turns[-1].text if page.turns else ""
    return render("report_item.html", page=page, title=" ".join(text[:300].split())[:120], is_live=False, to=str)


def _anchor(path: str, places: set[int]) -> str:
    """Where a link of the live page leads in the file."""
    _, _, place = path.partition("/items/")
    return f"#item-{place}" if place.isdigit() and int(place) in places else "#items"


def _places(watch: JournalWatch) -> Iterator[int]:
    """The places that a report shows, the most telling first."""
    column = watch.columns.now()["place"]
    for kind in FailureKind:
        for item in watch.columns.select(Selection(kind=(kind.value,)))[:_OF_EACH_KIND]:
            yield int(column[item])
    for status in (Status.DEFERRED, Status.PENDING):
        for item in watch.columns.select(Selection(status=(status.value,)))[:_OF_EACH_KIND]:
            yield int(column[item])
    everybody = watch.columns.select(Selection())
    step = max(1, len(everybody) // _MOST_ITEMS)
    for item in everybody[::step]:
        yield int(column[item])

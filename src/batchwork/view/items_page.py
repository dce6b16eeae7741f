"""The figures of the page that lists items, and the rows of a selection as a file."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import msgspec

from batchwork.core.outcome import Failed
from batchwork.core.ports import Entry
from batchwork.journal import JournalReader
from batchwork.results import input_columns
from batchwork.tables import result_columns, result_values, write_table
from batchwork.view.columns import Array
from batchwork.view.fold import prompt_text
from batchwork.view.selection import PAGE, Selection
from batchwork.view.watch import JournalWatch

_SNIPPET = 160
_SAMPLE_ROWS = 100  # whose columns are those of a download
FORMATS = ("jsonl", "csv", "parquet")


class ItemLine(msgspec.Struct, frozen=True, kw_only=True):
    """One item in the list."""

    place: int
    status: str
    kind: str | None
    label: str | None
    prompt: str
    answer: str
    cost_nano: int | None
    latency_s: float
    input_tokens: int
    output_tokens: int
    attempts: int


class ItemsPage(msgspec.Struct, frozen=True, kw_only=True):
    """Everything on the page."""

    found: int
    total: int
    page: int
    pages: int
    items: list[ItemLine]
    note: str | None  # about a search that found too much
    indexed: int
    events: int
    problem: str | None


def items_page(watch: JournalWatch, selection: Selection) -> ItemsPage:
    """The page of a selection, as far as the index is filled."""
    columns, progress = watch.columns, watch.progress
    with watch.reading() as (reader, _):
        last = reader.last_run()
        is_priced = last is None or last.priced
    found, note = _found(watch, selection)
    pages = max(1, -(-len(found) // PAGE))
    page = min(selection.page, pages)
    shown = found[(page - 1) * PAGE : page * PAGE]
    with watch.reading() as (reader, _):
        entries = [entry for item in shown if (entry := reader.entry(int(item))) is not None]
    return ItemsPage(
        found=len(found),
        total=int(columns.now().placed.sum()),
        page=page,
        pages=pages,
        items=[_line(entry, is_priced=is_priced) for entry in entries],
        note=note,
        indexed=progress.done,
        events=progress.total,
        problem=progress.problem,
    )


def _found(watch: JournalWatch, selection: Selection) -> tuple[Array, str | None]:
    hits, note = None, None
    if terms := selection.terms:
        with watch.reading() as (_, index):
            hits = index.with_words(terms)
        if hits.most is not None:
            note = f"These words are common: the first {hits.most:,} items that have them are looked at."
    elif selection.words:
        note = "There is no word in what is looked for: letters and digits are."
    return watch.columns.select(selection, hits), note


def neighbours(watch: JournalWatch, selection: Selection, item: int) -> tuple[int | None, int | None]:
    """The places of the items before and behind one in a selection."""
    found, _ = _found(watch, selection)
    at = (found == item).nonzero()[0]
    if not len(at):
        return None, None
    places, here = watch.columns.now()["place"], int(at[0])
    before = int(places[found[here - 1]]) if here else None
    return before, int(places[found[here + 1]]) if here + 1 < len(found) else None


def _line(entry: Entry, *, is_priced: bool) -> ItemLine:
    outcome, request = entry.outcome, entry.request
    usage = None if outcome is None else outcome.usage
    answer = "" if outcome is None else outcome.text or outcome.error or ""
    return ItemLine(
        place=entry.index,
        status=entry.status.value,
        kind=outcome.failure.kind.value if isinstance(outcome, Failed) else None,
        label=None if request is None else request.label,
        prompt=_snippet("" if request is None else prompt_text(request)),
        answer=_snippet(answer),
        cost_nano=entry.paid_nano if is_priced or entry.paid_nano else None,
        latency_s=0.0 if outcome is None else outcome.latency_s,
        input_tokens=0 if usage is None else usage.input_tokens,
        output_tokens=0 if usage is None else usage.output_tokens,
        attempts=entry.attempts,
    )


def _snippet(text: str) -> str:
    short = " ".join(text[: 4 * _SNIPPET].split())
    return short if len(short) <= _SNIPPET else short[:_SNIPPET].rstrip() + " …"


def write_selection(watch: JournalWatch, selection: Selection, path: Path) -> int:
    """Write the rows of a selection to a file, as `batchwork results` writes them; how many there were."""
    found, _ = _found(watch, selection)
    with watch.reading() as (reader, _):
        columns = result_columns(dict.fromkeys(chain(*map(input_columns, _entries(reader, found[:_SAMPLE_ROWS])))))
        with write_table(path, columns.names, csv_safe=True) as table:
            for entry in _entries(reader, found):
                if entry.outcome is not None:
                    table.write(columns.row(input_columns(entry), result_values(entry.outcome)))
            return table.rows


def _entries(reader: JournalReader, items: Array) -> Iterator[Entry]:
    for item in items:
        if (entry := reader.entry(int(item))) is not None:
            yield entry

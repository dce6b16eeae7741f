"""What a page of events changes in the side index: the rows of items, calls that failed, runs, batches, words.

The same fold as `core.runstate.fold`, which is the oracle of its tests, with what people filter and sort by beside it.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable

import msgspec

from batchwork.core.event import (
    Attempted,
    BatchClosed,
    BatchIntended,
    BatchReopened,
    BatchSubmitted,
    Began,
    Ended,
    Event,
    Opened,
    Reopened,
    Settled,
)
from batchwork.core.failure import FailureKind
from batchwork.core.outcome import Failed, Status, Succeeded
from batchwork.core.reply import ReportedLimits
from batchwork.core.request import Request
from batchwork.view.words import indexed_text

STATUSES = tuple(Status)  # the place of a status here is its number in the index
KINDS = tuple(FailureKind)  # the place of a kind here, counted from 1, is its number; 0 is none
_STATUS = {status: number for number, status in enumerate(STATUSES)}
_KIND = {kind: number for number, kind in enumerate(KINDS, start=1)}
_WORDS_OF = 20_000  # characters of a text whose words are indexed


class Row(msgspec.Struct, gc=False, eq=False):
    """An item in the index. Its fields are the columns, in their order."""

    id: int
    place: int | None = None
    status: int = 0
    kind: int = 0
    paid: int = 0
    latency: float = 0.0
    input: int = 0
    output: int = 0
    attempts: int = 0
    opened_at: float = 0.0
    settled_at: float = 0.0
    settled_seq: int = 0


_FIELDS = ", ".join(Row.__struct_fields__)
_PUT = f"INSERT OR REPLACE INTO item ({_FIELDS}) VALUES ({', '.join('?' for _ in Row.__struct_fields__)})"  # noqa: S608
_LATEST = (
    "UPDATE run SET last_at = coalesce(?, last_at), limits = coalesce(?, limits) WHERE seq = (SELECT max(seq) FROM run)"
)
_ONE = f"SELECT {_FIELDS} FROM item WHERE "  # noqa: S608


class Fold:
    """Applies events to the open transaction of an index; `finish` writes what is still in memory."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.rows: dict[int, Row] = {}  # those that have changed
        self._places: dict[int, int | None] = {}  # who stands where, as far as that has changed
        self._misses: Counter[tuple[int, int]] = Counter()
        self._prompts: list[tuple[int, str]] = []
        self._answers: list[tuple[int, str]] = []
        self._trace: list[tuple[int, int]] = []
        (top,) = connection.execute("SELECT coalesce(max(place), -1) FROM item").fetchone()
        self._top: int = top  # nobody stands beyond
        self._last_at: float | None = None  # when the latest run was last at work
        self._limits: ReportedLimits | None = None  # as the provider told them last
        self._changes: dict[type, Callable[[int, float, Event], None]] = {
            Opened: self._opened,
            Attempted: self._attempted,
            Settled: self._settled,
            Reopened: self._reopened,
            Began: self._began,
            Ended: self._ended,
            BatchIntended: self._batch,
            BatchSubmitted: self._batch,
            BatchClosed: self._batch,
            BatchReopened: self._batch,
        }

    def apply(self, seq: int, at: float, event: Event) -> None:
        """Move on by one event."""
        if (change := self._changes.get(type(event))) is not None:
            change(seq, at, event)
        if not (isinstance(event, Attempted) and is_cut_off(event)):
            self._last_at = at

    def _row(self, item: int) -> Row:
        if (row := self.rows.get(item)) is None:
            values = self._connection.execute(_ONE + "id = ?", (item,)).fetchone()
            row = self.rows[item] = Row(item) if values is None else Row(*values)
        return row

    def _opened(self, _seq: int, at: float, event: Event) -> None:
        assert isinstance(event, Opened)
        row = self._row(event.item)
        if event.request is not None:
            row.opened_at = at
            self._prompts.append((row.id, indexed_text(prompt_text(event.request)[:_WORDS_OF])))
        holder = self._holder(event.index)
        if holder is not None and holder is not row:
            holder.place = None
        if row.place is not None and self._places.get(row.place, row.id) == row.id:
            self._places[row.place] = None
        row.place = event.index
        self._places[event.index] = row.id
        self._top = max(self._top, event.index)

    def _holder(self, place: int) -> Row | None:
        if place in self._places:
            item = self._places[place]
            return None if item is None else self.rows[item]
        if place > self._top:
            return None
        found = self._connection.execute("SELECT id FROM item WHERE place = ?", (place,)).fetchone()
        row = None if found is None else self._row(found[0])
        return row if row is not None and row.place == place else None

    def _attempted(self, seq: int, at: float, event: Event) -> None:
        assert isinstance(event, Attempted)
        row = self._row(event.item)
        row.attempts += 1 if event.charged_nano >= 0 else -1
        row.paid += event.charged_nano
        row.latency = event.latency_s or row.latency
        self._trace.append((row.id, seq))
        if event.charged_nano >= 0:
            self._misses[int(at), _KIND[event.kind]] += 1

    def _settled(self, seq: int, at: float, event: Event) -> None:
        assert isinstance(event, Settled)
        row, outcome = self._row(event.item), event.outcome
        if row.settled_seq:
            self._trace.append((row.id, row.settled_seq))
        row.status = _STATUS[outcome.status]
        row.kind = _KIND[outcome.failure.kind] if isinstance(outcome, Failed) else 0
        row.paid += event.charged_nano
        row.attempts = outcome.attempts
        row.latency = outcome.latency_s
        if outcome.usage is not None:
            row.input, row.output = outcome.usage.input_tokens, outcome.usage.output_tokens
        row.settled_at, row.settled_seq = at, seq
        if isinstance(outcome, Succeeded) and outcome.reply.limits is not None:
            self._limits = outcome.reply.limits
        text = outcome.text if outcome.text is not None else outcome.error
        if text:
            self._answers.append((seq, indexed_text(text[:_WORDS_OF])))

    def _reopened(self, seq: int, _at: float, event: Event) -> None:
        assert isinstance(event, Reopened)
        row = self._row(event.item)
        row.status = row.kind = 0
        self._trace.append((row.id, seq))

    def _began(self, seq: int, at: float, _event: Event) -> None:
        self._write_run()
        self._connection.execute("INSERT INTO run (seq, began_at, last_at) VALUES (?, ?, ?)", (seq, at, at))

    def _ended(self, seq: int, at: float, event: Event) -> None:
        assert isinstance(event, Ended)
        run = "UPDATE run SET ended_seq = ?, ended_at = ? WHERE seq = (SELECT max(seq) FROM run)"
        self._connection.execute(run, (seq, at))
        if event.inputs is None:
            return
        self.write_rows()
        beyond = self._connection.execute(_ONE + "place >= ?", (event.inputs,)).fetchall()
        for values in beyond:
            self._row(values[0]).place = None
        self._places.clear()
        self._top = min(self._top, event.inputs - 1)

    def _batch(self, _seq: int, at: float, event: Event) -> None:
        execute = self._connection.execute
        if isinstance(event, BatchIntended):
            values = (event.chunk, len(event.items), at)
            execute("INSERT OR REPLACE INTO batch (chunk, items, intended_at) VALUES (?, ?, ?)", values)
        elif isinstance(event, BatchSubmitted):
            execute(
                "UPDATE batch SET batch_id = ?, submitted_at = ? WHERE chunk = ?", (event.batch_id, at, event.chunk)
            )
        elif isinstance(event, BatchClosed):
            execute("UPDATE batch SET closed_at = ?, how = ? WHERE chunk = ?", (at, event.how, event.chunk))
        elif isinstance(event, BatchReopened):
            execute("UPDATE batch SET closed_at = NULL, how = NULL WHERE chunk = ?", (event.chunk,))

    def write_rows(self) -> None:
        """Write the rows that have changed; they stay in memory."""
        self._connection.executemany(_PUT, map(msgspec.structs.astuple, self.rows.values()))

    def finish(self) -> None:
        """Write everything."""
        many = self._connection.executemany
        self.write_rows()
        many("INSERT OR IGNORE INTO trace VALUES (?, ?)", self._trace)
        many(
            "INSERT INTO miss VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
            ((second, kind, count) for (second, kind), count in self._misses.items()),
        )
        many("INSERT INTO prompt_words (rowid, text) VALUES (?, ?)", self._prompts)
        many("INSERT INTO answer_words (rowid, text) VALUES (?, ?)", self._answers)
        self._write_run()

    def _write_run(self) -> None:
        """Write what is known of the latest run."""
        limits = None if self._limits is None else json.dumps(self._limits.per_minute())
        self._connection.execute(_LATEST, (self._last_at, limits))
        self._limits = None


def is_cut_off(event: Attempted) -> bool:
    """Whether a later run has recorded this call of an earlier one, whose fate a crash had left open."""
    return event.kind is FailureKind.CONNECTION and event.unconfirmed and not event.latency_s


def prompt_text(request: Request) -> str:
    """What a request asks, as text: all its turns."""
    texts: list[str] = []
    for message in request.messages:
        blocks = [message.content] if isinstance(message.content, str) else message.content
        texts += [block if isinstance(block, str) else str(block.get("text") or "") for block in blocks]
    return "\n".join(texts)

"""Put a group of facts into one transaction: events, shared parts, the rows they changed, and the sums."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field

from batchwork.core.errors import JournalError
from batchwork.core.outcome import Status
from batchwork.journal import codec
from batchwork.journal.mark import Mark, MarkFile
from batchwork.journal.rows import COLUMNS, Row, row_from, row_values

QueuedEvent = tuple[int, float, int, int, bytes, int]

_INSERT_EVENT = "INSERT INTO event VALUES (?,?,?,?,?,?)"
_INSERT_BLOB = "INSERT OR IGNORE INTO blob VALUES (?,?,?)"
_INSERT_ITEM = "INSERT INTO item VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"
# The numbers are the places in `row_values`, so that one tuple serves all three. An update that leaves the place alone
# does not touch its index.
_UPDATE_ITEM = "UPDATE item SET status=?5, reserved=?6, paid=?7, attempts=?8, settled_seq=?12, crc=?13 WHERE id=?1"
_MOVE_ITEM = (
    "UPDATE item SET idx=?4, status=?5, reserved=?6, paid=?7, attempts=?8, columns=?9, columns_seq=?11,"
    " settled_seq=?12, crc=?13 WHERE id=?1"
)
UPDATE_TOTAL = (
    "UPDATE total SET run_id=?, seq=?, spent=?, unconfirmed=?, reserved=?, standing=?, began=?, items=?, batches=?,"
    " noted=?, crc=?"
)
_TRIM_ITEM = "UPDATE item SET idx=NULL, crc=? WHERE id=?"


@dataclass(slots=True, kw_only=True)
class Group:
    """What one commit carries, so that it can be taken back when the commit fails."""

    events: int
    blobs: list[bytes]
    trim: int | None
    new: list[Row] = field(default_factory=list)
    moved: list[Row] = field(default_factory=list)
    trimmed: Counter[Status] = field(default_factory=Counter)
    noted: int = 0  # how far the table of identities reaches
    commit: Future[None] | None = None


def put_in(
    writer: sqlite3.Connection, events: list[QueuedEvent], blobs: codec.Blobs, dirty: Iterable[Row], trim: int | None
) -> Group:
    """Put everything into a transaction that is left open."""
    if writer.in_transaction:
        writer.execute("ROLLBACK")
    writer.execute("BEGIN IMMEDIATE")
    writer.executemany(_INSERT_EVENT, events)
    if blobs:
        writer.executemany(_INSERT_BLOB, ((key, body, codec.blob_checksum(key, body)) for key, body in blobs.items()))
    group = Group(events=len(events), blobs=list(blobs), trim=trim)
    changed = []
    for row in dirty:
        if row.is_new:
            group.new.append(row)
        elif row.moved:
            group.moved.append(row)
        else:
            changed.append(row)
    writer.executemany(_MOVE_ITEM, map(row_values, group.moved))
    writer.executemany(_INSERT_ITEM, map(row_values, group.new))
    writer.executemany(_UPDATE_ITEM, map(row_values, changed))
    if trim is not None:
        group.trimmed = _trim(writer, trim)
    return group


def _trim(writer: sqlite3.Connection, inputs: int) -> Counter[Status]:
    """The input has become shorter: take the places beyond its end away; how many there were."""
    trimmed: Counter[Status] = Counter()
    sql = f"SELECT {COLUMNS} FROM item WHERE idx >= ? LIMIT 1000"  # noqa: S608
    while page := [row_from(values) for values in writer.execute(sql, (inputs,)).fetchall()]:
        for row in page:
            row.index = None
        writer.executemany(_TRIM_ITEM, [(row_values(row)[-1], row.item) for row in page])
        trimmed.update(row.status for row in page)
    return trimmed


def commit(writer: sqlite3.Connection, mark_file: MarkFile, mark: Mark) -> None:
    """Finish the open transaction, and then, when it is on the disk, note how far the journal is."""
    writer.execute("COMMIT")
    mark_file.write(mark)


def answer(waiters: list[asyncio.Future[None]], error: JournalError | None) -> None:
    """Tell those who wait for a commit how it ended."""
    for waiter in waiters:
        if waiter.done():
            continue
        if error is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(error)

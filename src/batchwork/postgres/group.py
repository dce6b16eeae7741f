"""One group of facts as one statement: the worker's row, the order of all commits, events, shared parts and rows.

Without the worker's row, which another may have taken over, nothing of it is written.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from batchwork.journal.rows import ITEM_COLUMNS, STATUSES, ItemRow
from batchwork.journal.writer import Group
from batchwork.postgres.arrays import BigInts, Bytes, Doubles, SmallInts
from batchwork.postgres.connection import SyncConnection
from batchwork.postgres.tickets import note_tickets

GROUP = b"""
WITH me AS (
  UPDATE worker SET seq = v[3], began = greatest(began, v[4]), spent = v[5], unconfirmed = v[6], reserved = v[7],
    items = greatest(items, v[8]), batches = v[9], standing = v[11:15], riding = v[16], renewed_at = clock_timestamp()
  FROM (SELECT %s::bigint[] AS v) AS p
  WHERE id = v[1] AND epoch = v[2] AND state = 'live' RETURNING id, v[10] AS events),
ordered AS (
  UPDATE meta SET events = meta.events + me.events FROM me WHERE one = 1 RETURNING meta.events - me.events AS before),
event_rows AS (
  INSERT INTO event (place, seq, at, kind, item, body, crc)
  SELECT before + u.number, u.seq, u.at, u.kind, u.item, u.body, u.crc FROM ordered,
    unnest(%s::bigint[], %s::float8[], %s::smallint[], %s::bigint[], %s::bytea[], %s::bigint[])
    WITH ORDINALITY AS u (seq, at, kind, item, body, crc, number)),
blob_rows AS (
  INSERT INTO blob SELECT u.* FROM me, unnest(%s::bytea[], %s::bytea[], %s::bigint[]) AS u
  ON CONFLICT DO NOTHING),
new_rows AS (
  INSERT INTO item (id, fingerprint, occurrence, idx, status, reserved, paid, attempts, columns, request_seq,
    columns_seq, settled_seq, crc)
  SELECT u.id, u.fingerprint, u.occurrence, nullif(u.idx, -1), u.status, u.reserved, u.paid, u.attempts, u.columns,
    u.request_seq, u.columns_seq, u.settled_seq, u.crc
  FROM me, unnest(%s::bigint[], %s::bytea[], %s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[], %s::bigint[],
    %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
    AS u (id, fingerprint, occurrence, idx, status, reserved, paid, attempts, columns, request_seq, columns_seq,
      settled_seq, crc)),
moved_rows AS (
  UPDATE item SET idx = nullif(u.idx, -1), status = u.status, reserved = u.reserved, paid = u.paid,
    attempts = u.attempts, columns = u.columns, columns_seq = u.columns_seq, settled_seq = u.settled_seq, crc = u.crc
  FROM me, unnest(%s::bigint[], %s::bigint[], %s::smallint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[],
    %s::bigint[], %s::bigint[], %s::bigint[])
    AS u (id, idx, status, reserved, paid, attempts, columns, columns_seq, settled_seq, crc)
  WHERE item.id = u.id),
changed_rows AS (
  UPDATE item SET status = u.status, reserved = u.reserved, paid = u.paid, attempts = u.attempts,
    settled_seq = u.settled_seq, crc = u.crc
  FROM me, unnest(%s::bigint[], %s::smallint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
    AS u (id, status, reserved, paid, attempts, settled_seq, crc)
  WHERE item.id = u.id),
taken_in AS (DELETE FROM late USING me, unnest(%s::bigint[]) AS u (seq) WHERE late.seq = u.seq)
SELECT id FROM me
"""
BLOB = b"INSERT INTO blob VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
# Places in `ItemRow.values`, and how each is packed.
_KINDS: tuple[type[BigInts] | type[SmallInts] | type[Bytes], ...] = tuple(
    {1: Bytes, 4: SmallInts}.get(place, BigInts) for place in range(13)
)
_ALL = tuple(range(13))
_MOVED = (0, 3, 4, 5, 6, 7, 8, 10, 11, 12)
_CHANGED = (0, 4, 5, 6, 7, 11, 12)
_EVENT_KINDS = (BigInts, Doubles, SmallInts, BigInts, Bytes, BigInts)
_BLOB_KINDS = (Bytes, Bytes, BigInts)
_NOTHING = {kind: kind(()) for kind in (BigInts, SmallInts, Bytes, Doubles)}
_BEYOND = f"SELECT {ITEM_COLUMNS} FROM item WHERE idx >= %s ORDER BY idx LIMIT 1000".encode()
_TRIM = (
    b"UPDATE item SET idx = NULL, crc = u.crc FROM unnest(%s::bigint[], %s::bigint[]) AS u (id, crc)"
    b" WHERE item.id = u.id"
)
_COUNT_TRIMMED = b"UPDATE worker SET standing[%s] = standing[%s] - %s WHERE id = %s"


def packed_group(
    numbers: list[int],
    events: Sequence[tuple[Any, ...]],
    blobs: Sequence[tuple[Any, ...]],
    rows: Iterable[ItemRow],
    *,
    group: Group,
    taken_in: Sequence[int] = (),
) -> tuple[Any, ...]:
    """The values of the statement; the rows that are new or have moved are noted in the group."""
    changed: list[ItemRow] = []
    for row in rows:
        (group.new if row.is_new else group.moved if row.moved else changed).append(row)
    return (
        BigInts(numbers),
        *_columns(events, _EVENT_KINDS),
        *_columns(blobs, _BLOB_KINDS),
        *_item_columns(group.new, _ALL),
        *_item_columns(group.moved, _MOVED),
        *_item_columns(changed, _CHANGED),
        BigInts(taken_in),
    )


def write_group(session: SyncConnection, packed: tuple[Any, ...], group: Group, *, worker: int) -> bool:
    """Send a group; False: another has taken the worker's row over, and nothing is written."""
    if group.trim is None and not group.batch_events:
        return session.execute(GROUP, packed, prepare=True).fetchone() is not None
    with session.transaction():
        if session.execute(GROUP, packed, prepare=True).fetchone() is None:
            return False
        if group.trim is not None:
            group.trimmed.clear()
            trim_places(session, group, worker=worker)
        note_tickets(session, group.batch_events, worker=worker)
    return True


def _columns(rows: Sequence[tuple[Any, ...]], kinds: Sequence[Any]) -> list[Any]:
    if not rows:
        return [_NOTHING[kind] for kind in kinds]
    return [kind(column) for kind, column in zip(kinds, zip(*rows, strict=True), strict=True)]


def _item_columns(rows: list[ItemRow], places: Sequence[int]) -> list[Any]:
    if not rows:
        return [_NOTHING[_KINDS[place]] for place in places]
    columns: list[Any] = list(zip(*map(ItemRow.values, rows), strict=True))
    columns[3] = [-1 if index is None else index for index in columns[3]]
    return [_KINDS[place](columns[place]) for place in places]


def trim_places(session: SyncConnection, group: Group, *, worker: int) -> None:
    """The input has become shorter: take the places beyond its end away, in the open transaction."""
    while page := session.execute(_BEYOND, (group.trim,), binary=True).fetchall():
        rows = [ItemRow.stored(values) for values in page]
        for row in rows:
            row.index = None
        session.execute(_TRIM, (BigInts([row.item for row in rows]), BigInts([row.values()[-1] for row in rows])))
        group.trimmed.update(row.status for row in rows)
    for number, status in enumerate(STATUSES, start=1):
        if count := group.trimmed[status]:
            session.execute(_COUNT_TRIMMED, (number, number, count, worker))

"""What a worker that was taken over still has to tell: the answers to its calls, handed in beside its row.

Decides which of its unwritten events are such answers. They wait in a table of their own for whoever has the items now:
every item is written about by one worker at a time.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from threading import Event

from batchwork.clock import stopwatch
from batchwork.core.event import Attempted, Opened, Settled
from batchwork.journal import codec
from batchwork.postgres.connection import LOST, DatabaseAwayError, SyncConnection

_APART_S = 0.1
_SETTLED = codec.KINDS[Settled]
_OPENED = codec.KINDS[Opened]
_ENDS = (_SETTLED, codec.KINDS[Attempted])
_LANDED = b"SELECT seq FROM worker WHERE id = %s AND name = %s"
_HAND_IN = (
    b"INSERT INTO late (seq, item, attempts, reserved, crc, kind, body) VALUES (%s, %s, %s, %s, %s, %s, %s)"
    b" ON CONFLICT DO NOTHING"
)
_Event = tuple[int, float, int, int, bytearray, int]
_Row = tuple[int, int, int, int, int, int, bytes]


def hand_in(
    connect: Callable[[], SyncConnection],
    worker: tuple[int, str],
    events: Sequence[_Event],
    under_way: Mapping[int, tuple[int, int]],
    *,
    wait_s: float,
) -> int | None:
    """Hand in what has not landed; how many answers that are. None: the database is away, and stays so for `wait_s`."""
    waited, rest = stopwatch(), Event()
    while True:
        with suppress(DatabaseAwayError, *LOST), closing(connect()) as session:
            landed = session.execute(_LANDED, worker).fetchone()
            if landed is None:  # the journal was set aside: another one has its name
                return 0
            rows = answers_in([event for event in events if event[0] > landed[0]], under_way)
            with session.transaction(), session.cursor() as cursor:
                cursor.executemany(_HAND_IN, rows)
            return sum(row[5] == _SETTLED for row in rows)
        if waited() >= wait_s:
            return None
        rest.wait(_APART_S)


def answers_in(events: Sequence[_Event], under_way: Mapping[int, tuple[int, int]]) -> list[_Row]:
    """How the calls that were sent have ended, each with the attempts before it and what was set aside for it.

    A call that may cost something is on disk before it is sent, so the first end of an item is that of its call; what
    was only admitted was never sent. A free one is not, and only its answer matters; others do not know an item that
    has not landed either.
    """
    found: dict[int, _Row] = {}
    unknown = {event[3] for event in events if event[2] == _OPENED}
    for seq, _, kind, item, body, crc in events:
        is_free = kind == _SETTLED and item not in unknown
        if kind in _ENDS and item not in found and (is_free or item in under_way):
            attempts, reserved = under_way.get(item, (0, 0))
            found[item] = (seq, item, attempts, reserved, crc, kind, bytes(body))
    return list(found.values())

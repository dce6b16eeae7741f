"""A process that was taken over comes back with answers: they are taken in by whoever has the items now."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from msgspec.structs import replace

from batchwork.core.block import TakenBlock, Turn
from batchwork.core.dsn import Dsn
from batchwork.core.errors import JournalFencedError
from batchwork.core.event import Admitted, Attempted
from batchwork.core.failure import FailureKind
from batchwork.core.runstate import fold
from tests.postgres.test_blocks import joined, own, place
from tests.postgres.test_writer import end_writers
from tests.support.journals import row, settle, succeeded
from tests.support.postgres_server import PostgresServer, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
if why_not() is None:
    import psycopg

    from batchwork.postgres import writer
    from batchwork.postgres.journal import PostgresJournal
    from batchwork.postgres.reader import DatabaseReader

WORST = 100


def take(journal: PostgresJournal) -> TakenBlock:
    (block,) = journal.exchange(Turn(wants=1)).taken
    journal.hold(block)
    return block


def hear(journal: PostgresJournal) -> None:
    """A turn, as a run has several in a second."""
    for late in journal.exchange(Turn()).late:
        journal.take_in(late)
    journal.flush()


def admit(journal: PostgresJournal, item: int) -> None:
    journal.record(Admitted(item=item, reserved_nano=WORST))
    journal.flush()


def fence(postgres: PostgresServer, dsn: Dsn, journal: PostgresJournal) -> None:
    postgres.execute(
        f"UPDATE \"{dsn.schema}\".worker SET state = 'dead', epoch = epoch + 1 WHERE id = %s", journal.worker
    )


def answer(journal: PostgresJournal, item: int, text: str, charged: int) -> None:
    attempts = journal.take(item).attempts + 1
    settle(journal, item, replace(succeeded(0, text, cost=charged), attempts=attempts), charged=charged)


def hand_in(journal: PostgresJournal) -> str:
    with pytest.raises(JournalFencedError) as raised:
        journal.close()
    return str(raised.value)


def state_of(dsn: Dsn) -> dict[str, Any]:
    """What the journal says of its only item; its rows and its sums are those of its events."""
    with closing(DatabaseReader(dsn)) as reader:
        state, sums = fold(reader.events()), reader.sums()
        (entry,) = reader.entries()
        stored = reader.items.now(entry.item)
        folded = state.items[entry.item]
        assert stored is not None
        assert [getattr(stored, name) for name in folded.__slots__] == [
            getattr(folded, name) for name in folded.__slots__
        ]
        assert sums.counts == reader.counts()
        assert (sums.spent, sums.unconfirmed, sums.reserved) == (
            state.spent_nano,
            state.unconfirmed_nano,
            state.reserved_nano,
        )
        return {
            "text": entry.outcome and entry.outcome.text,
            "cost": entry.outcome and entry.outcome.cost_nano,
            "attempts": entry.attempts,
            "money": (sums.spent, sums.unconfirmed, sums.reserved),
            "waiting": reader._connection.one("SELECT count(*) FROM late"),
        }


@pytest.mark.parametrize("when", ["free", "taken", "under way", "settled", "failed late"])
def test_a_late_answer_is_taken_while_its_item_is_open_and_always_replaces_its_booking(
    postgres: PostgresServer, when: str
) -> None:
    dsn = Dsn.parse(postgres.journal())
    with closing(own(dsn)) as owner:
        place(owner, 1)
        owner.exchange(Turn(offered=((0, 1),)))
        away, helper = joined(dsn), joined(dsn)
        item = take(away).items[0][0].item
        admit(away, item)
        fence(postgres, dsn, away)
        if when == "failed late":
            away.record(Attempted(item=item, kind=FailureKind.SERVER, charged_nano=4))
        else:
            answer(away, item, "late", 4)
        if when == "free":
            assert "1 answer was handed in late" in hand_in(away)
        block = take(helper)
        if when in ("under way", "settled"):
            admit(helper, item)
        if when == "settled":
            answer(helper, item, "in time", 5)
            helper.flush()
        if when != "free":
            hand_in(away)
        hear(owner)  # it is not for the owner: the block is another's
        assert owner.totals().spent_nano == 0
        assert not helper.is_settled(item) or when == "settled"
        hear(helper)
        hear(helper)
        assert helper.is_settled(item) == (when != "failed late")
        under_way = WORST if when == "under way" else 0
        known = state_of(dsn)
        assert known["money"] == (9 if when == "settled" else 4, 0, under_way)
        assert known["text"] == {"settled": "in time", "failed late": None}.get(when, "late")
        if when == "under way":  # the second answer changes nothing but the sums
            answer(helper, item, "second", 6)
        elif when == "taken":  # nor does a call that was about to start
            helper.record(Admitted(item=item, reserved_nano=WORST))
        if when == "failed late":
            answer(helper, item, "in time", 5)
        helper.release(item)
        helper.flush()
        assert helper.done_with() == ((block.first,), ())
        helper.close()
    assert state_of(dsn) == {
        "text": "in time" if when in ("settled", "failed late") else "late",
        "cost": 5 if when in ("settled", "failed late") else 4,
        "attempts": 1 if when in ("free", "taken") else 2,
        "money": ({"under way": 10, "settled": 9, "failed late": 9}.get(when, 4), 0, 0),
        "waiting": (0,),
    }


def test_an_owner_that_was_replaced_hands_in_what_its_successor_or_the_next_run_takes_in(
    postgres: PostgresServer,
) -> None:
    dsn = Dsn.parse(postgres.journal())
    away = own(dsn)
    items = [away.place(index, row(f"p{index}")).item for index in range(2)]
    for item in items:
        admit(away, item)
    fence(postgres, dsn, away)
    end_writers(postgres)
    with closing(own(dsn)) as successor:
        assert successor.totals().unconfirmed_nano == 2 * WORST
        answer(away, items[0], "late", 4)
        answer(away, items[1], "late", 5)
        away.record(Attempted(item=items[1], kind=FailureKind.SERVER))  # what comes later is not the call that was sent
        assert "2 answers were handed in late" in hand_in(away)
        hear(successor)
        assert (successor.totals().spent_nano, successor.totals().unconfirmed_nano) == (9, 0)
        assert successor.place(0, row("p0")).status.value == "succeeded"


def test_what_had_landed_before_a_worker_was_fenced_is_not_handed_in_again(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = Dsn.parse(postgres.journal())
    away = own(dsn)
    item = away.place(0, row("a")).item
    admit(away, item)
    answer(away, item, "in time", 4)
    execute = writer.DatabaseWriter._execute

    def lands_unheard(self: Any, session: Any, packed: Any, group: Any) -> None:
        execute(self, session, packed, group)
        fence(postgres, dsn, away)
        raise psycopg.OperationalError("the connection is gone")

    monkeypatch.setattr(writer.DatabaseWriter, "_execute", lands_unheard)
    with pytest.raises(JournalFencedError):
        away.flush()
    assert "0 answers were handed in late" in hand_in(away)
    monkeypatch.undo()
    with closing(own(dsn)) as after:
        assert (after.totals().spent_nano, after.totals().unconfirmed_nano) == (4, 0)
    assert state_of(dsn)["text"] == "in time"

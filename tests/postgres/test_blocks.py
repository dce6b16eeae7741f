"""Several processes on one run: what one places, all may take, and nobody works on what another has."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import msgspec
import pytest

from batchwork.clock import stopwatch
from batchwork.core.block import Turn
from batchwork.core.dsn import Dsn
from batchwork.core.errors import DatabaseAwayError, JournalFencedError, JournalLockedError
from batchwork.core.event import Admitted, Began, Ended, RunInput
from batchwork.core.request import Attachment, digest
from tests.support.journals import BEGAN, row, settle, succeeded
from tests.support.postgres_server import PostgresServer, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
if why_not() is None:
    import psycopg

    from batchwork.postgres import workers
    from batchwork.postgres.blocks import DatabaseBlocks
    from batchwork.postgres.journal import JoinedJournal, PostgresJournal
    from batchwork.postgres.reader import DatabaseReader


def own(dsn: Dsn) -> PostgresJournal:
    journal = PostgresJournal(dsn, utc=lambda: 1000.0, max_wait_s=20.0, shares=True)
    journal.begin(BEGAN)
    return journal


def joined(dsn: Dsn, began: Began = BEGAN) -> JoinedJournal:
    journal = JoinedJournal(dsn, utc=lambda: 1000.0, max_wait_s=20.0)
    journal.begin(began)
    return journal


def place(journal: PostgresJournal, count: int) -> None:
    for index in range(count):
        journal.release(journal.place(index, row(f"p{index}")).item)
    journal.flush()


def finish(journal: PostgresJournal, item: int, index: int | None) -> None:
    settle(journal, journal.take(item).item, succeeded(index or 0))
    journal.release(item)


def test_a_block_is_taken_once_worked_on_by_its_taker_and_gone_when_it_is_done(postgres: PostgresServer) -> None:
    dsn = Dsn.parse(postgres.journal())
    with closing(own(dsn)) as owner, closing(joined(dsn)) as first, closing(joined(dsn)) as second:
        place(owner, 6)
        finish(owner, 1, 1)
        owner.flush()
        offers = ((0, 3), (3, 6))
        owner.exchange(Turn(offered=offers))
        owner.exchange(Turn(offered=offers))  # the answer was lost
        (block,) = first.exchange(Turn(wants=1)).taken
        (other,) = second.exchange(Turn(wants=5)).taken
        assert [state.index for state, _ in (*block.items, *other.items)] == [0, 2, 3, 4, 5]
        assert block.items[1][1].messages[0].content == "p2"
        first.hold(block)
        for state, _ in block.items:
            assert first.done_with() == ((), ())
            finish(first, state.item, state.index)
        first.flush()
        seen = first.exchange(Turn(finished=first.done_with()[0], wants=1))
        assert (seen.taken, seen.free, seen.held, seen.helpers, seen.has_owner) == ((), 0, 1, 1, True)
        assert (seen.done["pending"], seen.done["succeeded"]) == (5, 1)  # without its own
        seen = owner.exchange(Turn())
        assert (seen.held, seen.helpers, seen.has_owner) == (1, 2, False)
        second.hold(other)
        second.release(other.items[0][0].item)  # it ends before that is done
        for state, _ in other.items[1:]:
            finish(second, state.item, state.index)
        second.flush()
        finished, left = second.done_with()
        assert (finished, left) == ((), (3,))
        assert second.exchange(Turn(left=left)).free == 1
        (again,) = owner.exchange(Turn(wants=2)).taken
        assert [state.index for state, _ in again.items] == [3]
    with closing(DatabaseReader(dsn)) as reader:
        assert reader.sums().counts == reader.counts()


def test_the_calls_of_a_dead_worker_are_booked_by_whoever_takes_its_block(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "GRACE_S", 0.1)
    dsn = Dsn.parse(postgres.journal())
    with closing(own(dsn)) as owner:
        place(owner, 4)
        dead = joined(dsn)
        owner.exchange(Turn(offered=((0, 4),)))
        (block,) = dead.exchange(Turn(wants=1)).taken
        dead.hold(block)
        dead.record(Admitted(item=block.items[2][0].item, reserved_nano=70))
        dead.flush()
        dead._writer._closing.set()
        dead._writer._drop()  # it is killed
        assert owner.exchange(Turn(wants=1)).held == 1  # it may come back
        monkeypatch.setattr(workers, "LEASE_S", 0.5)
        waited = stopwatch()
        while not (seen := owner.exchange(Turn(wants=1))).taken:  # for the lease that this process was connected
            assert waited() < 30.0
        (taken,) = seen.taken
        owner.hold(taken)
        owner.flush()
        assert (owner.totals().spent_nano, owner.totals().unconfirmed_nano) == (70, 70)
        dead.record(Admitted(item=block.items[3][0].item, reserved_nano=70))
        with pytest.raises(JournalLockedError, match="taken over"):
            dead.flush()
        with pytest.raises(JournalLockedError):
            dead.close()
    with closing(DatabaseReader(dsn)) as reader:
        assert (reader.sums().spent, reader.sums().reserved) == (70, 0)


def test_a_new_owner_leaves_what_others_are_at_work_on_to_them(postgres: PostgresServer) -> None:
    dsn = Dsn.parse(postgres.journal())
    with closing(joined(dsn)) as helper:
        with closing(own(dsn)) as owner:
            place(owner, 9)
            owner.exchange(Turn(offered=((0, 3), (3, 6))))
            (block,) = helper.exchange(Turn(wants=1)).taken
            helper.hold(block)
            helper.record(Admitted(item=block.items[0][0].item, reserved_nano=70))
            helper.flush()
        with closing(own(dsn)) as owner:
            assert [owner.is_elsewhere(place) for place in range(5)] == [True, True, True, False, False]
            place(owner, 4)
            with pytest.raises(JournalLockedError, match="another input"):
                owner.place(4, row("another"))
            assert owner.exchange(Turn()).free == 0
            assert owner.totals().unconfirmed_nano == 0
        alone = PostgresJournal(dsn, utc=lambda: 1000.0)
        with closing(alone), pytest.raises(JournalLockedError, match="other processes"):
            alone.begin(BEGAN)


@pytest.mark.parametrize(
    ("began", "first_row", "error"),
    [
        ({}, "p0", None),
        ({}, "other", "not that of the run .* by row 1: .*`batchwork worker` needs none"),
        ({"input": RunInput(total=4)}, None, "that one has 3 rows, and this process was given 4"),
        ({"model": "mock:other"}, None, "asks mock:echo, and this process mock:other"),
        ({"settings": {"rpm": 60.0}}, None, "other limits"),
        ({"settings": {"mode": "batch"}}, None, "works in the mode 'live'"),
        ({"settings": {"account": ["team"]}}, None, "other limits"),
    ],
)
def test_a_process_with_another_input_model_or_limits_is_told_so_before_it_works_on_anything(
    postgres: PostgresServer, began: dict[str, Any], first_row: str | None, error: str | None
) -> None:
    dsn = Dsn.parse(postgres.journal())
    with closing(PostgresJournal(dsn, utc=lambda: 1000.0, shares=True)) as owner:
        owner.begin(msgspec.structs.replace(BEGAN, input=RunInput(total=3)))
        place(owner, 3)
        owner.exchange(Turn(offered=((1, 3),)))
        with closing(joined(dsn, msgspec.structs.replace(BEGAN, **began))) as helper:
            turn = Turn(wants=1, first_row=None if first_row is None else row(first_row).fingerprint)
            if error is None:
                assert helper.exchange(turn).taken
                return
            with pytest.raises(JournalLockedError, match=error):
                helper.exchange(turn)


def test_the_files_of_a_request_reach_whoever_works_on_it_from_the_journal_alone(postgres: PostgresServer) -> None:
    dsn = Dsn.parse(postgres.journal())
    pdf = Attachment(media_type="application/pdf", digest=digest(b"%PDF"), data=b"%PDF" * 1000)
    with closing(own(dsn)) as owner, closing(joined(dsn)) as helper:
        owner.release(owner.place(0, row("what does it say?", documents=(pdf,))).item)
        owner.flush()
        owner.exchange(Turn(offered=((0, 1),)))
        (block,) = helper.exchange(Turn(wants=1)).taken
        assert block.items[0][1].documents == (pdf,)


def test_a_process_that_works_alone_is_not_joined(postgres: PostgresServer) -> None:
    dsn = Dsn.parse(postgres.journal())
    with closing(PostgresJournal(dsn, utc=lambda: 1000.0)) as alone, closing(joined(dsn)) as helper:
        assert helper.exchange(Turn()).has_owner
        alone.begin(msgspec.structs.replace(BEGAN, input=RunInput(is_alone=True)))
        alone.flush()
        with pytest.raises(JournalLockedError, match=r":\d+ works alone on the journal .* wait for it, or stop it"):
            helper.exchange(Turn())


def test_whoever_goes_on_with_a_run_that_it_has_helped_must_have_the_same_input(postgres: PostgresServer) -> None:
    dsn = Dsn.parse(postgres.journal())
    with closing(own(dsn)) as owner:
        place(owner, 3)
    with closing(PostgresJournal(dsn, utc=lambda: 1000.0, shares=True, follows=True)) as follower:
        follower.begin(BEGAN)
        place(follower, 2)
        with pytest.raises(JournalLockedError, match="by row 3"):
            follower.place(2, row("other"))
        with pytest.raises(JournalLockedError, match="by row 3"):
            follower.record(Ended(inputs=2))
        place(follower, 4)  # the owner has not come so far


@pytest.mark.parametrize("came_back", ["the reaper", "the database", "its answers"])
def test_whoever_looks_dead_is_left_alone_until_a_lease_after_all_came_back(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, came_back: str
) -> None:
    dsn = Dsn.parse(postgres.journal())
    with closing(own(dsn)) as owner, closing(joined(dsn)) as helper, closing(joined(dsn)) as other:
        place(owner, 4)
        owner.exchange(Turn(offered=((0, 2), (2, 4))))
        for each in (helper, other):
            assert each.exchange(Turn(wants=1)).taken
            each._writer._closing.set()  # it says nothing more
        postgres.execute(
            f"UPDATE \"{dsn.schema}\".worker SET renewed_at = now() - interval '1 h' WHERE NOT is_owner",
        )
        blocks = owner._blocks
        assert blocks is not None
        monkeypatch.setattr(workers, "LEASE_S", 0.2)
        blocks._steady_since = float("-inf")
        if came_back == "the reaper":
            blocks._drop()
        elif came_back == "the database":
            monkeypatch.setattr(workers, "LEASE_S", 1e6)
        else:
            assert blocks._heard is not None
            blocks._heard -= 100.0
        assert owner.exchange(Turn()).held == 2
        assert owner.exchange(Turn()).held == 2
        monkeypatch.setattr(workers, "LEASE_S", 0.2)
        waited = stopwatch()
        while owner.exchange(Turn()).free < 2:
            assert waited() < 60.0
        with pytest.raises(JournalFencedError, match="taken over by others"):
            helper.exchange(Turn(wants=1))


def test_a_block_that_was_taken_when_the_connection_was_lost_is_told_the_next_time(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = Dsn.parse(postgres.journal())
    with closing(own(dsn)) as owner, closing(joined(dsn)) as helper:
        place(owner, 2)
        owner.exchange(Turn(offered=((0, 2),)))
        execute = DatabaseBlocks._execute

        def lost(self: Any, statement: str, **values: Any) -> Any:
            if "clock_timestamp" in statement:
                raise psycopg.OperationalError("the connection is gone")
            return execute(self, statement, **values)

        monkeypatch.setattr(DatabaseBlocks, "_execute", lost)
        with pytest.raises(DatabaseAwayError):
            helper.exchange(Turn(wants=1))
        monkeypatch.undo()
        (block,) = helper.exchange(Turn()).taken
        assert [state.index for state, _ in block.items] == [0, 1]

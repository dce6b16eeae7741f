"""The ceiling of a run that several processes work on: leased in chunks, from one row of its journal.

What a worker has used is what its own row says, spent and set aside: a call is there before it is sent. So of a dead
worker everything else comes back at once.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from psycopg import sql

from batchwork.core.dsn import Dsn
from batchwork.core.errors import AccountsAwayError
from batchwork.core.lease import AccountAnswer, AccountReport, AccountTerms, MoneyAnswer
from batchwork.core.ports import Clock
from batchwork.engine.accounts import AccountSession
from batchwork.postgres.connection import LOST, AnyConnection, DatabaseAwayError, connect

NAME = "max_cost"
_ANSWER_S = 10.0
# What those who have ended were granted and did not use. A call that was sent stands in their rows.
_SETTLE_ENDED = """
WITH ended AS (
  SELECT id, granted - spent - reserved AS rest FROM worker
  WHERE state <> 'live' AND granted <> spent + reserved FOR UPDATE SKIP LOCKED),
given AS (UPDATE worker w SET granted = granted - rest FROM ended WHERE w.id = ended.id)
UPDATE money SET granted = granted - rests, last = 0
FROM (SELECT sum(rest)::bigint AS rests FROM ended) AS e WHERE rests IS NOT NULL
"""
_BEGIN = """
INSERT INTO money (one, ceiling, granted) VALUES (1, %(ceiling)s, 0)
ON CONFLICT (one) DO UPDATE SET ceiling = excluded.ceiling, last = 0
"""
_KEPT = "(m.granted + me.kept - me.granted)"
_LEFT = f"(m.ceiling - {_KEPT})"
_GRANTED = (
    f"(CASE WHEN {_LEFT} < greatest(%(need)s, 1) THEN 0 ELSE least({_LEFT},"
    f" greatest(%(need)s, least(%(want)s, {_LEFT} / (2 * %(holders)s)))) END)"
)
_MONEY = f"""
WITH me AS (
  SELECT id, granted, greatest(%(spent)s, least(granted, %(kept)s)) AS kept FROM worker
  WHERE id = %(me)s AND state = 'live' FOR UPDATE),
m AS (
  UPDATE money m SET granted = {_KEPT} + {_GRANTED}, last = {_GRANTED} FROM me RETURNING m.last, m.ceiling, m.granted)
UPDATE worker w SET granted = me.kept + m.last, charged = %(spent)s FROM me, m WHERE w.id = me.id
RETURNING w.granted, m.ceiling, m.granted
"""
# Of a worker that lives, what its own ledger has spent: its row also has what it has booked for the dead. Of one that
# has ended, what it had set aside as well: that is booked sooner or later, and does not come back.
_LOOK = """
SELECT coalesce(sum(CASE WHEN state = 'live' THEN charged ELSE spent + reserved END), 0)::bigint,
  count(*) FILTER (WHERE state = 'live')
FROM worker
"""


class JournalMoney:
    """The ceiling of a journal, for one of its workers."""

    def __init__(self, dsn: Dsn, *, worker: int) -> None:
        self._dsn, self._me = dsn, worker
        self._connection: AnyConnection | None = None
        self._holders = 1

    async def begin(self, ceiling: int) -> None:
        """Let this be the ceiling."""
        await self._execute(_BEGIN, ceiling=ceiling)
        await self._execute(_SETTLE_ENDED)

    async def exchange(self, name: str, report: AccountReport) -> AccountAnswer:
        """Tell what is spent, and ask for more."""
        del name
        money = report.money
        if money is None:
            return AccountAnswer()
        await self._execute(_SETTLE_ENDED)
        rows = await self._execute(
            _MONEY, spent=money.spent, kept=money.kept, need=money.need, want=money.want, holders=self._holders
        )
        if not rows:
            return AccountAnswer(is_gone=True)
        ((granted, ceiling, all_granted),) = rows
        ((spent, self._holders),) = await self._execute(_LOOK)
        answer = MoneyAnswer(
            granted=granted, ceiling=ceiling, spent=spent, leased=max(0, all_granted - spent), holders=self._holders
        )
        return AccountAnswer(holders=self._holders, money=answer)

    async def end(self, name: str, *, spent: int, reserved: int) -> None:
        """Nothing to do: what an ended worker did not use is given back by whoever asks next."""

    async def aclose(self) -> None:
        """Let go of the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _execute(self, statement: str, **values: int) -> list[tuple[int, ...]]:
        try:
            async with asyncio.timeout(_ANSWER_S):
                if self._connection is None:
                    self._connection = await connect(self._dsn, name="batchwork money")
                    path = sql.SQL("SET search_path = {}, pg_catalog").format(sql.Identifier(self._dsn.schema))
                    await self._connection.execute(path)
                cursor = await self._connection.execute(statement.encode(), {"me": self._me, **values})
                return await cursor.fetchall() if cursor.description is not None else []
        except (TimeoutError, DatabaseAwayError, *LOST) as error:
            await self.aclose()
            said = " ".join(self._dsn.without_password(str(error)).split()) or "no answer"
            raise AccountsAwayError(f"{self._dsn} does not answer: {said}") from None


@asynccontextmanager
async def open_ceiling(
    dsn: Dsn, *, worker: int, ceiling: int, begins: bool, clock: Clock, max_wait_s: float
) -> AsyncIterator[AccountSession]:
    """Hold a part of the journal's ceiling while the block runs; whoever `begins` the run says what it is."""
    store = JournalMoney(dsn, worker=worker)
    try:
        if begins:
            await store.begin(ceiling)
        session = AccountSession(store, [AccountTerms(name=NAME, ceiling=ceiling)], clock=clock, max_wait_s=max_wait_s)
    except BaseException:
        await store.aclose()
        raise
    try:
        yield session
    finally:
        await session.aclose()

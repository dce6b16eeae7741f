"""The account of a run that several processes work on: its ceiling and its rates, leased from tables of its journal.

What a worker has used of the money is what its own row says, spent and set aside: a call is there before it is sent.
So of a dead worker everything else comes back at once.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from batchwork.core.dsn import Dsn
from batchwork.core.lease import AccountAnswer, AccountReport, AccountTerms, MoneyAnswer, MoneyReport
from batchwork.core.policy import Policy
from batchwork.core.ports import Clock
from batchwork.engine.accounts import AccountSession
from batchwork.postgres.connection import LOST
from batchwork.postgres.rate_leases import STATE_RATE, RateLeases, fields_of

_NAME = "run"
# What those who have ended were granted and did not use. A call that was sent stands in their rows, and a batch does
# until it is read, by whomever.
_SETTLE_ENDED = """
WITH ended AS (
  SELECT id, granted - spent - reserved - riding AS rest FROM worker
  WHERE state <> 'live' AND granted <> spent + reserved + riding FOR UPDATE SKIP LOCKED),
given AS (UPDATE worker w SET granted = granted - rest FROM ended WHERE w.id = ended.id)
UPDATE account SET granted = granted - rests, last = 0
FROM (SELECT sum(rest)::bigint AS rests FROM ended) AS e WHERE name = %(name)s AND rests IS NOT NULL
"""
# Whoever joins may be there before the owner has begun: then its limits hold until then.
_JOIN = "INSERT INTO account (name, ceiling) VALUES (%(name)s, %(ceiling)s) ON CONFLICT (name) DO NOTHING"
_JOIN_RATE = """
INSERT INTO rate (account, kind, stated) VALUES (%(name)s, %(kind)s, %(per_minute)s)
ON CONFLICT (account, kind) DO NOTHING
"""
_BEGIN = "UPDATE account SET ceiling = %(ceiling)s, last = 0 WHERE name = %(name)s"
# What was learned lately is known to processes that are at work: they tell it again within the minute that it holds.
_FORGET_RATES = """
DELETE FROM rate WHERE account = %(name)s AND NOT kind = ANY(%(kinds)s) AND learned_until < clock_timestamp()
"""
_FORGET_STATED = "UPDATE rate SET stated = NULL WHERE account = %(name)s AND NOT kind = ANY(%(kinds)s)"
_KEPT = "(a.granted + me.kept - me.granted)"
_LEFT = f"(a.ceiling - {_KEPT})"
_GRANTED = (
    f"(CASE WHEN {_LEFT} < greatest(%(need)s, 1) THEN 0 ELSE least({_LEFT},"
    f" greatest(%(need)s, least(%(want)s, {_LEFT} / (2 * %(holders)s)))) END)"
)
_MONEY = f"""
WITH me AS (
  SELECT id, granted, greatest(%(spent)s, least(granted, %(kept)s)) AS kept FROM worker
  WHERE id = %(me)s AND state = 'live' FOR UPDATE),
a AS (
  UPDATE account a SET granted = {_KEPT} + {_GRANTED}, last = {_GRANTED} FROM me WHERE a.name = %(name)s
  RETURNING a.last, a.ceiling, a.granted)
UPDATE worker w SET granted = me.kept + a.last, charged = %(spent)s FROM me, a WHERE w.id = me.id
RETURNING w.granted, a.ceiling, a.granted
"""
# Of a worker that lives, what its own ledger has spent: its row also has what it has booked for the dead. Of one that
# has ended, what it had set aside as well: that is booked sooner or later, and does not come back.
_SPENT = """
SELECT coalesce(sum(CASE WHEN state = 'live' THEN charged ELSE spent + reserved + riding END), 0)::bigint,
  count(*) FILTER (WHERE state = 'live')
FROM worker
"""


class RunAccount(RateLeases):
    """The account of a journal, for one of its workers."""

    _title = "batchwork account"
    _holders_of = "(SELECT count(*) FROM worker WHERE state = 'live')::int"

    def __init__(self, dsn: Dsn, *, worker: int) -> None:
        super().__init__(dsn, schema=dsn.schema)
        self._me = worker

    async def open(self, *, ceiling: int | None, rates: Mapping[str, float], begins: bool) -> None:
        """Let these be the limits of a run that `begins`: what was learned in an earlier one is forgotten."""
        try:
            if self._connection is None:
                await self._connect()
            await self._rows(_JOIN, _NAME, ceiling=ceiling)
            for kind, per_minute in rates.items():
                await self._rows(STATE_RATE if begins else _JOIN_RATE, _NAME, kind=kind, per_minute=per_minute)
            if begins:
                await self._rows(_BEGIN, _NAME, ceiling=ceiling)
                await self._rows(_FORGET_RATES, _NAME, kinds=list(rates))
                await self._rows(_FORGET_STATED, _NAME, kinds=list(rates))
                await self._rows(_SETTLE_ENDED, _NAME)
        except LOST as error:
            raise self._away(error) from None

    async def _exchange(self, name: str, report: AccountReport) -> AccountAnswer:
        money = None if report.money is None else await self._money(name, report.money)
        rates, cool_s = await self._rates(name, report)
        is_gone = report.money is not None and money is None
        return AccountAnswer(holders=self._holders.get(name), is_gone=is_gone, money=money, rates=rates, cool_s=cool_s)

    async def _money(self, name: str, report: MoneyReport) -> MoneyAnswer | None:
        """Tell what is spent, and ask for more; None: this worker was replaced."""
        await self._rows(_SETTLE_ENDED, name)
        rows = await self._rows(_MONEY, name, **fields_of(report), me=self._me, holders=self._holders.get(name, 1))
        if not rows:
            return None
        ((granted, ceiling, all_granted),) = rows
        ((spent, holders),) = await self._rows(_SPENT, name)
        self._holders[name] = holders
        leased = max(0, all_granted - spent)
        return MoneyAnswer(granted=granted, ceiling=ceiling, spent=spent, leased=leased, holders=holders)

    def _gone(self, name: str) -> tuple[float, float, float]:
        """Whoever has begun the run anew has no such limit, and nobody has told it lately."""
        del name
        return 0.0, 0.0, 0.0

    async def end(self, name: str, *, spent: int, reserved: int) -> None:
        """Nothing to do: what an ended worker did not use is given back by whoever asks next."""


@asynccontextmanager
async def open_run_account(
    dsn: Dsn, policy: Policy, *, worker: int, begins: bool, clock: Clock
) -> AsyncIterator[AccountSession]:
    """Hold a part of the run's ceiling and rates while the block runs; whoever `begins` the run says what they are."""
    ceiling, stated = policy.max_cost_nano, policy.rates.by_kind
    store = RunAccount(dsn, worker=worker)
    try:
        await store.open(ceiling=ceiling, rates=stated, begins=begins)
        rates = {kind: per_minute / 60.0 for kind, per_minute in stated.items()}
        terms = AccountTerms(name=_NAME, ceiling=ceiling, rates=rates, shapes=True)
        session = AccountSession(store, [terms], clock=clock, max_wait_s=policy.max_wait_s)
    except BaseException:
        await store.aclose()
        raise
    try:
        yield session
    finally:
        await session.aclose()

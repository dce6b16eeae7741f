"""What processes that share an account tell each other, and how much each takes at a time. Pure.

An account's money is leased in chunks and its rate in short stretches, so that every process decides about its own
calls without asking. Figures of a lease are sums since its beginning: what was told twice, or was told and not heard,
changes nothing.
"""

from math import ceil

import msgspec

REQUESTS, INPUT_TOKENS, OUTPUT_TOKENS, TOKENS = "requests", "input_tokens", "output_tokens", "tokens"
KINDS = (REQUESTS, INPUT_TOKENS, OUTPUT_TOKENS, TOKENS)
BURST_S = 0.05  # so much of a rate that nobody used may be made up for
_LEASES_PER_S = 25.0  # of all processes together, about
_TURN_S, _LONG = 0.5, 4.0  # a chunk that is used up sooner doubles; one that lasts so many times longer is halved
_DRY_S, _LONGEST_DRY_S, _ASKS_PER_S = 0.1, 1.0, 100.0
_LONGEST_STRETCH_S, _SHORTEST_STRETCH_S = 0.1, 0.02


class MoneyReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a process has done with its lease, and what it needs, in nano-dollars."""

    spent: int  # since the lease began
    kept: int  # of all that was granted to it since then; the rest is given back
    need: int = 0  # less than this is of no use; 0: nobody waits
    want: int = 0


class MoneyAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a process holds, and how the account stands."""

    granted: int  # to this lease since it began, less what was given back
    ceiling: int
    spent: int  # by everybody in this period, as far as they have reported it
    leased: int  # to everybody, and not reported as spent
    holders: int
    left_s: float | None = None  # until the next period begins; None: there is none


class RateReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a process needs of a rate, and what it gives back of it."""

    kind: str
    amount: float = 0.0  # of the rate, from now on
    returned: float = 0.0  # that was leased and not used


class RateAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of the rate, by the database's clock."""

    kind: str
    per_s: float  # 0: there is no such limit any more
    wait_s: float = 0.0  # until the stretch begins; below 0: it has begun
    amount: float = 0.0


class AccountTerms(msgspec.Struct, frozen=True, kw_only=True):
    """What an account limits."""

    name: str
    ceiling: int | None = None  # nano-dollars; None: no money
    rates: dict[str, float] = {}  # per second, by their kinds
    shapes: bool = False  # rates that a provider tells are shared, also where none is stated


class AccountReport(msgspec.Struct, frozen=True, kw_only=True):
    """All that a process has to tell one account at a time; `looks` asks for its rates and who shares it."""

    looks: bool = False
    money: MoneyReport | None = None
    rates: tuple[RateReport, ...] = ()
    learned: dict[str, float] = {}  # what the provider states per minute, by kind
    cool_s: float = 0.0  # nobody shall start a call for so long


class AccountAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What an account says to that; a lease that is gone was booked, and its rest is lost."""

    holders: int | None = None  # None: as before
    is_gone: bool = False
    money: MoneyAnswer | None = None
    rates: tuple[RateAnswer, ...] = ()  # those that were asked for, or to one who looks all
    cool_s: float = 0.0


def granted(*, left: int, need: int, want: int, holders: int) -> int:
    """How much of an account's money is leased to one that needs and wants so much.

    A process takes at most its half of an even share, so that chunks get small as the money does; but never less than
    it needs for one call, and nothing at all where that is not there. The statement in `postgres/account_store.py` says
    the same.
    """
    if left < max(need, 1):
        return 0
    return min(left, max(need, min(want, left // (2 * max(1, holders)))))


def next_chunk(chunk: int, *, lasted_s: float, holders: int) -> int:
    """The size of the next chunk, by how long the last one lasted: some seconds of spending, whatever that is.

    So little is what a process that dies may have spent unseen. The more share an account, the longer a chunk lasts.
    """
    turn = turn_s(holders)
    if lasted_s < turn:
        return chunk * 2
    return chunk // 2 if lasted_s > _LONG * turn else chunk


def turn_s(holders: int) -> float:
    """How often one process tells an account what it has spent, so that all together are no burden for it."""
    return max(_TURN_S, holders / _LEASES_PER_S)


def dry_s(tries: int, holders: int) -> float:
    """How long to wait before an account that had nothing to give, so many times in a row, is asked again."""
    first = max(_DRY_S, holders / _ASKS_PER_S / 4.0)
    return min(first * 2.0**tries, max(_LONGEST_DRY_S, holders / _ASKS_PER_S))


def stretch_s(holders: int) -> float:
    """How many seconds of a rate are leased at a time: everybody's turn comes about once a second."""
    return max(_SHORTEST_STRETCH_S, min(_LONGEST_STRETCH_S, 1.0 / max(1, holders)))


def whole(kind: str, amount: float) -> float:
    """An amount as it is leased: requests are whole."""
    return float(ceil(amount)) if kind == REQUESTS else amount

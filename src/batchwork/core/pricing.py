"""Decide what a call costs, what it may cost at worst, and in which price lane it is: where tokens meet dollars.

A price is resolved once per model and processing tier into integers (pico-dollars per token), so that pricing a call is
exact. A price that is not known is None, never zero. What a provider did not tell, and may bill, is charged at its
worst case as unconfirmed. Providers sell a model in several lanes: OpenAI by `service_tier` (flex, fast, once called
priority, ultrafast), Gemini by `serviceTier`, Anthropic by `speed`. The default lane is None, so that it costs one
comparison.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal
from enum import IntEnum
from typing import Any, NamedTuple

import msgspec

from batchwork.core.errors import ConfigError
from batchwork.core.failure import Failure
from batchwork.core.failure_table import may_be_billed
from batchwork.core.money import amount_of
from batchwork.core.reply import Reply, Usage

AUTO = "auto"
_DEFAULT_LANES = frozenset({"default", "standard", "standard_only", "on_demand", "unspecified"})
# A batch has its own price altogether; scale is capacity that was paid for before.
_SERVED_AS_DEFAULT = _DEFAULT_LANES | {"batch", "scale"}
_LONGEST_NAME = 40
_PICO_PER_MTOK_DOLLAR = 1_000_000  # $1 per million tokens is 1e6 pico-dollars per token
_PICO_PER_NANO = 1000
# What a write into the prompt cache costs, as a multiple of the input, where no row says it.
_WRITE, _WRITE_1H = Decimal("1.25"), Decimal(2)


class Writes(IntEnum):
    """What a call may write into the prompt cache, at the price of it."""

    NONE = 0
    SHORT = 1
    HOUR = 2


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """Pico-dollars per token of one price tier."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    cache_write_1h: int

    @classmethod
    def of(cls, amounts: Mapping[str, object], *, writes_cost_more: bool = True) -> Rates:
        """Rates from dollars per million tokens; an amount that is None or missing is never cheaper than the input."""
        rates = {name: pico_per_token(amount) for name, amount in amounts.items() if amount is not None}
        full = rates["input"]
        written = written_1h = rates.get("cache_write", full)
        if writes_cost_more:
            written, written_1h = _times(full, _WRITE), _times(full, _WRITE_1H)
        return cls(**{"cache_read": full, "cache_write": written, "cache_write_1h": written_1h, **rates})


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """What a model costs. `tiers` are price cliffs: the whole request is repriced above the threshold."""

    tiers: tuple[tuple[int, Rates], ...]  # (applies above this many input tokens, rates), ascending
    source: str
    per_call: int = 0  # pico-dollars for the call itself, at the few providers that charge for it
    lanes: dict[str, Price] = {}  # what it costs in lanes other than the default one, by name
    writes_from: int | None = None  # prompts of so many tokens are written into the cache unasked

    @property
    def dollars(self) -> tuple[Decimal, Decimal]:
        """Dollars per million tokens of input and of output, for a small request."""
        rates = self.tiers[0][1]
        return Decimal(rates.input) / _PICO_PER_MTOK_DOLLAR, Decimal(rates.output) / _PICO_PER_MTOK_DOLLAR

    def cost(self, usage: Usage, lane: str | None = None) -> int:
        """Nano-dollars for one call, rounded up."""
        if lane is not None:
            return self.in_lane(lane).cost(usage)
        rates = self.tiers[0][1]
        if len(self.tiers) > 1:
            for above, candidate in self.tiers:
                if usage.input_tokens > above:
                    rates = candidate
        pico = usage.output_tokens * rates.output
        cached = usage.cache_read_tokens + usage.cache_write_tokens + usage.cache_write_1h_tokens
        if cached:
            pico += (
                usage.cache_read_tokens * rates.cache_read
                + usage.cache_write_tokens * rates.cache_write
                + usage.cache_write_1h_tokens * rates.cache_write_1h
            )
        pico += (usage.input_tokens - cached) * rates.input + self.per_call
        return -(-pico // _PICO_PER_NANO)

    def worst(self, *, input_tokens: int, output_tokens: int, writes: Writes | None = None) -> int:
        """The most a call can cost in this lane, in any of its tiers; without `writes`, what it writes unasked."""
        if writes is None and self.writes_from is not None and input_tokens >= self.writes_from:
            writes = Writes.SHORT
        worst = 0
        for above, rates in self.tiers:
            if input_tokens <= above and above >= 0:
                continue
            per_input = rates.input if rates.input >= rates.cache_read else rates.cache_read  # noqa: FURB136 (a hot path)
            if writes:
                per_input = max(per_input, rates.cache_write, rates.cache_write_1h if writes is Writes.HOUR else 0)
            worst = max(worst, input_tokens * per_input + output_tokens * rates.output)
        return -(-(worst + self.per_call) // _PICO_PER_NANO)

    def writes_unasked(self, input_tokens: int) -> Writes:
        """What a prompt of at most so many tokens writes into the cache without being asked to."""
        return Writes.NONE if self.writes_from is None or input_tokens < self.writes_from else Writes.SHORT

    def in_lane(self, lane: str) -> Price:
        """The price in a lane; that of the dearest one where nobody knows it."""
        return self.lanes.get(lane) or dearest(self, *self.lanes.values())

    def times(self, factor: Decimal) -> Price:
        """This price with every rate multiplied."""
        tiers = tuple(
            (above, Rates(**{name: _times(rate, factor) for name, rate in msgspec.structs.asdict(rates).items()}))
            for above, rates in self.tiers
        )
        return Price(tiers=tiers, source=f"{self.source}, times {factor}", per_call=self.per_call)

    @property
    def is_free(self) -> bool:
        """Every rate is zero."""
        return not self.per_call and all(r.input == 0 and r.output == 0 for _, r in self.tiers)

    def __str__(self) -> str:
        first = self.tiers[0][1]
        text = f"${_per_mtok(first.input)} in, ${_per_mtok(first.output)} out per million tokens"
        for above, rates in self.tiers[1:]:
            text += f"; above {above:,} input tokens ${_per_mtok(rates.input)} / ${_per_mtok(rates.output)}"
        return f"{text} ({self.source})"


def dearest(*prices: Price) -> Price:
    """The dearest of several prices at every size of a request."""
    tiers = []
    for start in sorted({above for price in prices for above, _ in price.tiers}):
        rates = [[tier for tier in price.tiers if tier[0] <= start][-1][1] for price in prices]
        highest = {name: max(getattr(rate, name) for rate in rates) for name in Rates.__struct_fields__}
        tiers.append((start, Rates(**highest)))
    return msgspec.structs.replace(
        prices[0], tiers=tuple(tiers), lanes={}, source="the dearest lane", per_call=max(p.per_call for p in prices)
    )


def stated(input_per_mtok: object, output_per_mtok: object, *, source: str = "stated") -> Price:
    """A price from two amounts in dollars per million tokens. It knows no discount for what the cache holds."""
    rates = Rates.of({"input": input_per_mtok, "output": output_per_mtok})
    return Price(tiers=((-1, rates),), source=source)


def price_from(price: object) -> Price | None:
    """The price that a user states: `(IN, OUT)` or `"IN,OUT"` in dollars per million tokens, a price, or nothing."""
    if price is None or isinstance(price, Price):
        return price
    amounts = [part.strip() for part in price.split(",")] if isinstance(price, str) else price
    if isinstance(amounts, tuple | list) and len(amounts) == 2:
        return stated(*amounts)
    if isinstance(price, str):
        raise ConfigError(f"a price is IN,OUT in dollars per million tokens, for example 0.10,0.50; got {price!r}")
    raise ConfigError(f"price must be (IN, OUT) in dollars per million tokens, got {price!r}")


def pico_per_token(dollars_per_mtok: object) -> int:
    """Pico-dollars per token of a price in dollars per million tokens, rounded up."""
    return _times(_PICO_PER_MTOK_DOLLAR, amount_of(dollars_per_mtok, "a price in dollars per million tokens"))


def _times(pico: int, factor: Decimal) -> int:
    return int((pico * factor).to_integral_value(ROUND_CEILING))


def _per_mtok(pico: int) -> str:
    return f"{(Decimal(pico) / _PICO_PER_MTOK_DOLLAR).normalize():f}"


def lanes_asked(extra_body: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Every lane that a body's own fields ask for, the default one left out; a value that is no name comes as text."""
    if not extra_body:
        return ()
    lanes = []
    for field in ("speed", "service_tier", "serviceTier"):
        if field not in extra_body:
            continue
        value = extra_body[field]
        if value is None and field == "service_tier":
            value = AUTO  # taken out of the body, it leaves the choice to the provider; the others have one default
        if value is not None and (not isinstance(value, str) or value not in _DEFAULT_LANES):
            lanes.append(str(value)[:_LONGEST_NAME])
    return tuple(lanes)


def lane_asked(extra_body: Mapping[str, Any] | None) -> str | None:
    """The lane that a body's own fields ask for; None is the default one."""
    return next(iter(lanes_asked(extra_body)), None)


def lane_served(named: object, extra_body: Mapping[str, Any] | None) -> str | None:
    """The lane that a response names, else the one that was asked for; None is the default one.

    Of a batch nothing is known to have been asked for: it has a price of its own, unless a response says otherwise.
    """
    if type(named) is str and named and named != AUTO:
        return None if named in _SERVED_AS_DEFAULT else named[:_LONGEST_NAME]
    return None if extra_body is None else lane_asked(extra_body)


class Charge(NamedTuple):
    """What one call is booked at."""

    nano: int
    unconfirmed: bool = False  # it is the worst case: the provider has not told what it bills


FREE = stated(0, 0, source="costs nothing")
NOTHING = Charge(0)


def charge_for(result: Reply | Failure, *, price: Price | None, worst_nano: int) -> Charge:
    """What a call is booked at; without a known price, at nothing."""
    reply = result if isinstance(result, Reply) else result.reply
    if reply is not None and reply.reported_cost_nano is not None:
        return Charge(reply.reported_cost_nano)
    if price is None:
        return NOTHING
    usage = result.usage
    if usage is not None and (reply is None or _is_told(usage, reply)):
        return Charge(price.cost(usage, None if reply is None else reply.lane))
    if reply is not None or may_be_billed(result):  # type: ignore[arg-type]  # without a reply it is a failure
        return Charge(worst_nano, unconfirmed=worst_nano > 0)
    return NOTHING


def _is_told(usage: Usage, reply: Reply) -> bool:
    """Whether a usage can be what an answer used: nothing was ever answered for nothing, nor made of nothing."""
    return usage.input_tokens > 0 and (usage.output_tokens > 0 or not (reply.text or reply.tool_calls))

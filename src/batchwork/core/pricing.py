"""Decide what a call costs, and what it may cost at worst.

The only place where tokens meet dollars. A price is resolved once per model and
processing tier into integers (pico-dollars per token), so that pricing a call is a few
multiplications and exact. A price that is not known is None, never zero.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from enum import IntEnum
from typing import Any

import msgspec

from batchwork.core.errors import ConfigError
from batchwork.core.pricelanes import AUTO
from batchwork.core.reply import Usage

_PICO_PER_MTOK_DOLLAR = 1_000_000  # $1 per million tokens is 1e6 pico-dollars per token
_PICO_PER_NANO = 1000
# What a write into the prompt cache costs, as a multiple of the input, where no row says it.
_WRITE, _WRITE_1H = Decimal("1.25"), Decimal(2)
# GPT-5.6 and later write every prompt from so many tokens into the cache, and charge for it.
_WRITES_FROM = 1024
_WRITES_UNASKED = re.compile(r"gpt-(?:5\.(?:[6-9]|\d\d)|[6-9]|\d\d)(?!\d)")
_HAS_ULTRAFAST = re.compile(r"gpt-6-astra|gpt-5\.6-sol")
# Lanes by provider: those in the bundled table, and the factors of those that it does not have or has no row for.
_TABLE_LANES = {"openai": ("flex", "priority", "fast")}
_FACTORS: dict[str, dict[str, Decimal]] = {
    # Where a model has no row: the largest factor that any model has.
    "openai": {"flex": Decimal(1), "priority": Decimal("2.5"), "fast": Decimal("2.5"), "ultrafast": Decimal(6)},
    "anthropic": {"fast": Decimal(2), AUTO: Decimal(1)},  # priority is a contract, by which nothing gets dearer
    "groq": {"flex": Decimal(1), AUTO: Decimal(1)},
}


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


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """What a model costs. `tiers` are price cliffs: the whole request is repriced above the threshold."""

    tiers: tuple[tuple[int, Rates], ...]  # (applies above this many input tokens, rates), ascending
    source: str
    per_call: int = 0  # pico-dollars for the call itself, at the few providers that charge for it
    lanes: dict[str, Price] = {}  # what it costs in lanes other than the default one, by name
    writes_from: int | None = None  # prompts of so many tokens are written into the cache unasked

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
        """The most a call of at most so many tokens can cost in this lane, whichever tier it lands in.

        `writes` is what it may write into the cache; None: what the model writes unasked.
        """
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
        return self.lanes.get(lane) or _peak(self, *self.lanes.values())

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


def stated(input_per_mtok: object, output_per_mtok: object, *, source: str = "stated") -> Price:
    """A price from two amounts in dollars per million tokens.

    Raises:
        ConfigError: an amount is not a finite number of at least 0.
    """
    rate_in, rate_out = pico_per_token(input_per_mtok), pico_per_token(output_per_mtok)
    # A stated price knows no cache discount: cached tokens are charged in full, so that it never flatters.
    rates = Rates(input=rate_in, output=rate_out, cache_read=rate_in, **write_rates(rate_in))
    return Price(tiers=((-1, rates),), source=source)


def price_said(price: object) -> Price | None:
    """The price that a user states: `(IN, OUT)` or `"IN,OUT"` in dollars per million tokens, a price, or nothing.

    Raises:
        ConfigError: it is none of these, or not two numbers.
    """
    if price is None or isinstance(price, Price):
        return price
    if isinstance(price, str):
        return parse_price(price)
    if isinstance(price, tuple | list) and len(price) == 2:
        return stated(*price)
    raise ConfigError(f"price must be (IN, OUT) in dollars per million tokens, got {price!r}")


def parse_price(text: str) -> Price:
    """`"IN,OUT"` in dollars per million tokens.

    Raises:
        ConfigError: not two numbers.
    """
    parts = text.split(",")
    if len(parts) != 2:
        raise ConfigError(f"a price is IN,OUT in dollars per million tokens, for example 0.10,0.50; got {text!r}")
    return stated(parts[0].strip(), parts[1].strip())


def resolve(model: str, *, provider: str | None = None, batch: bool = False) -> Price | None:
    """The price of a model in the bundled price table, or None when it has none.

    With `batch` the batch price where there is a batch row; the table silently answers with the
    full price elsewhere, which `source` then says.
    """
    row = _look_up(model, provider, None)
    if row is None or row.input_mtok is None or row.output_mtok is None:
        return None  # listed without a price, or priced by the hour or the page: not known, which is not zero
    live = _from_table(row, "genai-prices", model)
    lanes = {}
    for lane in _TABLE_LANES.get(provider or "", ()):
        own = _look_up(model, provider, {"service_tier": lane})
        if own is not None and own != row:
            lanes[lane] = _from_table(own, f"genai-prices, {lane}", model)
    price = live
    if batch:
        discounted = _look_up(model, provider, {"processing": "batch"})
        if discounted is None or discounted.input_mtok == row.input_mtok:
            price = msgspec.structs.replace(live, source="genai-prices, no batch price known: live price")
        else:
            price = _from_table(discounted, "genai-prices, batch", model)
    return in_lanes(price, model, provider=provider, lanes=lanes, live=live)


def in_lanes(
    price: Price,
    model: str,
    *,
    provider: str | None,
    lanes: Mapping[str, Price] | None = None,
    live: Price | None = None,
) -> Price:
    """A price with those of its lanes: `lanes` where they are known, the provider's factors on `live` elsewhere."""
    known = {**price.lanes, **(lanes or {})}
    for lane, factor in _FACTORS.get(provider or "", {}).items():
        if lane not in known:
            known[lane] = price if factor == 1 else (live or price).times(factor)
    if provider == "openai" and AUTO not in known:
        has = (own for lane, own in known.items() if lane != "ultrafast" or _HAS_ULTRAFAST.search(model))
        known[AUTO] = _peak(price, *has)
    writes_from = _WRITES_FROM if _WRITES_UNASKED.search(model) else None
    known = {lane: msgspec.structs.replace(own, lanes={}, writes_from=writes_from) for lane, own in known.items()}
    return msgspec.structs.replace(price, lanes=known, writes_from=writes_from)


def _peak(*prices: Price) -> Price:
    """The dearest of several prices at every size of a request."""
    starts = sorted({above for price in prices for above, _ in price.tiers})
    tiers = []
    for start in starts:
        rates = [[tier for tier in price.tiers if tier[0] <= start][-1][1] for price in prices]
        highest = {name: max(getattr(rate, name) for rate in rates) for name in Rates.__struct_fields__}
        tiers.append((start, Rates(**highest)))
    return msgspec.structs.replace(
        prices[0], tiers=tuple(tiers), lanes={}, source="the dearest lane", per_call=max(p.per_call for p in prices)
    )


def _look_up(model: str, provider: str | None, context: dict[str, str] | None) -> Any | None:
    # Imported here because it takes a third of a second, which a run that states its price need not pay.
    from genai_prices import Usage as PriceUsage  # noqa: PLC0415
    from genai_prices import calc_price  # noqa: PLC0415

    try:
        usage = PriceUsage(input_tokens=1, output_tokens=1)
        return calc_price(usage, model, provider_id=provider, price_context=context).model_price
    except LookupError:
        return None


def _from_table(row: Any, source: str, model: str) -> Price:
    fields = {
        "input": row.input_mtok,
        # Where thinking costs more than answering, a usage that does not tell them apart is charged the dearer one.
        "output": max((f for f in (row.output_mtok, row.output_reasoning_mtok) if f is not None), key=_dearest),
        "cache_read": getattr(row, "cache_read_mtok", None),
        "cache_write": getattr(row, "cache_write_mtok", None),
        "cache_write_1h": getattr(row, "cache_write_1h_mtok", None),
    }
    # Models that do not charge for writing into the cache charge its tokens as others.
    charged = "claude" in model or _WRITES_UNASKED.search(model) is not None
    starts = sorted({tier.start for field in fields.values() for tier in getattr(field, "tiers", ())})
    return Price(
        tiers=tuple((above, _rates(fields, above, charged=charged)) for above in (-1, *starts)),
        source=source,
        per_call=pico_per_token((row.requests_kcount or 0) * 1000),  # stated per thousand, so a million times a call's
    )


def _rates(fields: Mapping[str, Any], above: int, *, charged: bool) -> Rates:
    rates = {name: pico_per_token(_at(field, above)) for name, field in fields.items() if field is not None}
    full = rates["input"]
    written = rates.get("cache_write", full)
    stand_ins = write_rates(full) if charged else {"cache_write": written, "cache_write_1h": written}
    return Rates(**{"cache_read": full, **stand_ins, **rates})


def _dearest(field: Any) -> Decimal:
    return max([field.base, *(tier.price for tier in field.tiers)]) if hasattr(field, "tiers") else Decimal(field)


def _at(field: Any, above: int) -> Decimal:
    """The price of one unit for a request just above the threshold."""
    if not hasattr(field, "tiers"):
        return Decimal(field)
    price = field.base
    for tier in field.tiers:
        if tier.start <= above:
            price = tier.price
    return Decimal(price)


def pico_per_token(dollars_per_mtok: object) -> int:
    """Pico-dollars per token of a price in dollars per million tokens, rounded up.

    Raises:
        ConfigError: not a finite number of at least 0.
    """
    try:
        amount = Decimal(str(dollars_per_mtok))
    except InvalidOperation:
        raise ConfigError(f"not a price in dollars per million tokens: {dollars_per_mtok!r}") from None
    if not amount.is_finite() or amount < 0:
        raise ConfigError(f"a price must be finite and at least 0, got {dollars_per_mtok!r}")
    return int((amount * _PICO_PER_MTOK_DOLLAR).to_integral_value(ROUND_CEILING))


def write_rates(rate_in: int) -> dict[str, int]:
    """What writing into the prompt cache costs where only the input's rate is known."""
    return {"cache_write": _times(rate_in, _WRITE), "cache_write_1h": _times(rate_in, _WRITE_1H)}


def _times(pico: int, factor: Decimal) -> int:
    return int((pico * factor).to_integral_value(ROUND_CEILING))


def _per_mtok(pico: int) -> str:
    return f"{(Decimal(pico) / _PICO_PER_MTOK_DOLLAR).normalize():f}"


FREE = stated(0, 0, source="costs nothing")

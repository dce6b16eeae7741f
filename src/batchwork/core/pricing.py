"""Decide what a call costs, and what it may cost at worst.

The only place where tokens meet dollars. A price is resolved once per model and
processing tier into integers (pico-dollars per token), so that pricing a call is a few
multiplications and exact. A price that is not known is None, never zero.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Any

import msgspec

from batchwork.core.errors import ConfigError
from batchwork.core.reply import Usage

_PICO_PER_MTOK_DOLLAR = 1_000_000  # $1 per million tokens is 1e6 pico-dollars per token
_PICO_PER_NANO = 1000


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

    def cost(self, usage: Usage) -> int:
        """Nano-dollars for one call, rounded up."""
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

    def worst(self, *, input_tokens: int, output_tokens: int, cache_writes: bool = False) -> int:
        """The most a call of at most so many tokens can cost, whichever tier it lands in."""
        worst = 0
        for above, rates in self.tiers:
            if input_tokens <= above and above >= 0:
                continue
            per_input = max(rates.input, rates.cache_write, rates.cache_write_1h) if cache_writes else rates.input
            worst = max(worst, input_tokens * per_input + output_tokens * rates.output)
        return -(-(worst + self.per_call) // _PICO_PER_NANO)

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
    rates = Rates(input=rate_in, output=rate_out, cache_read=rate_in, cache_write=rate_in, cache_write_1h=rate_in)
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
    live = _look_up(model, provider, None)
    if live is not None and (live.input_mtok is None or live.output_mtok is None):
        live = None  # listed without a price, or priced by the hour or the page: not known, which is not zero
    if live is None or not batch:
        return None if live is None else _from_table(live, "genai-prices")
    discounted = _look_up(model, provider, {"processing": "batch"})
    if discounted is None or discounted.input_mtok == live.input_mtok:
        return _from_table(live, "genai-prices, no batch price known: live price")
    return _from_table(discounted, "genai-prices, batch")


def _look_up(model: str, provider: str | None, context: dict[str, str] | None) -> Any | None:
    # Imported here because it takes a third of a second, which a run that states its price need not pay.
    from genai_prices import Usage as PriceUsage  # noqa: PLC0415
    from genai_prices import calc_price  # noqa: PLC0415

    try:
        usage = PriceUsage(input_tokens=1, output_tokens=1)
        return calc_price(usage, model, provider_id=provider, price_context=context).model_price
    except LookupError:
        return None


def _from_table(row: Any, source: str) -> Price:
    fields = {
        "input": row.input_mtok,
        # Where thinking costs more than answering, a usage that does not tell them apart is charged the dearer one.
        "output": max((f for f in (row.output_mtok, row.output_reasoning_mtok) if f is not None), key=_dearest),
        "cache_read": getattr(row, "cache_read_mtok", None),
        "cache_write": getattr(row, "cache_write_mtok", None),
        "cache_write_1h": getattr(row, "cache_write_1h_mtok", None),
    }
    for name, stand_in in (("cache_read", "input"), ("cache_write", "input"), ("cache_write_1h", "cache_write")):
        if fields[name] is None:
            fields[name] = fields[stand_in]
    starts = sorted({tier.start for field in fields.values() for tier in getattr(field, "tiers", ())})
    return Price(
        tiers=tuple(
            (above, Rates(**{name: pico_per_token(_at(field, above)) for name, field in fields.items()}))
            for above in (-1, *starts)
        ),
        source=source,
        per_call=pico_per_token((row.requests_kcount or 0) * 1000),  # stated per thousand, so a million times a call's
    )


def _dearest(field: Any) -> Decimal:
    return max([field.base, *(tier.price for tier in field.tiers)]) if hasattr(field, "tiers") else Decimal(field)


def _at(field: Any, above: int) -> Decimal:
    """The price of one unit for a request just above the threshold."""
    if field is None:
        return Decimal(0)
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


def _per_mtok(pico: int) -> str:
    return f"{(Decimal(pico) / _PICO_PER_MTOK_DOLLAR).normalize():f}"


FREE = stated(0, 0, source="costs nothing")

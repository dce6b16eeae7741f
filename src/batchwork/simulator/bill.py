"""What a call costs: genai-prices directly, in whole nano-dollars, rounded up per call.

The simulator's own bill, independent of the library's pricing on purpose. Lanes that genai-prices does not know are a
multiple of the standard price. A model without a known price is billed `None`, never zero.
"""

from decimal import ROUND_CEILING, Decimal
from functools import lru_cache
from typing import Literal

from genai_prices import Usage as PricedUsage
from genai_prices import calc_price
from genai_prices.types import ModelPrice
from msgspec import Struct

# The price lane of a live call: OpenAI's `service_tier`, Gemini's `serviceTier`, Anthropic's `speed`.
Lane = Literal["standard", "flex", "fast", "priority", "ultrafast"]
Tier = Literal["batch"] | Lane
_MULTIPLES: dict[tuple[str, Tier], Decimal] = {
    ("openai", "ultrafast"): Decimal(6),
    ("anthropic", "fast"): Decimal(2),
    ("google", "flex"): Decimal("0.5"),
    ("google", "priority"): Decimal(2),
}
# Batches that genai-prices has no row for: what they cost of the standard price, by whose and by how models are called.
_BATCHES: dict[tuple[str, str], Decimal] = {
    ("openai", "text-embedding-"): Decimal("0.5"),
    ("google", "gemini-embedding-"): Decimal("0.5"),
    ("mistral", "codestral-embed"): Decimal("0.5"),
    ("voyageai", "voyage-"): Decimal("0.67"),
}
_NANO = Decimal(10**9)


class Usage(Struct, frozen=True, gc=False):
    """Tokens of one answered call; `input` excludes the cached ones."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0

    @property
    def total_input(self) -> int:
        """All input tokens, cached or not."""
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h


@lru_cache(maxsize=1024)
def _price_of(api: str, model: str, tier: Tier) -> ModelPrice | None:
    context = {"processing": "batch"} if tier == "batch" else {"service_tier": tier} if tier != "standard" else None
    try:
        found = calc_price(PricedUsage(input_tokens=1), model, provider_id=api, price_context=context)
    except LookupError:
        return None
    return found.model_price


@lru_cache(maxsize=65536)
def nano_dollars(api: str, model: str, tier: Tier, usage: Usage) -> int | None:
    """The cost of one call, or None when the price is not known."""
    price = _price_of(api, model, tier)
    if price is None:
        return None
    written = usage.cache_write_5m + usage.cache_write_1h
    cost = price.calc_price(
        PricedUsage(
            input_tokens=usage.total_input,
            output_tokens=usage.output,
            cache_read_tokens=usage.cache_read or None,
            cache_write_tokens=written or None,
            cache_write_5m_tokens=usage.cache_write_5m or None,
            cache_write_1h_tokens=usage.cache_write_1h or None,
        )
    )
    multiple = _MULTIPLES.get((api, tier), Decimal(1))
    if tier == "batch" and price == _price_of(api, model, "standard"):
        multiple = next(
            (part for (who, name), part in _BATCHES.items() if who == api and model.startswith(name)), multiple
        )
    return int((multiple * cost["total_price"] * _NANO).to_integral_value(rounding=ROUND_CEILING))

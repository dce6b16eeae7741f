"""Prices that a user states for many models at once, which go before the bundled table.

TOML, a table per model (its id, or `provider:id`), in dollars per million tokens:

    ["claude-fable-5-2"]
    input = 10
    output = 50
    cache_read = 1          # without it, what is read from the cache costs as much as the rest
    cache_write = 12.5      # without these, 1.25 and 2 times the input
    cache_write_1h = 20
    batch_input = 5         # without these, a batch costs as much as live calls
    batch_output = 25

    [["claude-fable-5-2".above]]      # the whole request, once its input is above so many tokens
    tokens = 200000
    input = 20
    output = 75

    ["claude-fable-5-2".lanes]        # by `service_tier` or `speed`, where the provider's known factors do not hold
    fast = 2                          # a factor on all of the above, or a table of its own:
    flex = { input = 5, output = 25 }
"""

from __future__ import annotations

import tomllib
from decimal import Decimal
from typing import Any

import msgspec

from batchwork.core.errors import ConfigError
from batchwork.core.pricing import Price, Rates, pico_per_token, write_rates

_AMOUNTS = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
_BATCH = tuple(f"batch_{name}" for name in _AMOUNTS)
_TIER = frozenset({"tokens", *_AMOUNTS, *_BATCH})
_LANE = frozenset({"above", *_AMOUNTS})
_MODEL = _LANE | {"lanes", *_BATCH}


class PriceTable(msgspec.Struct, frozen=True, kw_only=True):
    """Stated prices by model."""

    live: dict[str, Price]
    batch: dict[str, Price]

    def find(self, model: str, *, provider: str | None = None, batch: bool = False) -> Price | None:
        """The stated price of a model, or None. A batch without a price of its own costs what live calls cost."""
        for name in (f"{provider}:{model}", model):
            price = (self.batch.get(name) if batch else None) or self.live.get(name)
            if price is not None:
                return price
        return None


def parse_price_table(text: str, *, source: str = "stated") -> PriceTable:
    """A table from its TOML.

    Raises:
        ConfigError: it is not TOML, or a model's table is not as above; the message names the place.
    """
    try:
        models = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source} is not TOML: {error}") from error
    live, batch = {}, {}
    for model, told in models.items():
        place = f"{source}, {model!r}"
        tiers = _tiers(told, _MODEL, place)
        price = _price(tiers, "", place, source)
        lanes = _lanes(told.get("lanes", {}), price, place, source)
        live[model] = msgspec.structs.replace(price, lanes=lanes)
        if any(name in told for name in _BATCH):
            price = _price(tiers, "batch_", place, f"{source}, batch")
            batch[model] = msgspec.structs.replace(price, lanes=lanes)
    return PriceTable(live=live, batch=batch)


def _lanes(told: object, price: Price, place: str, source: str) -> dict[str, Price]:
    if not isinstance(told, dict):
        raise ConfigError(f"{place}: 'lanes' is a table of factors or of tables")
    lanes = {}
    for name, own in told.items():
        if isinstance(own, dict):
            where = f"{place}, lane {name!r}"
            lanes[name] = _price(_tiers(own, _LANE, where), "", where, f"{source}, {name}")
        elif isinstance(own, int | float) and not isinstance(own, bool) and 0 < own < 1000:
            lanes[name] = price.times(Decimal(str(own)))
        else:
            raise ConfigError(f"{place}: lane {name!r} is a factor above 0, or a table with input and output")
    return lanes


def _tiers(told: object, known: frozenset[str], place: str) -> list[dict[str, Any]]:
    """The amounts of a table at every size of a request, the smallest first."""
    if not isinstance(told, dict):
        raise ConfigError(f"{place}: expected a table with input and output in dollars per million tokens")
    _refuse_unknown(told, known, place)
    above = told.get("above", [])
    if not isinstance(above, list) or not all(isinstance(tier, dict) for tier in above):
        raise ConfigError(f"{place}: 'above' is a list of tables")
    for tier in above:
        _refuse_unknown(tier, _TIER, place)
        if not isinstance(tier.get("tokens"), int) or tier["tokens"] < 0:
            raise ConfigError(f"{place}: 'above' needs 'tokens', a whole number of at least 0")
    return [{**told, "tokens": -1}, *sorted(above, key=lambda tier: int(tier["tokens"]))]


def _refuse_unknown(told: dict[str, Any], known: frozenset[str], place: str) -> None:
    if unknown := sorted(set(told) - known):
        raise ConfigError(f"{place}: unknown key {unknown[0]!r}; there are {', '.join(sorted(known))}")


def _price(tiers: list[dict[str, Any]], prefix: str, place: str, source: str) -> Price:
    return Price(tiers=tuple((tier["tokens"], _rates(tier, prefix, place)) for tier in tiers), source=source)


def _rates(tier: dict[str, Any], prefix: str, place: str) -> Rates:
    for name in ("input", "output"):
        if f"{prefix}{name}" not in tier:
            raise ConfigError(f"{place}: {prefix}{name} is missing")
    amounts = {name: tier.get(f"{prefix}{name}") for name in _AMOUNTS}
    rates = {name: pico_per_token(amount) for name, amount in amounts.items() if amount is not None}
    full = rates["input"]  # what is not stated is never cheaper
    return Rates(**{"cache_read": full, **write_rates(full), **rates})

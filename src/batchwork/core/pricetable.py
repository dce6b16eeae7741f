"""Prices that a user states for many models at once, which go before the bundled table.

TOML, a table per model (its id, or `provider:id`), in dollars per million tokens:

    ["claude-fable-5-2"]
    input = 10
    output = 50
    cache_read = 1          # without these, cached tokens cost as much as others
    cache_write = 12.5
    cache_write_1h = 20
    batch_input = 5         # without these, a batch costs as much as live calls
    batch_output = 25

    [["claude-fable-5-2".above]]      # the whole request, once its input is above so many tokens
    tokens = 200000
    input = 20
    output = 75
"""

from __future__ import annotations

import tomllib
from typing import Any

import msgspec

from batchwork.core.errors import ConfigError
from batchwork.core.pricing import Price, Rates, pico_per_token

_AMOUNTS = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
_BATCH = tuple(f"batch_{name}" for name in _AMOUNTS)
_TIER = frozenset({"tokens", *_AMOUNTS, *_BATCH})
_MODEL = frozenset({"above", *_AMOUNTS, *_BATCH})


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
        if not isinstance(told, dict):
            raise ConfigError(f"{place}: expected a table with input and output in dollars per million tokens")
        tiers = [{**told, "tokens": -1}, *_tiers(told.pop("above", []), place)]
        _refuse_unknown(told, _MODEL, place)
        live[model] = _price(tiers, "", place, source)
        if any(name in told for name in _BATCH):
            batch[model] = _price(tiers, "batch_", place, f"{source}, batch")
    return PriceTable(live=live, batch=batch)


def _tiers(told: object, place: str) -> list[dict[str, Any]]:
    if not isinstance(told, list) or not all(isinstance(tier, dict) for tier in told):
        raise ConfigError(f"{place}: 'above' is a list of tables")
    for tier in told:
        _refuse_unknown(tier, _TIER, place)
        if not isinstance(tier.get("tokens"), int) or tier["tokens"] < 0:
            raise ConfigError(f"{place}: 'above' needs 'tokens', a whole number of at least 0")
    return sorted(told, key=lambda tier: int(tier["tokens"]))


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
    # Not stated is never cheaper: cached tokens cost what others cost.
    for name, stand_in in (("cache_read", "input"), ("cache_write", "input"), ("cache_write_1h", "cache_write")):
        if amounts[name] is None:
            amounts[name] = amounts[stand_in]
    return Rates(**{name: pico_per_token(amount) for name, amount in amounts.items()})

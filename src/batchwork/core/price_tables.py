"""Prices of many models: the bundled table of genai-prices, and one that a user states, which goes before it.

A user's table is TOML, a table per model (its id, or `provider:id`) in dollars per million tokens. `docs/backends.md`
shows one with everything that may stand in it.
"""

import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import Any

import msgspec

from batchwork.core.data_file import read_data_file
from batchwork.core.errors import ConfigError
from batchwork.core.pricing import AUTO, Price, Rates, dearest, pico_per_token

_AMOUNTS = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
_BATCH = tuple(f"batch_{name}" for name in _AMOUNTS)
_TIER = frozenset({"tokens", *_AMOUNTS, *_BATCH})
_LANE = frozenset({"above", *_AMOUNTS})
_MODEL = _LANE | {"lanes", *_BATCH}


class _Lanes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    factors: dict[str, Decimal] = {}
    tables: tuple[str, ...] = ()
    some: dict[str, re.Pattern[str]] = {}
    auto_is_dearest: bool = False


class _BatchFactor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    provider: str
    models: re.Pattern[str]
    factor: Decimal


class _Known(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    writes_unasked: re.Pattern[str]
    writes_from: int
    lanes: dict[str, _Lanes]
    batch: tuple[_BatchFactor, ...]


@cache
def _known() -> _Known:
    return read_data_file(__file__, "prices.toml", _Known)


def resolve(model: str, *, provider: str | None = None, batch: bool = False, has_output: bool = True) -> Price | None:
    """The price of a model in the bundled table, or None. Where there is no batch price, it is the live one.

    A call for embeddings has no output (`has_output`), and needs no price for it.
    """
    row = _look_up(model, provider, None)
    if row is None or row.input_mtok is None or (row.output_mtok is None and has_output):
        return None  # listed without a price, or priced by the hour or the page: not known, which is not zero
    live = price = _from_row(row, "genai-prices", model)
    lanes = {}
    for lane in _known().lanes.get(provider or "", _Lanes()).tables:
        own = _look_up(model, provider, {"service_tier": lane})
        if own is not None and own != row:
            lanes[lane] = _from_row(own, f"genai-prices, {lane}", model)
    if batch:
        discounted = _look_up(model, provider, {"processing": "batch"})
        if discounted is None or discounted.input_mtok == row.input_mtok:
            price = _in_batches(live, model, provider)
        else:
            price = _from_row(discounted, "genai-prices, batch", model)
    return in_lanes(price, model, provider=provider, lanes=lanes, live=live)


def _in_batches(live: Price, model: str, provider: str | None) -> Price:
    """The price in batches of a model that the bundled table has no such row for."""
    for known in _known().batch:
        if known.provider == provider and known.models.fullmatch(model):
            return live.times(known.factor)
    return msgspec.structs.replace(live, source="genai-prices, no batch price known: live price")


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
    facts = _known().lanes.get(provider or "", _Lanes())
    for lane, factor in facts.factors.items():
        if lane not in known:
            known[lane] = price if factor == 1 else (live or price).times(factor)
    if facts.auto_is_dearest and AUTO not in known:
        has = (own for lane, own in known.items() if lane not in facts.some or facts.some[lane].search(model))
        known[AUTO] = dearest(price, *has)
    writes_from = _known().writes_from if _known().writes_unasked.search(model) else None
    known = {lane: msgspec.structs.replace(own, lanes={}, writes_from=writes_from) for lane, own in known.items()}
    return msgspec.structs.replace(price, lanes=known, writes_from=writes_from)


def listed_models(provider: str) -> list[str]:
    """The models of a provider in the bundled table; those that are gone are left out."""
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415

    found = (row.models for row in get_snapshot().providers if row.id == provider)
    return [model.id for model in next(found, ()) if not model.deprecated]


def provider_of(model: str) -> str | None:
    """The provider whose model this is, by the bundled table; None when it knows none."""
    from genai_prices import Usage as PriceUsage  # noqa: PLC0415
    from genai_prices import calc_price  # noqa: PLC0415

    try:
        return str(calc_price(PriceUsage(input_tokens=1, output_tokens=1), model).provider.id)
    except LookupError:
        return None


def _look_up(model: str, provider: str | None, context: dict[str, str] | None) -> Any | None:
    # Imported here because it takes a third of a second, which a run that states its price need not pay.
    from genai_prices import Usage as PriceUsage  # noqa: PLC0415
    from genai_prices import calc_price  # noqa: PLC0415

    try:
        usage = PriceUsage(input_tokens=1, output_tokens=1)
        return calc_price(usage, model, provider_id=provider, price_context=context).model_price
    except LookupError:
        return None


def _from_row(row: Any, source: str, model: str) -> Price:
    fields = {name: getattr(row, f"{name}_mtok", None) for name in _AMOUNTS}
    # Where thinking costs more than answering, a usage that does not tell them apart is charged the dearer one.
    outputs = [field for field in (row.output_mtok, row.output_reasoning_mtok) if field is not None] or [Decimal(0)]
    fields["output"] = max(outputs, key=_highest)
    # Models that do not charge for writing into the cache charge its tokens as others.
    charged = "claude" in model or _known().writes_unasked.search(model) is not None
    starts = sorted({tier.start for field in fields.values() for tier in getattr(field, "tiers", ())})
    amounts = ((above, {name: _at(field, above) for name, field in fields.items()}) for above in (-1, *starts))
    return Price(
        tiers=tuple((above, Rates.of(stated, writes_cost_more=charged)) for above, stated in amounts),
        source=source,
        per_call=pico_per_token((row.requests_kcount or 0) * 1000),  # stated per thousand, so a million times a call's
    )


def _highest(field: Any) -> Decimal:
    return max([field.base, *(tier.price for tier in field.tiers)]) if hasattr(field, "tiers") else Decimal(field)


def _at(field: Any, above: int) -> Decimal | None:
    """The price of one unit for a request just above the threshold."""
    if not hasattr(field, "tiers"):
        return None if field is None else Decimal(field)
    return Decimal(next((tier.price for tier in reversed(field.tiers) if tier.start <= above), field.base))


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
    """A table from its TOML; a ConfigError names the place that is not as above."""
    try:
        models = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source} is not TOML: {error}") from error
    live, batch = {}, {}
    for model, table in models.items():
        place = f"{source}, {model!r}"
        tiers = _tiers(table, _MODEL, place)
        price = _price(tiers, "", place, source)
        lanes = _lanes(table.get("lanes", {}), price, place, source)
        live[model] = msgspec.structs.replace(price, lanes=lanes)
        if any(name in table for name in _BATCH):
            price = _price(tiers, "batch_", place, f"{source}, batch")
            batch[model] = msgspec.structs.replace(price, lanes=lanes)
    return PriceTable(live=live, batch=batch)


def _lanes(table: object, price: Price, place: str, source: str) -> dict[str, Price]:
    if not isinstance(table, dict):
        raise ConfigError(f"{place}: 'lanes' is a table of factors or of tables")
    lanes = {}
    for name, own in table.items():
        if isinstance(own, dict):
            where = f"{place}, lane {name!r}"
            lanes[name] = _price(_tiers(own, _LANE, where), "", where, f"{source}, {name}")
        elif isinstance(own, int | float) and not isinstance(own, bool) and 0 < own < 1000:
            lanes[name] = price.times(Decimal(str(own)))
        else:
            raise ConfigError(f"{place}: lane {name!r} is a factor above 0, or a table with input and output")
    return lanes


def _tiers(table: object, known: frozenset[str], place: str) -> list[dict[str, Any]]:
    """The amounts of a table at every size of a request, the smallest first."""
    if not isinstance(table, dict):
        raise ConfigError(f"{place}: expected a table with input and output in dollars per million tokens")
    _refuse_unknown(table, known, place)
    above = table.get("above", [])
    if not isinstance(above, list) or not all(isinstance(tier, dict) for tier in above):
        raise ConfigError(f"{place}: 'above' is a list of tables")
    for tier in above:
        _refuse_unknown(tier, _TIER, place)
        if not isinstance(tier.get("tokens"), int) or tier["tokens"] < 0:
            raise ConfigError(f"{place}: 'above' needs 'tokens', a whole number of at least 0")
    return [{**table, "tokens": -1}, *sorted(above, key=lambda tier: int(tier["tokens"]))]


def _refuse_unknown(table: dict[str, Any], known: frozenset[str], place: str) -> None:
    if unknown := sorted(set(table) - known):
        raise ConfigError(f"{place}: unknown key {unknown[0]!r}; there are {', '.join(sorted(known))}")


def _price(tiers: list[dict[str, Any]], prefix: str, place: str, source: str) -> Price:
    return Price(tiers=tuple((tier["tokens"], _rates(tier, prefix, place)) for tier in tiers), source=source)


def _rates(tier: dict[str, Any], prefix: str, place: str) -> Rates:
    for name in ("input", "output"):
        if f"{prefix}{name}" not in tier:
            raise ConfigError(f"{place}: {prefix}{name} is missing")
    return Rates.of({name: tier.get(f"{prefix}{name}") for name in _AMOUNTS})

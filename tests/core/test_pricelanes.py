"""Which lane a request asks for, which one a response names, and what each costs."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from genai_prices import Usage as PriceUsage
from genai_prices import calc_price
from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.money import nano_from_dollars
from batchwork.core.price_tables import in_lanes, resolve
from batchwork.core.pricing import lane_served, lanes_asked, stated
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Request
from batchwork.core.worst import WorstCase

_USAGE = Usage(input_tokens=50_000, output_tokens=3_000, cache_read_tokens=10_000, cache_write_tokens=20_000)


def _their_bill(provider: str, model: str, usage: Usage, context: dict[str, str] | None, factor: object = 1) -> int:
    """What the price library itself makes of a call, times what it does not know."""
    told = PriceUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens or None,
        cache_write_tokens=usage.cache_write_tokens or None,
    )
    total = calc_price(told, model, provider_id=provider, price_context=context).total_price
    return nano_from_dollars(total * Decimal(str(factor)))


_GPT = ("gpt-6-luna", "gpt-6.1-sol", "gpt-6-astra", "gpt-5.6-terra")
_TABLE: list[tuple[str, str, str | None, dict[str, str] | None, object]] = [
    *(("openai", model, lane, {"service_tier": lane}, 1) for model in _GPT for lane in ("flex", "fast", "priority")),
    *(("openai", model, "ultrafast", None, 6) for model in _GPT),
    *(("openai", model, None, None, 1) for model in _GPT),
    *(("openai", model, "auto", {"service_tier": "fast"}, 1) for model in _GPT[:2]),
    ("openai", "gpt-6-astra", "auto", None, 6),
    *(("anthropic", model, "fast", None, 2) for model in ("claude-opus-5-5", "claude-opus-5", "claude-opus-4-8")),
    ("anthropic", "claude-haiku-5-5", None, None, 1),
    ("groq", "openai/gpt-oss-120b", "flex", None, 1),
]


@pytest.mark.parametrize(("provider", "model", "lane", "context", "factor"), _TABLE)
def test_a_lane_costs_what_the_price_table_says_or_its_known_factor(
    provider: str, model: str, lane: str | None, context: dict[str, str] | None, factor: object
) -> None:
    price = resolve(model, provider=provider)
    assert price is not None
    assert price.cost(_USAGE, lane) == _their_bill(provider, model, _USAGE, context, factor)


@pytest.mark.parametrize(("model", "factor"), [("gpt-5.5", "2.5"), ("gpt-4.1", "1.75"), ("gpt-5", 2)])
def test_the_fast_lane_of_an_older_model_has_the_factor_of_that_model(model: str, factor: object) -> None:
    price = resolve(model, provider="openai")
    assert price is not None
    usage = Usage(input_tokens=10_000, output_tokens=500)
    assert price.cost(usage, "fast") == _their_bill("openai", model, usage, None, factor)


def test_a_batch_is_billed_at_the_batch_price_and_a_lane_inside_it_at_the_lanes() -> None:
    batch, live = (resolve("gpt-6-luna", provider="openai", batch=batch) for batch in (True, False))
    assert batch is not None
    assert live is not None
    assert batch.cost(_USAGE) == _their_bill("openai", "gpt-6-luna", _USAGE, {"processing": "batch"})
    assert batch.cost(_USAGE, "fast") == live.cost(_USAGE, "fast")


def test_a_lane_that_nobody_knows_is_billed_as_the_dearest_and_has_no_bound() -> None:
    price = resolve("gpt-6-luna", provider="openai")
    assert price is not None
    assert price.cost(_USAGE, "brand-new") == price.cost(_USAGE, "ultrafast")
    request = Request.ask("x", extra_body={"service_tier": "brand-new"})
    assert "'brand-new'" in (WorstCase(price, overhead_tokens=0).unbounded(request) or "")


@pytest.mark.parametrize(
    ("extra", "asked"),
    [
        (None, ()),
        ({}, ()),
        ({"temperature": 1}, ()),
        ({"service_tier": "default"}, ()),
        ({"service_tier": "standard_only"}, ()),
        ({"service_tier": "fast"}, ("fast",)),
        ({"service_tier": None}, ("auto",)),  # taken out of the body: the project's settings decide
        ({"speed": "fast"}, ("fast",)),
        ({"speed": "standard"}, ()),
        ({"speed": None}, ()),
        ({"speed": "fast", "service_tier": "auto"}, ("fast", "auto")),
        ({"service_tier": ["fast"]}, ("['fast']",)),
    ],
)
def test_the_lanes_that_a_request_asks_for(extra: dict[str, Any] | None, asked: tuple[str, ...]) -> None:
    assert lanes_asked(extra) == asked


@pytest.mark.parametrize(
    ("said", "extra", "lane"),
    [
        (None, None, None),
        ("default", None, None),
        ("standard", None, None),
        ("fast", None, "fast"),
        ("default", {"service_tier": "fast"}, None),  # downgraded, and billed so
        ("priority", {"service_tier": "fast"}, "priority"),
        (None, {"service_tier": "fast"}, "fast"),
        ("", {"service_tier": "fast"}, "fast"),
        ("auto", {"service_tier": "fast"}, "fast"),
        (7, {"speed": "fast"}, "fast"),
        (None, {"temperature": 1}, None),
    ],
)
def test_the_lane_that_served_a_reply_is_the_one_it_names_else_the_one_asked_for(
    said: object, extra: dict[str, Any] | None, lane: str | None
) -> None:
    assert lane_served(said, extra) == lane


_EXTRA = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "service_tier": st.sampled_from(["auto", "default", "flex", "fast", "priority", "ultrafast", None]),
        "prompt_cache_options": st.sampled_from([{"mode": "explicit"}, {"mode": "implicit"}]),
    },
)


@given(
    model=st.sampled_from([*_GPT, "gpt-5.5", "gpt-4o-mini"]),
    batch=st.booleans(),
    extra=_EXTRA,
    text=st.integers(0, 3_000).map(lambda n: "x" * n),
    stated_price=st.booleans(),
    data=st.data(),
)
def test_no_reply_costs_more_than_the_worst_case_in_any_lane_it_may_have_been_served_in(
    model: str, batch: bool, extra: dict[str, Any] | None, text: str, stated_price: bool, data: st.DataObject
) -> None:
    price = resolve(model, provider="openai", batch=batch)
    if stated_price:
        price = in_lanes(stated(1, 5), model, provider="openai")
    assert price is not None
    request = Request.ask(text, extra_body=extra, max_tokens=50)
    worst = WorstCase(price, overhead_tokens=0)
    assert worst.unbounded(request) is None
    bound = worst.input_tokens(request)
    asked = lanes_asked(extra)
    served = data.draw(st.sampled_from(["default", *asked, *(["fast", "flex"] if "auto" in asked else [])]))
    used = data.draw(st.integers(0, bound))
    may_write = price.writes_from is not None and used >= 1024
    if extra and extra.get("prompt_cache_options") == {"mode": "explicit"}:
        may_write = False
    written = data.draw(st.integers(0, used)) if may_write else 0
    usage = Usage(input_tokens=used, output_tokens=50, cache_write_tokens=written)
    assert price.cost(usage, lane_served(served, extra)) <= worst.nano(request)


def test_a_reply_in_the_default_lane_is_kept_as_it_always_was_and_old_ones_can_be_read() -> None:
    old = {"text": "x", "usage": {"input_tokens": 1}}
    reply = msgspec.msgpack.decode(msgspec.msgpack.encode(old), type=Reply)
    assert reply.lane is None
    assert msgspec.to_builtins(reply) == old
    fast = msgspec.structs.replace(reply, lane="fast")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(fast), type=Reply) == fast

"""The bundled price table with its lanes, and the one that a user states."""

from decimal import Decimal
from typing import Any

import pytest
from genai_prices import Usage as PriceUsage
from genai_prices import calc_price
from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.bounds import WorstCase
from batchwork.core.errors import ConfigError
from batchwork.core.money import nano_from_dollars
from batchwork.core.ports import Traits
from batchwork.core.price_tables import in_lanes, parse_price_table, resolve
from batchwork.core.pricing import lane_served, lanes_asked, stated
from batchwork.core.reply import Usage
from batchwork.core.request import Request

TABLE = """
["claude-fable-5-2"]
input = 10
output = 50
cache_read = 1
batch_input = 5
batch_output = 25

[["claude-fable-5-2".above]]
tokens = 200000
input = 20
output = 75
batch_input = 10
batch_output = 40

["groq:llama"]
input = 0.1
output = 0.2
"""


def test_a_stated_price_is_found_by_model_and_by_provider_and_model():
    table = parse_price_table(TABLE)
    assert table.find("claude-fable-5-2", provider="anthropic") is not None
    assert table.find("llama", provider="groq") is not None
    assert table.find("llama", provider="openai") is None
    assert table.find("other") is None


def test_a_stated_price_has_its_cliff_and_its_cache():
    price = parse_price_table(TABLE).find("claude-fable-5-2")
    assert price.cost(Usage(input_tokens=1000, output_tokens=100)) == 15_000_000
    assert price.cost(Usage(input_tokens=1000, output_tokens=100, cache_read_tokens=1000)) == 6_000_000
    assert price.cost(Usage(input_tokens=300_000)) == 6_000_000_000


def test_a_batch_has_its_own_price_where_one_is_stated_and_the_live_price_elsewhere():
    table = parse_price_table(TABLE)
    usage = Usage(input_tokens=1000, output_tokens=100)
    assert table.find("claude-fable-5-2", batch=True).cost(usage) == 7_500_000
    assert table.find("llama", provider="groq", batch=True) == table.find("llama", provider="groq")


LANES = """
[m]
input = 1
output = 2
batch_input = 0.5
batch_output = 1

[m.lanes]
fast = 2.5
flex = { input = 0.3, output = 0.6 }

[m.lanes.turbo]
input = 4
output = 8
above = [{ tokens = 100, input = 8, output = 16 }]
"""


def test_lanes_are_stated_as_a_factor_or_by_amounts_of_their_own_for_batches_too():
    for batch in (False, True):
        price = parse_price_table(LANES).find("m", batch=batch)
        usage = Usage(input_tokens=1000, output_tokens=1000)
        assert price.cost(usage) == (1_500_000 if batch else 3_000_000)
        assert price.cost(usage, "fast") == 7_500_000
        assert price.cost(usage, "flex") == 900_000
        assert price.cost(usage, "turbo") == 24_000_000
        assert price.cost(Usage(input_tokens=100, output_tokens=0), "turbo") == 400_000


def test_writing_into_the_cache_costs_more_than_the_input_unless_stated_otherwise():
    table = parse_price_table("[a]\ninput = 1\noutput = 1\n[b]\ninput = 1\noutput = 1\ncache_write = 1")
    short, hour = (
        Usage(input_tokens=1000, cache_write_tokens=1000),
        Usage(input_tokens=1000, cache_write_1h_tokens=1000),
    )
    assert [table.find("a").cost(usage) for usage in (short, hour)] == [1_250_000, 2_000_000]
    assert [table.find("b").cost(usage) for usage in (short, hour)] == [1_000_000, 2_000_000]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x", "not TOML"),
        ("a = 1", "expected a table"),
        ("[a]\ninput = 1", "output is missing"),
        ("[a]\ninput = 1\noutput = 1\ncolour = 2", "colour"),
        ("[a]\ninput = -1\noutput = 1", "at least 0"),
        ("[a]\ninput = 1\noutput = 1\nabove = 3", "list of tables"),
        ("[a]\ninput = 1\noutput = 1\n[[a.above]]\ninput = 1\noutput = 1", "tokens"),
        ("[a]\ninput = 1\noutput = 1\nbatch_input = 1", "batch_output is missing"),
        ("[a]\ninput = 1\noutput = 1\nlanes = 2", "table of factors"),
        ("[a]\ninput = 1\noutput = 1\n[a.lanes]\nfast = 0", "factor above 0"),
        ("[a]\ninput = 1\noutput = 1\n[a.lanes]\nfast = 'two'", "factor above 0"),
        ("[a]\ninput = 1\noutput = 1\n[a.lanes.fast]\ninput = 2", "lane 'fast': output is missing"),
        ("[a]\ninput = 1\noutput = 1\n[a.lanes.fast]\ninput = 2\noutput = 2\nbatch_input = 2", "batch_input"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_with_its_place(text, words):
    with pytest.raises(ConfigError, match=words):
        parse_price_table(text)


_MODELS = [
    ("anthropic", "claude-haiku-4-5"),
    ("anthropic", "claude-sonnet-4-5"),
    ("anthropic", "claude-opus-4-1"),
    ("openai", "gpt-4o-mini"),
    ("openai", "gpt-5"),
    ("google", "gemini-2.5-pro"),
    ("google", "gemini-2.5-flash"),
]


_USAGES = [
    Usage(input_tokens=1, output_tokens=1),
    Usage(input_tokens=1234, output_tokens=567),
    Usage(input_tokens=200_000, output_tokens=10),
    Usage(input_tokens=200_001, output_tokens=10),
    Usage(input_tokens=900_000, output_tokens=64_000),
    Usage(input_tokens=5_000, output_tokens=10, cache_read_tokens=4_000),
]


def _theirs(model: str, provider: str, usage: Usage, context: dict[str, str] | None = None) -> Decimal:
    told = PriceUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens + usage.cache_write_1h_tokens,
    )
    return calc_price(told, model, provider_id=provider, price_context=context).total_price


@pytest.mark.parametrize(("provider", "model"), _MODELS)
@pytest.mark.parametrize("usage", _USAGES)
def test_a_cost_is_the_price_tables_own_rounded_up(provider: str, model: str, usage: Usage) -> None:
    price = resolve(model, provider=provider)
    assert price is not None
    assert price.cost(usage) == nano_from_dollars(_theirs(model, provider, usage))


@pytest.mark.parametrize(("provider", "model"), _MODELS[:5])
def test_a_batch_costs_what_the_tables_batch_row_says(provider: str, model: str) -> None:
    price = resolve(model, provider=provider, batch=True)
    usage = Usage(input_tokens=10_000, output_tokens=2_000)
    assert price is not None
    assert price.cost(usage) == nano_from_dollars(_theirs(model, provider, usage, {"processing": "batch"}))


def test_a_model_without_a_batch_row_says_that_the_live_price_holds() -> None:
    price = resolve("mistral-large-latest", provider="mistral", batch=True)
    assert price is not None
    assert "no batch price" in price.source


def test_an_unknown_model_has_no_price_rather_than_none_to_pay() -> None:
    assert resolve("no-such-model-at-all") is None


@pytest.mark.parametrize(("provider", "model"), [("openai", "whisper-1"), ("openai", "text-embedding-3-small")])
def test_a_model_that_is_listed_without_a_price_per_token_is_unknown_not_free(provider: str, model: str) -> None:
    assert resolve(model, provider=provider) is None


def test_no_model_of_the_table_is_free_by_omission() -> None:
    from genai_prices.data_snapshot import get_snapshot

    for provider in get_snapshot().providers:
        for model in provider.models:
            price = resolve(model.id, provider=provider.id)
            if price is not None and price.is_free:
                usage = Usage(input_tokens=1000, output_tokens=1000)
                assert _theirs(model.id, provider.id, usage) == 0, (provider.id, model.id)


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


_EXTRA = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "service_tier": st.sampled_from(["auto", "default", "flex", "fast", "priority", "ultrafast", None]),
        "prompt_cache_options": st.sampled_from([{"mode": "explicit"}, {"mode": "implicit"}]),
    },
)


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
    assert "'brand-new'" in (WorstCase(price, Traits(name="t")).unbounded(request) or "")


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
    worst = WorstCase(price, Traits(name="t"))
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

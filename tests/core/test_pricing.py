from decimal import Decimal

import pytest
from genai_prices import Usage as PriceUsage
from genai_prices import calc_price
from hypothesis import given, settings
from hypothesis import strategies as st

from batchwork.core.errors import ConfigError
from batchwork.core.money import nano_from_dollars
from batchwork.core.price_tables import resolve
from batchwork.core.pricing import FREE, Writes, price_from, stated
from batchwork.core.reply import Usage

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


def test_a_price_cliff_reprices_the_whole_request() -> None:
    price = resolve("claude-sonnet-4-5", provider="anthropic")
    assert price is not None
    below, above = (price.cost(Usage(input_tokens=n, output_tokens=0)) for n in (200_000, 200_001))
    assert above > 1.9 * below


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


def test_a_fee_for_the_call_itself_is_counted() -> None:
    price = resolve("sonar", provider="perplexity")
    assert price is not None
    told = PriceUsage(input_tokens=100, output_tokens=50)
    theirs = calc_price(told, "sonar", provider_id="perplexity").total_price
    assert price.cost(Usage(input_tokens=100, output_tokens=50)) == nano_from_dollars(theirs)
    assert price.worst(input_tokens=100, output_tokens=50) == nano_from_dollars(theirs)


@settings(max_examples=200)
@given(
    which=st.sampled_from(_MODELS),
    bound=st.integers(0, 1_000_000),
    output=st.integers(0, 100_000),
    share=st.floats(0, 1),
    cached=st.floats(0, 1),
)
def test_the_worst_case_is_never_below_the_cost(
    which: tuple[str, str], bound: int, output: int, share: float, cached: float
) -> None:
    price = resolve(which[1], provider=which[0])
    assert price is not None
    used = int(bound * share)
    usage = Usage(input_tokens=used, output_tokens=int(output * share), cache_read_tokens=int(used * cached))
    assert price.cost(usage) <= price.worst(input_tokens=bound, output_tokens=output)


def test_the_worst_case_covers_cache_writes_when_they_may_happen() -> None:
    price = resolve("claude-sonnet-4-5", provider="anthropic")
    assert price is not None
    written = price.cost(Usage(input_tokens=1000, output_tokens=0, cache_write_1h_tokens=1000))
    assert written <= price.worst(input_tokens=1000, output_tokens=0, writes=Writes.HOUR)
    assert written > price.worst(input_tokens=1000, output_tokens=0)


def test_a_stated_price_is_exact_and_never_flattered_by_a_cache() -> None:
    price = price_from("0.10, 0.50")
    assert price.cost(Usage(input_tokens=1_000_000, output_tokens=1_000_000)) == 600_000_000
    assert price.cost(Usage(input_tokens=1_000_000, cache_read_tokens=1_000_000)) == 100_000_000


def test_a_fraction_of_a_nano_dollar_is_rounded_up() -> None:
    assert stated("0.0001", 0).cost(Usage(input_tokens=1)) == 1


@pytest.mark.parametrize("text", ["1", "1,2,3", "a,b", "-1,2", "nan,1", "inf,1", ""])
def test_a_price_that_is_none_is_an_error(text: str) -> None:
    with pytest.raises(ConfigError, match="price"):
        price_from(text)


def test_free_is_free_and_says_so() -> None:
    assert FREE.is_free
    assert "costs nothing" in str(FREE)

"""What a call costs, what it may cost at worst, and in which lane it is."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from genai_prices import Usage as PriceUsage
from genai_prices import calc_price
from hypothesis import given, settings
from hypothesis import strategies as st

from batchwork.core.errors import ConfigError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.money import nano_from_dollars
from batchwork.core.price_tables import resolve
from batchwork.core.pricing import FREE, Charge, Writes, charge_for, lane_served, lanes_asked, price_from, stated
from batchwork.core.reply import Reply, ToolCall, Usage

_MODELS = [
    ("anthropic", "claude-haiku-4-5"),
    ("anthropic", "claude-sonnet-4-5"),
    ("anthropic", "claude-opus-4-1"),
    ("openai", "gpt-4o-mini"),
    ("openai", "gpt-5"),
    ("google", "gemini-2.5-pro"),
    ("google", "gemini-2.5-flash"),
]


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


def test_a_fee_for_the_call_itself_is_counted() -> None:
    price = resolve("sonar", provider="perplexity")
    assert price is not None
    told = PriceUsage(input_tokens=100, output_tokens=50)
    theirs = calc_price(told, "sonar", provider_id="perplexity").total_price
    assert price.cost(Usage(input_tokens=100, output_tokens=50)) == nano_from_dollars(theirs)
    assert price.worst(input_tokens=100, output_tokens=50) == nano_from_dollars(theirs)


def test_a_price_cliff_reprices_the_whole_request() -> None:
    price = resolve("claude-sonnet-4-5", provider="anthropic")
    assert price is not None
    below, above = (price.cost(Usage(input_tokens=n, output_tokens=0)) for n in (200_000, 200_001))
    assert above > 1.9 * below


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


def test_a_reply_in_the_default_lane_is_kept_as_it_always_was_and_old_ones_can_be_read() -> None:
    old = {"text": "x", "usage": {"input_tokens": 1}}
    reply = msgspec.msgpack.decode(msgspec.msgpack.encode(old), type=Reply)
    assert reply.lane is None
    assert msgspec.to_builtins(reply) == old
    fast = msgspec.structs.replace(reply, lane="fast")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(fast), type=Reply) == fast


PRICE = stated(1, 2)
WORST = 999
TOLD = Usage(input_tokens=10, output_tokens=5)


def charged(result: Reply | Failure) -> Charge:
    return charge_for(result, price=PRICE, worst_nano=WORST)


def failure(**told: object) -> Failure:
    return Failure(**({"kind": FailureKind.SERVER, "message": "scripted"} | told))  # type: ignore[arg-type]


def test_what_the_provider_told_is_what_it_costs() -> None:
    assert charged(Reply(text="yes", usage=TOLD)) == Charge(PRICE.cost(TOLD))


def test_a_cost_that_the_backend_reports_goes_before_the_price() -> None:
    assert charged(Reply(text="yes", usage=TOLD, reported_cost_nano=7)) == Charge(7)


def test_an_answer_without_a_usage_is_booked_at_its_worst_case() -> None:
    assert charged(Reply(text="yes")) == Charge(WORST, unconfirmed=True)


def test_nothing_was_ever_answered_for_nothing() -> None:
    for text, usage in (("yes", Usage()), ("", Usage()), ("yes", Usage(input_tokens=5)), ("", Usage(output_tokens=5))):
        assert charged(Reply(text=text, usage=usage)) == Charge(WORST, unconfirmed=True)
    assert not charged(Reply(text="", usage=Usage(input_tokens=5))).unconfirmed
    called = Reply(text="", usage=Usage(input_tokens=5), tool_calls=(ToolCall(name="f"),))
    assert charged(called) == Charge(WORST, unconfirmed=True)


def test_an_answer_that_cannot_be_used_costs_what_it_used() -> None:
    reply = Reply(text="no", usage=TOLD)
    assert charged(failure(kind=FailureKind.REFUSED, reply=reply, usage=TOLD)) == Charge(PRICE.cost(TOLD))


def test_an_answer_that_cannot_be_used_and_tells_no_usage_is_booked_at_its_worst_case() -> None:
    assert charged(failure(kind=FailureKind.REFUSED, reply=Reply(text="no"))) == Charge(WORST, unconfirmed=True)


def test_a_failure_that_may_be_billed_is_booked_at_its_worst_case() -> None:
    for told in ({"unconfirmed": True}, {"status": 504}, {"kind": FailureKind.RESULT_LOST}):
        assert charged(failure(**told)) == Charge(WORST, unconfirmed=True)


def test_a_failure_that_is_not_billed_costs_nothing() -> None:
    assert charged(failure(status=500)) == Charge(0)
    assert charged(failure(kind=FailureKind.EXPIRED)) == Charge(0)


def test_without_a_price_nothing_is_booked() -> None:
    for result in (Reply(text="yes", usage=TOLD), Reply(text="yes"), failure(unconfirmed=True)):
        assert charge_for(result, price=None, worst_nano=0) == Charge(0)


@given(
    st.builds(Usage, input_tokens=st.integers(0, 10**6), output_tokens=st.integers(0, 10**6)),
    st.text(max_size=3),
)
def test_a_charge_is_confirmed_only_where_a_usage_was_told(usage: Usage, text: str) -> None:
    charge = charged(Reply(text=text, usage=usage))
    assert charge.unconfirmed == (not usage.input_tokens or (bool(text) and not usage.output_tokens))
    assert charge.nano == (WORST if charge.unconfirmed else PRICE.cost(usage))

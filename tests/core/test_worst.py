"""The most a call can cost."""

from typing import Any

import pytest

from batchwork.core.ports import Traits
from batchwork.core.price_tables import in_lanes, resolve
from batchwork.core.pricing import FREE, stated
from batchwork.core.request import Message, Request
from batchwork.core.worst import WorstCase

_REQUEST = Request.ask("name a river", max_tokens=100)


def test_what_a_backend_adds_around_a_request_is_part_of_its_worst_case() -> None:
    price = stated(1, 1)  # a micro-dollar per token
    plain, around = (WorstCase(price, Traits(name="t", overhead_tokens=tokens)) for tokens in (0, 2000))
    assert around.input_tokens(_REQUEST) == plain.input_tokens(_REQUEST) + 2000
    assert around.nano(_REQUEST) == plain.nano(_REQUEST) + 2000 * 1000


def test_a_count_that_is_known_goes_before_the_bound() -> None:
    assert WorstCase(stated(1, 1), Traits(name="t", overhead_tokens=50)).nano(_REQUEST, input_tokens=7) == 107 * 1000


def test_what_is_free_or_not_known_reserves_nothing() -> None:
    assert [WorstCase(price, Traits(name="t", overhead_tokens=5)).nano(_REQUEST) for price in (None, FREE)] == [0, 0]


_SHORT_MARK, _HOUR_MARK = {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}


@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize(("mark", "factor"), [(_SHORT_MARK, 1.25), (_HOUR_MARK, 2.0)])
def test_a_prompt_that_is_marked_for_the_cache_may_cost_what_writing_it_costs(
    mark: dict[str, str], factor: float, batch: bool
) -> None:
    worst = WorstCase(resolve("claude-haiku-4-5", provider="anthropic", batch=batch), Traits(name="t"))
    request = Request(messages=(Message("user", [{"type": "text", "text": "x", "cache_control": mark}]),), max_tokens=1)
    plain = Request(messages=(Message("user", [{"type": "text", "text": "x"}]),), max_tokens=1)
    per_token = 500 if batch else 1000
    assert worst.nano(plain, input_tokens=10_000) == 10_005 * per_token
    assert worst.nano(request, input_tokens=10_000) == (10_000 * factor + 5) * per_token


def test_gpt_5_6_and_later_write_into_the_cache_unasked_from_1024_tokens() -> None:
    for model, factor in (("gpt-5.6-sol", 1.25), ("gpt-6-luna", 1.25), ("gpt-5.5", 1.0)):
        price = resolve(model, provider="openai")
        assert price is not None
        worst, rate = WorstCase(price, Traits(name="t")), price.tiers[0][1].input / 1000
        short, long = (
            worst.nano(_REQUEST, input_tokens=n) - worst.nano(_REQUEST, input_tokens=0) for n in (1023, 1024)
        )
        assert short == pytest.approx(1023 * rate, abs=2)
        assert long == pytest.approx(1024 * rate * factor, abs=2)


def test_a_prompt_that_switches_caching_off_is_not_reserved_at_the_price_of_writing() -> None:
    worst = WorstCase(in_lanes(stated(1, 1), "gpt-6-luna", provider="openai"), Traits(name="t"))

    def nano(blocks: list[dict[str, Any]], extra: dict[str, Any] | None) -> int:
        request = Request(messages=(Message("user", blocks),), extra_body=extra, max_tokens=1)
        return worst.nano(request, input_tokens=10_000)

    explicit = {"prompt_cache_options": {"mode": "explicit"}}
    bare = [{"type": "text", "text": "x"}]
    marked = [{"type": "text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit"}}]
    assert nano(bare, None) == 12_501_000
    assert nano(bare, explicit) == 10_001_000
    assert nano(marked, explicit) == 12_501_000


def test_a_lane_is_reserved_at_its_own_price_and_never_below_the_default_one() -> None:
    worst = WorstCase(resolve("gpt-5.4-mini", provider="openai"), Traits(name="t"))
    by_tier = {
        tier: worst.nano(Request.ask("x", extra_body={"service_tier": tier}), input_tokens=500)
        for tier in ("default", "flex", "fast", "ultrafast", "auto", None)
    }
    assert by_tier["flex"] == by_tier["default"]  # a server may answer in the default lane all the same
    assert by_tier["fast"] == by_tier["auto"] == by_tier[None] == 2 * by_tier["default"]
    assert by_tier["ultrafast"] == 6 * by_tier["default"]


def test_a_count_of_the_provider_is_trusted_with_a_margin_on_top() -> None:
    assert WorstCase(stated(1, 1), Traits(name="t", overhead_tokens=10), count_margin=0.05).counted(1000) == 1060
    assert WorstCase(stated(1, 1), Traits(name="t"), count_margin=0.0).counted(1000) == 1000
    assert WorstCase(stated(1, 1), Traits(name="t"), count_margin=0.2).counted(1) == 2


def test_what_has_no_bound_is_named_with_the_remedy_and_what_is_free_has_one() -> None:
    request = Request.ask("x", extra_body={"mcp_servers": []})
    reason = WorstCase(stated(1, 1), Traits(name="t")).unbounded(request)
    assert reason == (
        "cannot be bounded under max_cost: the field 'mcp_servers' of extra_body; leave it out, or run without max_cost"
    )
    assert WorstCase(FREE, Traits(name="t")).unbounded(request) is None
    assert WorstCase(stated(1, 1), Traits(name="t")).unbounded(_REQUEST) is None


def test_what_a_backend_is_known_to_do_is_in_the_worst_case() -> None:
    photo = Request(messages=(Message("user", [{"type": "image", "url": "https://example.org/a.png"}]),))
    scaled = WorstCase(stated(1, 1), Traits(name="a", image_tokens=6_000))
    assert scaled.unbounded(photo) is None
    assert WorstCase(stated(1, 1), Traits(name="b")).unbounded(photo) is not None
    caching = WorstCase(stated(1, 1), Traits(name="c", cache_writes=True))
    assert caching.nano(_REQUEST, input_tokens=1000) == (2 * 1000 + 100) * 1000

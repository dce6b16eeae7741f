import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.bounds import Expectation, WorstCase, measure
from batchwork.core.ports import Traits
from batchwork.core.price_tables import in_lanes, resolve
from batchwork.core.pricing import FREE, stated
from batchwork.core.reply import Usage
from batchwork.core.request import Attachment, Message, Request, Schema, digest


def input_bound(request: Request) -> int:
    return measure(request, image_tokens=None).tokens


@given(st.text())
def test_no_text_has_more_tokens_than_bytes(text: str) -> None:
    assert input_bound(Request.ask(text)) >= len(text.encode("utf-8", "surrogatepass"))


def test_every_part_counts() -> None:
    plain = input_bound(Request.ask("x"))
    parts: list[dict[str, object]] = [
        {"system": "s" * 100},
        {"schema": Schema.of({"type": "object", "title": "t" * 100})},
        {"documents": (Attachment(media_type="text/plain", digest=digest(b"d"), text="d" * 100),)},
        {"extra_body": {"tools": ["t" * 100]}},
    ]
    for part in parts:
        assert input_bound(Request.ask("x", **part)) >= plain + 100


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 1_000_000}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 1_000_000}},
    ],
)
def test_an_image_counts_as_the_providers_maximum_not_as_its_base64(block: dict[str, object]) -> None:
    assert 5_000 < input_bound(Request(messages=(Message("user", [block]),))) < 10_000


def test_a_pdf_is_bounded_by_the_pages_it_can_have() -> None:
    small, large = (
        input_bound(
            Request.ask("x", documents=(Attachment(media_type="application/pdf", digest=b"d", data=b"%" * size),))
        )
        for size in (500, 50_000_000)
    )
    assert small >= 10_000
    assert large >= 600 * 10_000


def test_an_unknown_block_counts_with_all_its_bytes() -> None:
    block = {"type": "novelty", "payload": "p" * 5000}
    assert input_bound(Request(messages=(Message("user", [block]),))) > 5000


def test_a_block_with_a_lone_surrogate_has_a_bound_too() -> None:
    block = {"type": "text", "text": "\ud800" * 10}
    assert input_bound(Request(messages=(Message("user", [block]),))) >= 30


def test_the_expectation_starts_as_a_guess_and_learns() -> None:
    expect = Expectation()
    assert expect.of(464, 1000) == (108, 256)
    expect.learn(464, Usage(input_tokens=40, output_tokens=7))
    assert expect.of(864, 1000) == (80, 7)
    assert expect.of(864, 3) == (80, 3)


@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 10**5)), max_size=20))
def test_the_expectation_is_never_zero_and_never_above_max_tokens(seen: list[tuple[int, int, int]]) -> None:
    expect = Expectation()
    for bound, tokens_in, tokens_out in seen:
        expect.learn(bound, Usage(input_tokens=tokens_in, output_tokens=tokens_out))
    tokens_in, tokens_out = expect.of(1000, 50)
    assert tokens_in >= 1
    assert 1 <= tokens_out <= 50


def test_a_document_block_is_bounded_by_its_pages_in_every_form() -> None:
    pdf = b"%PDF" + b"x" * 8000
    text = base64.b64encode(pdf).decode()
    forms = [
        {"type": "document", "media_type": "application/pdf", "data": pdf},
        {"type": "document", "data": pdf},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": text}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": text}},
    ]
    for block in forms:
        assert input_bound(Request(messages=(Message("user", [block]),))) >= 200_000, block


def test_a_document_by_address_may_be_as_long_as_any() -> None:
    block = {"type": "document", "url": "https://example.org/a.pdf"}
    assert input_bound(Request(messages=(Message("user", [block]),))) >= 6_000_000


def test_a_document_of_text_is_bounded_by_its_bytes() -> None:
    for block in (
        {"type": "document", "text": "word " * 100, "title": "a"},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "word " * 100}},
    ):
        assert 500 < input_bound(Request(messages=(Message("user", [block]),))) < 1000


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

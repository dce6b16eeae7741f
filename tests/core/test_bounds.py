import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.bounds import Expectation, measure
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
    assert expect.of(464, 1000) == (104, 256)
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

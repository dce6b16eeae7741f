"""What a block can be billed for at most, and what is refused because nobody knows."""

import base64
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchwork.core.blocks import Measure
from batchwork.core.bounds import measure
from batchwork.core.pricing import Writes
from batchwork.core.request import Attachment, Message, Request
from tests.core.test_media import png

Block = dict[str, Any]


def input_bound(request: Request) -> int:
    return measure(request, image_tokens=None).tokens


def _asked(*blocks: Block, **fields: Any) -> Request:
    return Request(messages=(Message("user", list(blocks)),), **fields)


def _measured(*blocks: Block, image_tokens: int | None = 6_000, **fields: Any) -> Measure:
    return measure(_asked(*blocks, **fields), image_tokens=image_tokens)


# -- nothing that has a bound has too small a one ---------------------------------------------------

_words = st.text(max_size=40)
_texts = st.builds(lambda text: {"type": "text", "text": text}, _words)
_images = st.builds(
    lambda w, h, wire: (
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _b64(png(w, h))}}
        if wire
        else {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_b64(png(w, h))}", "detail": "high"}}
    ),
    st.integers(1, 9000),
    st.integers(1, 9000),
    st.booleans(),
)
_documents = st.builds(
    lambda text, title, form: {
        "type": "document",
        "title": title,
        **(
            {"text": text},
            {"source": {"type": "text", "media_type": "text/plain", "data": text}, "context": title},
            {"source": {"type": "content", "content": text}},
            {
                "source": {"type": "content", "content": [{"type": "text", "text": text}]},
                "citations": {"enabled": True},
            },
        )[form],
    },
    _words,
    _words,
    st.integers(0, 3),
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | _words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=6,
)
_uses = st.builds(
    lambda name, value: {"type": "tool_use", "id": "t", "name": name, "input": {"v": value}}, _words, _json
)
_found = st.builds(
    lambda title, texts: {"type": "search_result", "source": "s", "title": title, "content": texts},
    _words,
    st.lists(_texts, max_size=3),
)
_flat = _texts | _images | _documents | _uses | _found
_blocks = st.recursive(
    _flat,
    lambda inner: st.builds(
        lambda content: {"type": "tool_result", "tool_use_id": "t", "content": content},
        _words | st.lists(inner, max_size=3),
    ),
    max_leaves=8,
)


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _billed(value: object, *, wire: str) -> int:
    """What a provider can bill: a token for each byte of a text, and for an image by its pixels. Knows no block."""
    if isinstance(value, str):
        if value.startswith("data:") or len(value) > 40:  # the images; no other text is so long here
            return 0
        return len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, dict):
        return sum(_billed(part, wire=wire) for part in value.values()) + _image_bill(value, wire)
    if isinstance(value, list):
        return sum(_billed(part, wire=wire) for part in value)
    return len(str(value))


def _image_bill(block: Block, wire: str) -> int:
    if block.get("type") not in ("image", "image_url"):
        return 0
    text = block["source"]["data"] if "source" in block else block["image_url"]["url"].partition(",")[2]
    raw = base64.b64decode(text)
    width, height = int.from_bytes(raw[16:20], "big"), int.from_bytes(raw[20:24], "big")
    if wire == "anthropic":
        return min(4784, math.ceil(width / 28) * math.ceil(height / 28))
    return math.ceil(1.2 * math.ceil(width / 32) * math.ceil(height / 32))


@settings(max_examples=300)
@given(st.lists(_blocks, min_size=1, max_size=4), st.sampled_from(["anthropic", "openai"]))
def test_no_nested_blocks_are_bounded_below_what_they_can_be_billed_for(blocks: list[Block], wire: str) -> None:
    found = _measured(*blocks, image_tokens=6_000 if wire == "anthropic" else None)
    assert found.unknown is None
    assert found.tokens >= _billed(blocks, wire=wire)


@settings(max_examples=300)
@given(
    st.lists(_blocks, min_size=1, max_size=3),
    st.sampled_from(["video_url", "input_audio", "container_upload", "thinking", "server_tool_use", "brand_new", ""]),
    _json,
    st.data(),
)
def test_a_block_that_nobody_knows_is_found_however_deep_it_stands(
    blocks: list[Block], kind: str, payload: object, data: st.DataObject
) -> None:
    strange: Block = {"type": kind, "payload": payload}
    for _ in range(data.draw(st.integers(0, 6))):
        strange = {
            "type": "tool_result",
            "tool_use_id": "t",
            "content": [*data.draw(st.lists(_flat, max_size=2)), strange],
        }
    found = _measured(*blocks, strange)
    assert found.unknown == f"a block of type {kind!r}"


@given(_json)
def test_nothing_that_is_no_block_is_an_error(junk: object) -> None:
    assert _measured({"type": "tool_result", "content": [junk]}).tokens > 0  # type: ignore[dict-item]
    for kind in ("text", "image", "image_url", "document", "file", "tool_result", "search_result", "refusal"):
        for field in ("source", "data", "content", "file", "image_url", "text", "citations"):
            assert _measured({"type": kind, field: junk}).tokens > 0


# -- what has no bound is named ----------------------------------------------------------------------

_URL = {"type": "url", "url": "https://example.org/a.pdf"}
_INSIDE = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "document", "source": _URL}]}


@pytest.mark.parametrize(
    ("block", "named"),
    [
        ({"type": "document", "url": "https://example.org/a.pdf"}, "a document by URL"),
        ({"type": "document", "source": _URL}, "a document by URL"),
        (_INSIDE, "a document by URL"),
        ({"type": "document", "source": {"type": "file", "file_id": "file_1"}}, "a document by the id of a file"),
        ({"type": "document", "source": {"type": "content", "content": [{"type": "video"}]}}, "type 'video'"),
        ({"type": "document", "media_type": "application/msword", "data": b"x"}, "application/msword"),
        ({"type": "document", "source": {"type": "text", "data": "x", "page_range": "1-"}}, "'page_range'"),
        ({"type": "container_upload", "file_id": "file_1"}, "'container_upload'"),
        ({"type": "video_url", "video_url": {"url": "https://example.org/a.mp4"}}, "'video_url'"),
        ({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}, "'input_audio'"),
        ({"type": "file", "file": {"file_id": "file-1"}}, "a file by its id"),
        ({"type": "file", "file": {"filename": "a.docx", "file_data": "AAAA"}}, "a file of type None"),
        ({"type": "file", "file": {"file_data": "data:application/msword;base64,AAAA"}}, "application/msword"),
        ({"type": "file", "file": "file-1"}, "a file without its data"),
        ({"type": "thinking", "thinking": "hm", "signature": "AAAA"}, "'thinking'"),
        ({"type": "redacted_thinking", "data": "AAAA"}, "'redacted_thinking'"),
        ({"type": "text", "text": "x", "file_id": "file_1"}, "the field 'file_id' of a block of type 'text'"),
        ({"type": "text", "text": {"url": "https://example.org"}}, "the field 'text' of a block of type 'text'"),
        ({"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "24h"}}, "cache_control"),
        ({"text": "x"}, "a block of type None"),
    ],
)
def test_what_has_no_bound_is_named(block: Block, named: str) -> None:
    assert named in (_measured(block).unknown or "nothing")


def test_an_image_by_url_is_bounded_only_where_a_provider_scales_images_down() -> None:
    for block in (
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        {"type": "image", "url": "https://example.org/a.png"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
    ):
        assert _measured(block, image_tokens=6_000).unknown is None
        assert "an image by URL" in (_measured(block, image_tokens=None).unknown or "")


def test_a_photo_of_twelve_megapixels_is_bounded_by_its_pixels_where_images_are_not_scaled_down() -> None:
    photo = Attachment(media_type="image/png", digest=b"d", data=png(4032, 3024))
    assert measure(Request.ask("x", documents=(photo,)), image_tokens=None).tokens > 14_364
    broken = Attachment(media_type="image/png", digest=b"d", data=b"no image")
    assert measure(Request.ask("x", documents=(broken,)), image_tokens=None).unknown is not None


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("mcp_servers", [{"url": "https://example.org"}], "'mcp_servers'"),
        ("container", "container_1", "'container'"),
        ("web_search_options", {}, "'web_search_options'"),
        ("previous_response_id", "resp_1", "'previous_response_id'"),
        ("conversation", "conv_1", "'conversation'"),
        ("context_management", {"edits": []}, "'context_management'"),
        ("fallbacks", [{"model": "claude-opus-5"}], "'fallbacks'"),
        ("models", ["dear/model"], "'models'"),
        ("best_of", 8, "'best_of'"),
        ("prediction", {"type": "content", "content": "x"}, "'prediction'"),
        ("modalities", ["text", "audio"], "'modalities'"),
        ("inference_geo", "us", "'inference_geo'"),
        ("max_output_tokens", 100_000, "'max_output_tokens'"),
        ("tools", [{"type": "web_search_20250305", "name": "web_search"}], "a tool of type 'web_search_20250305'"),
        ("tools", [{"type": "function", "function": {"name": "f"}}, {"type": "code_interpreter"}], "code_interpreter"),
        ("tools", "all", "a tool of type '?'"),
        ("output_config", {"effort": "low", "task_budget": {"total": 10**6}}, "'output_config.task_budget'"),
        ("prompt_cache_options", {"mode": "explicit", "ttl": "12h"}, "ttl '12h'"),
        ("system", [{"type": "document", "source": _URL}], "a document by URL"),
    ],
)
def test_a_field_that_may_cost_anything_is_named(field: str, value: Any, named: str) -> None:
    found = measure(Request.ask("x", extra_body={field: value}), image_tokens=None)
    assert named in (found.unknown or "nothing")
    assert measure(Request.ask("x", extra_body={field: None}), image_tokens=None).unknown is None


@pytest.mark.parametrize(
    "extra",
    [
        {"temperature": 0, "stop": ["\n"], "seed": 7, "logprobs": True},
        {"reasoning_effort": "high", "verbosity": "low", "parallel_tool_calls": False, "store": False},
        {"thinking": {"type": "enabled", "budget_tokens": 4000}, "output_config": {"effort": "high"}},
        {"chat_template_kwargs": {"enable_thinking": False}, "top_k": 20, "guided_json": {"type": "object"}},
        {"tools": [{"name": "f", "description": "d" * 500, "input_schema": {}}], "tool_choice": {"type": "auto"}},
        {"tools": [{"type": "function", "function": {"name": "f", "description": "d" * 500}}]},
        {"system": [{"type": "text", "text": "s" * 500}]},
        {"modalities": ["text"], "metadata": {"user_id": "u"}},
    ],
)
def test_fields_of_every_day_have_a_bound(extra: dict[str, Any]) -> None:
    request = Request.ask("x", extra_body=extra)
    assert measure(request, image_tokens=None).unknown is None
    assert input_bound(request) >= input_bound(Request.ask("x"))


def test_tools_and_a_system_prompt_in_extra_body_count_with_all_their_bytes() -> None:
    for extra in ({"tools": [{"name": "t" * 5000}]}, {"system": "s" * 5000}, {"response_format": {"x": "r" * 5000}}):
        assert input_bound(Request.ask("x", extra_body=extra)) > 5000


# -- what is written into the prompt cache ------------------------------------------------------------

_FIVE, _HOUR = {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}


@pytest.mark.parametrize(
    ("request_", "writes"),
    [
        (_asked({"type": "text", "text": "x"}), Writes.NONE),
        (_asked({"type": "text", "text": "x", "cache_control": _FIVE}), Writes.SHORT),
        (_asked({"type": "text", "text": "x", "cache_control": None}), Writes.NONE),
        (_asked({"type": "text", "text": "x", "cache_control": _HOUR}), Writes.HOUR),
        (
            _asked(
                {"type": "tool_result", "content": [{"type": "text", "text": "x", "cache_control": _HOUR}]},
                {"type": "text", "text": "x", "cache_control": _FIVE},
            ),
            Writes.HOUR,
        ),
        (Request.ask("x", extra_body={"cache_control": _HOUR}), Writes.HOUR),
        (
            Request.ask("x", extra_body={"system": [{"type": "text", "text": "s", "cache_control": _FIVE}]}),
            Writes.SHORT,
        ),
        (Request.ask("x", extra_body={"tools": [{"name": "f", "cache_control": _HOUR}]}), Writes.HOUR),
        (Request.ask("x", extra_body={"tools": [{"name": "f", "input_schema": {"cache_control": 1}}]}), Writes.NONE),
    ],
)
def test_a_mark_for_the_prompt_cache_is_found_wherever_it_stands(request_: Request, writes: Writes) -> None:
    assert measure(request_, image_tokens=None).writes is writes


def test_a_document_with_citations_counts_what_is_put_around_its_sentences() -> None:
    short = "a. " * 1000
    plain, cited = (
        input_bound(_asked({"type": "document", "text": short, "citations": citations})) for citations in (False, True)
    )
    assert cited >= plain + 1000 * 8

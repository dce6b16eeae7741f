"""Put an answer, whole or as server-sent events, an error or the limits into Anthropic's words."""

import time
from collections.abc import Iterator
from math import ceil
from typing import Any

import msgspec
from multidict import CIMultiDict

from batchwork.simulator.bill import Lane, Usage
from batchwork.simulator.buckets import RateLimits
from batchwork.simulator.clock import real_s, rfc3339
from batchwork.simulator.errors import Refused
from batchwork.simulator.prompt import Answer, Block, Citation, Document, Prompt
from batchwork.simulator.providers import ANTHROPIC

_PIECE = 40  # characters of one event


def _usage(usage: Usage, tier: str, lane: Lane, thinking: int) -> dict[str, Any]:
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write_5m + usage.cache_write_1h,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write_5m,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"thinking_tokens": thinking},
        "server_tool_use": None,
        "service_tier": tier,
        "speed": lane,
    }


def _block(block: Block, prompt: Prompt, number: int, message_id: str) -> dict[str, Any]:
    if block.kind == "thinking":
        return {"type": "thinking", "thinking": block.text, "signature": "simulated"}
    if block.kind == "tool_use":
        return {"type": "tool_use", "id": f"toolu_{message_id}_{number}", "name": block.name, "input": block.input}
    cited = [_citation(citation, prompt.documents) for citation in block.citations]
    return {"type": "text", "text": block.text, "citations": cited or None}


def _citation(citation: Citation, documents: tuple[Document, ...]) -> dict[str, Any]:
    """One citation with true offsets: characters of plain text, pages of a PDF, blocks of custom content."""
    document = documents[citation.document]
    common: dict[str, Any] = {
        "cited_text": document.text[citation.start : citation.end],
        "document_index": citation.document,
        "document_title": document.title,
        "file_id": None,
    }
    if document.source == "text":
        span = {"start_char_index": citation.start, "end_char_index": citation.end}
        return {"type": "char_location", **common, **span}
    gap = 1 if document.source == "pdf" else 0  # pages were joined by a line end
    first = _part_at(document.parts, citation.start, gap)
    last = _part_at(document.parts, max(citation.start, citation.end - 1), gap)
    if document.source == "pdf":
        return {"type": "page_location", **common, "start_page_number": first + 1, "end_page_number": last + 2}
    common["cited_text"] = "".join(document.parts[first : last + 1])
    return {"type": "content_block_location", **common, "start_block_index": first, "end_block_index": last + 1}


def _part_at(parts: tuple[str, ...], offset: int, gap: int) -> int:
    end = 0
    for number, part in enumerate(parts):
        end += len(part) + gap
        if offset < end:
            return number
    return max(0, len(parts) - 1)


def message_of(prompt: Prompt, answer: Answer, usage: Usage, message_id: str, tier: str) -> dict[str, Any]:
    """The whole message object."""
    details = None
    if answer.stop == "refusal":
        details = {"type": "refusal", "category": answer.category, "explanation": "simulated refusal"}
    return {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": f"simulated-{prompt.model}",
        "content": [_block(block, prompt, number, message_id) for number, block in enumerate(answer.blocks)],
        "stop_reason": answer.stop,
        "stop_sequence": answer.stop_sequence,
        "stop_details": details,
        "container": None,
        "diagnostics": None,
        "usage": _usage(usage, tier, prompt.lane, answer.thinking_tokens),
    }


def error_of(refused: Refused, request_id: str) -> dict[str, Any]:
    """The error envelope."""
    error: dict[str, Any] = {"type": ANTHROPIC.error_type(refused), "message": refused.message}
    if refused.code is not None:
        error["details"] = {"error_code": refused.code}
    return {"type": "error", "error": error, "request_id": request_id}


_FAMILIES = tuple(
    (name, *(f"anthropic-ratelimit-{name}-{what}" for what in ("limit", "remaining", "reset")))
    for name in ("requests", "input-tokens", "output-tokens", "tokens")
)


def limit_headers(limits: RateLimits, clock_offset_s: float) -> CIMultiDict[str]:
    """The rate-limit family; token figures are rounded to the nearest thousand, as the provider's are."""
    now, wall = real_s(), time.time() + clock_offset_s  # a client compares these with its own watch
    tightest = min((limits.input, limits.output), key=lambda bucket: bucket.per_minute)
    headers: CIMultiDict[str] = CIMultiDict()
    buckets = (limits.requests, limits.input, limits.output, tightest)
    for (name, limit, remaining, reset), bucket in zip(_FAMILIES, buckets, strict=True):
        left = bucket.remaining(now)
        headers[limit] = str(bucket.per_minute)
        headers[remaining] = str(left if name == "requests" else round(left, -3))
        headers[reset] = rfc3339(ceil(wall + bucket.full_in_s(now)))
    return headers


def event(name: str, data: dict[str, Any]) -> bytes:
    """One server-sent event."""
    return b"event: " + name.encode() + b"\ndata: " + msgspec.json.encode({"type": name, **data}) + b"\n\n"


def events_of(whole: dict[str, Any]) -> Iterator[bytes]:
    """All events of one message, in order."""
    start = {**whole, "content": [], "stop_reason": None, "stop_details": None}
    start["usage"] = {**whole["usage"], "output_tokens": 1}
    yield event("message_start", {"message": start})
    yield event("ping", {})
    for number, block in enumerate(whole["content"]):
        yield from _block_events(number, block)
    delta = {name: whole[name] for name in ("stop_reason", "stop_sequence", "stop_details")}
    yield event("message_delta", {"delta": delta, "usage": whole["usage"]})
    yield event("message_stop", {})


def _block_events(number: int, block: dict[str, Any]) -> Iterator[bytes]:
    kind = block["type"]
    if kind == "tool_use":
        empty, pieces = {**block, "input": {}}, _pieces(msgspec.json.encode(block["input"]).decode())
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    elif kind == "thinking":
        empty = {"type": "thinking", "thinking": "", "signature": ""}
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    else:
        empty = {"type": "text", "text": ""}
        if block["citations"]:
            empty["citations"] = []
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        deltas += [{"type": "citations_delta", "citation": citation} for citation in block["citations"] or ()]
    yield event("content_block_start", {"index": number, "content_block": empty})
    for delta in deltas:
        yield event("content_block_delta", {"index": number, "delta": delta})
    yield event("content_block_stop", {"index": number})


def _pieces(text: str) -> list[str]:
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]

"""Put an answer, an error or the limits into Anthropic's words."""

from math import ceil
from typing import Any

import msgspec
from multidict import CIMultiDict

from batchwork.simulator.bill import Lane, Usage
from batchwork.simulator.buckets import Limits
from batchwork.simulator.clock import real_s, rfc3339, wall_s
from batchwork.simulator.errors import Refused
from batchwork.simulator.prompt import Block, Citation, Document, Prompt, Said

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    503: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def usage_of(usage: Usage, tier: str, lane: Lane, thinking: int = 0) -> dict[str, Any]:
    """The `usage` object."""
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


def block_of(block: Block, prompt: Prompt, number: int, message_id: str) -> dict[str, Any]:
    """One content block."""
    if block.kind == "thinking":
        return {"type": "thinking", "thinking": block.text, "signature": "simulated"}
    if block.kind == "tool_use":
        return {"type": "tool_use", "id": f"toolu_{message_id}_{number}", "name": block.name, "input": block.input}
    cited = [citation_of(citation, prompt.documents) for citation in block.citations]
    return {"type": "text", "text": block.text, "citations": cited or None}


def citation_of(citation: Citation, documents: tuple[Document, ...]) -> dict[str, Any]:
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


def message_of(prompt: Prompt, said: Said, usage: Usage, message_id: str, tier: str = "standard") -> dict[str, Any]:
    """The whole message object."""
    details = None
    if said.stop == "refusal":
        details = {"type": "refusal", "category": said.category, "explanation": "simulated refusal"}
    thinking = sum((len(block.text) + 3) // 4 for block in said.blocks if block.kind == "thinking")
    return {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": f"simulated-{prompt.model}",
        "content": [block_of(block, prompt, number, message_id) for number, block in enumerate(said.blocks)],
        "stop_reason": said.stop,
        "stop_sequence": said.stop_sequence,
        "stop_details": details,
        "container": None,
        "diagnostics": None,
        "usage": usage_of(usage, tier, prompt.lane, thinking),
    }


def error_body(refused: Refused, request_id: str) -> bytes:
    """The error envelope."""
    kind = refused.type
    if kind == "invalid_request_error":
        kind = _TYPES.get(refused.status, "api_error")
    error: dict[str, Any] = {"type": kind, "message": refused.message}
    if refused.code is not None:
        error["details"] = {"error_code": refused.code}
    return msgspec.json.encode({"type": "error", "error": error, "request_id": request_id})


_FAMILIES = tuple(
    (name, *(f"anthropic-ratelimit-{name}-{what}" for what in ("limit", "remaining", "reset")))
    for name in ("requests", "input-tokens", "output-tokens", "tokens")
)


def limit_headers(limits: Limits, clock_offset_s: float) -> CIMultiDict[str]:
    """The rate-limit family; token figures are rounded to the nearest thousand, as the provider's are."""
    now, wall = real_s(), wall_s() + clock_offset_s
    tightest = min((limits.input, limits.output), key=lambda bucket: bucket.per_minute)
    headers: CIMultiDict[str] = CIMultiDict()
    buckets = (limits.requests, limits.input, limits.output, tightest)
    for (name, limit, remaining, reset), bucket in zip(_FAMILIES, buckets, strict=True):
        left = bucket.remaining(now)
        headers[limit] = str(bucket.per_minute)
        headers[remaining] = str(left if name == "requests" else round(left, -3))
        headers[reset] = rfc3339(ceil(wall + bucket.full_in_s(now)))
    return headers

"""Tell an answer as Anthropic's server-sent events."""

from collections.abc import Iterator
from typing import Any

import msgspec

from batchwork.simulator.anthropic.render import block_of, message_of
from batchwork.simulator.bill import Usage
from batchwork.simulator.prompt import Prompt, Said

_PIECE = 40


def event(name: str, data: dict[str, Any]) -> bytes:
    """One server-sent event."""
    return b"event: " + name.encode() + b"\ndata: " + msgspec.json.encode({"type": name, **data}) + b"\n\n"


def events_of(prompt: Prompt, said: Said, usage: Usage, message_id: str) -> Iterator[bytes]:
    """All events of one answer, in order."""
    whole = message_of(prompt, said, usage, message_id)
    start = {**whole, "content": [], "stop_reason": None, "stop_details": None}
    start["usage"] = {**whole["usage"], "output_tokens": 1}
    yield event("message_start", {"message": start})
    yield event("ping", {})
    for number, block in enumerate(said.blocks):
        yield from _block_events(number, block_of(block, prompt, number, message_id))
    delta = {"stop_reason": said.stop, "stop_sequence": said.stop_sequence, "stop_details": whole["stop_details"]}
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

"""A request in Anthropic's words: the body of `POST /v1/messages`, of `count_tokens` and of a batch line."""

from __future__ import annotations

from typing import Any

from batchwork.backends._body import WireSchemas, add_extra
from batchwork.backends._catalog import anthropic_thinking_off
from batchwork.backends._content import (
    Block,
    Piece,
    as_blocks,
    first_user_turn,
    is_plain,
    leading_system,
    piece_from,
    piece_of,
)
from batchwork.backends._refusing import bad_input, check_sampling
from batchwork.backends._schema import wire_schema
from batchwork.core.request import Message, Request

SAMPLING: frozenset[str] = frozenset()  # API version 2026-10-21 takes none, not even at their default values


class Asking:
    """Builds bodies for one model."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._thinking_off = anthropic_thinking_off(model)
        self._schemas = WireSchemas(lambda body: wire_schema("anthropic", body))

    def body(self, request: Request) -> dict[str, Any]:
        """Everything that is sent for one request.

        Raises:
            BackendError: it cannot be said on this wire.
        """
        if request.sampling:
            check_sampling(request.sampling, SAMPLING, "Anthropic's API")
        system, messages = request.system, request.messages
        if messages[0].role == "system":
            more, messages = leading_system(messages)
            system = f"{system}\n\n{more}" if system else more
            if not messages:
                bad_input("a conversation needs a turn after its system turns")
        body: dict[str, Any] = {"model": self._model, "max_tokens": request.output_bound, "messages": messages}
        if request.documents or not is_plain(messages):
            body["messages"] = _translated(messages, request)
        if system:
            body["system"] = system
        if request.schema is not None:
            body["output_config"] = {"format": {"type": "json_schema", "schema": self._schemas.of(request.schema)}}
        if self._thinking_off:
            body.update(self._thinking_off)
        if request.extra_body:
            add_extra(body, request.extra_body)
        return body

    def body_to_count(self, request: Request) -> dict[str, Any]:
        """The same without what only an answer needs.

        Raises:
            BackendError: it cannot be said on this wire.
        """
        body = self.body(request)
        for name in ("max_tokens", "metadata", "service_tier", "stop_sequences"):
            body.pop(name, None)
        return body


def _translated(messages: tuple[Message, ...], request: Request) -> list[Message]:
    turns = [Message(m.role, m.content if isinstance(m.content, str) else _blocks(m.content)) for m in messages]
    if request.documents:
        at = first_user_turn(request) - (len(request.messages) - len(messages))
        attached = [_block(piece_from(document)) for document in request.documents]
        turns[at] = Message(turns[at].role, attached + as_blocks(turns[at].content))
    _check_citations(turns, request)
    return turns


def _blocks(content: list[Block]) -> list[Block]:
    return [block if (piece := piece_of(block)) is None else _block(piece) for block in content]


def _block(piece: Piece) -> Block:
    if piece.kind == "image":
        return {"type": "image", "source": _file_or_url(piece)}
    if piece.text is not None:
        source: Block = {"type": "text", "media_type": "text/plain", "data": piece.text}
    else:
        if piece.url is None and piece.media_type != "application/pdf":
            bad_input(f"Anthropic takes PDF and text documents, not {piece.media_type}: send its text")
        source = _file_or_url(piece)
    block: Block = {"type": "document", "source": source}
    if piece.title:
        block["title"] = piece.title
    if piece.citations:
        block["citations"] = {"enabled": True}
    return block


def _file_or_url(piece: Piece) -> Block:
    if piece.url is not None:
        return {"type": "url", "url": piece.url}
    return {"type": "base64", "media_type": piece.media_type, "data": piece.base64}


def _check_citations(turns: list[Message], request: Request) -> None:
    """The two combinations that the API always refuses."""
    cited = [
        bool((block.get("citations") or {}).get("enabled"))
        for turn in turns
        if not isinstance(turn.content, str)
        for block in turn.content
        if block.get("type") == "document"
    ]
    if not any(cited):
        return
    if request.schema is not None:
        bad_input("Anthropic does not combine citations with a schema: ask for one of the two")
    if not all(cited):
        bad_input("Anthropic takes citations on all documents of a request or on none")

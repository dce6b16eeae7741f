"""A request in Anthropic's words: the body of `POST /v1/messages`, of `count_tokens` and of a batch line."""

from typing import Any

from batchwork.backends import _content as content
from batchwork.backends._catalog import fact
from batchwork.backends._content import Block, Piece, WireSchemas, is_plain, system_and_turns, translated
from batchwork.backends._failures import bad_input
from batchwork.core.request import Message, Request

SAMPLING: frozenset[str] = frozenset()  # API version 2026-10-21 takes none, not even at their default values
_ONLY_FOR_ANSWERS = ("max_tokens", "metadata", "service_tier", "stop_sequences")


class MessageBody:
    """Builds bodies for one model."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._thinking_off = fact("anthropic", model, "thinking_off")
        self._schemas = WireSchemas.of("anthropic")

    def build(self, request: Request) -> dict[str, Any]:
        """Everything that is sent for one request; what this wire cannot carry is a `BackendError`."""
        if request.sampling:
            content.check_sampling(request.sampling, SAMPLING, "Anthropic's API")
        system, messages = system_and_turns(request)
        body: dict[str, Any] = {"model": self._model, "max_tokens": request.output_bound, "messages": messages}
        if request.documents or not is_plain(messages):
            body["messages"] = _translated(messages, request)
        if system:
            body["system"] = system
        if request.schema is not None:
            body["output_config"] = {"format": {"type": "json_schema", "schema": self._schemas.encoded(request.schema)}}
        if self._thinking_off:
            body.update(self._thinking_off)
        if request.extra_body:
            content.add_extra(body, request.extra_body)
        return body


def body_to_count(body: dict[str, Any]) -> dict[str, Any]:
    """A body without what only an answer needs."""
    return {name: value for name, value in body.items() if name not in _ONLY_FOR_ANSWERS}


def _block(piece: Piece) -> Block:
    source: Block = {"type": "base64", "media_type": piece.media_type, "data": piece.base64}
    if piece.url is not None:
        source = {"type": "url", "url": piece.url}
    if piece.kind == "image":
        return {"type": "image", "source": source}
    if piece.text is not None:
        source = {"type": "text", "media_type": "text/plain", "data": piece.text}
    elif piece.url is None and piece.media_type != "application/pdf":
        bad_input(f"Anthropic takes PDF and text documents, not {piece.media_type}: send its text")
    block: Block = {"type": "document", "source": source}
    if piece.title:
        block["title"] = piece.title
    if piece.citations:
        block["citations"] = {"enabled": True}
    return block


def _translated(messages: tuple[Message, ...], request: Request) -> list[Message]:
    """The turns in Anthropic's form, but for the two combinations that the API always refuses."""
    turns = translated(messages, request.documents, _block)
    cited = [
        bool((block.get("citations") or {}).get("enabled"))
        for turn in turns
        if not isinstance(turn.content, str)
        for block in turn.content
        if block.get("type") == "document"
    ]
    if any(cited) and request.schema is not None:
        bad_input("Anthropic does not combine citations with a schema: ask for one of the two")
    if any(cited) and not all(cited):
        bad_input("Anthropic takes citations on all documents of a request or on none")
    return turns

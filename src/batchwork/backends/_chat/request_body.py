"""A request in the words of chat completions: the body of `POST /chat/completions` and of a batch line."""

from dataclasses import dataclass, field
from typing import Any

from batchwork.backends import _content as content
from batchwork.backends._content import Block, Piece, WireSchemas, is_plain, translated
from batchwork.backends._failures import bad_input
from batchwork.core.request import Message, Request

_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatDialect:
    """What differs between the servers that speak this wire, and between their models."""

    schemas: WireSchemas
    max_tokens_field: str = "max_tokens"
    strict: bool = True
    sampling: frozenset[str] = frozenset()
    sampling_names: dict[str, str] = field(default_factory=dict)  # its own, where they are not ours
    fixed: dict[str, Any] = field(default_factory=dict)  # fields of every body, under the user's own


class ChatBody:
    """Builds bodies for one model of one server."""

    def __init__(self, model: str, dialect: ChatDialect) -> None:
        self._model = model
        self._dialect = dialect
        self._max_tokens = dialect.max_tokens_field

    def build(self, request: Request) -> dict[str, Any]:
        """Everything that is sent for one request; what this wire cannot carry is a `BackendError`."""
        messages: Any = request.messages
        if request.documents or not is_plain(messages):
            messages = translated(messages, request.documents, _block)
        if request.system:
            messages = [Message("system", request.system), *messages]
        body: dict[str, Any] = {"model": self._model, "messages": messages, self._max_tokens: request.output_bound}
        if self._dialect.fixed:
            body.update(self._dialect.fixed)
        if request.sampling:
            content.check_sampling(request.sampling, self._dialect.sampling, f"the model {self._model}")
            names = self._dialect.sampling_names
            body.update({names.get(name, name): value for name, value in request.sampling.items()})
        if request.schema is not None:
            schemas = self._dialect.schemas
            schema: dict[str, Any] = {
                "name": _name(request.schema.name),
                "schema": schemas.encoded(request.schema),
            }
            if self._dialect.strict and schemas.is_compiled(request.schema):
                schema["strict"] = True
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if request.extra_body:
            content.add_extra(body, request.extra_body)
        return body


def _block(piece: Piece) -> Block:
    if piece.citations:
        bad_input("citations by the provider exist at Anthropic alone: leave them off for this model")
    data_url = f"data:{piece.media_type};base64,{piece.base64}"
    if piece.kind == "image":
        return {"type": "image_url", "image_url": {"url": piece.url or data_url}}
    if piece.text is not None:
        return {"type": "text", "text": content.document_text(piece)}
    if piece.base64 is None:
        bad_input("this wire takes no documents by address: send the file or its text")
    if piece.media_type != "application/pdf":
        bad_input(f"this wire takes PDF and text documents, not {piece.media_type}: send its text")
    name = piece.title or "document"
    name = name if name.lower().endswith(".pdf") else f"{name}.pdf"
    return {"type": "file", "file": {"filename": name, "file_data": data_url}}


def _name(name: str) -> str:
    return "".join(c if c in _NAME_CHARACTERS else "_" for c in name)[:64] or "answer"

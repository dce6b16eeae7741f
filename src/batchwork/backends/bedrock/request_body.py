"""A request in the words of Bedrock's Converse, which are the same for every maker's models."""

import re
from typing import Any

from batchwork.backends import _content as content
from batchwork.backends._content import Block, Piece, WireSchemas, is_plain, system_and_turns, translated, untyped_turn
from batchwork.backends._failures import bad_input
from batchwork.core.request import Request

# Our names of the sampling parameters, and its own.
_SAMPLING = {"temperature": "temperature", "top_p": "topP", "stop": "stopSequences", "stop_sequences": "stopSequences"}
SAMPLING = frozenset(_SAMPLING)
_ROLES = {"user": "user", "assistant": "assistant"}
_IMAGES = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
_DOCUMENTS = {
    "application/pdf": "pdf",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
}
_NAME = re.compile(r"[^A-Za-z0-9 \-()\[\]]+")  # what a document's name may not hold
_OURS_WITHIN = "maxTokens"


class ConverseBody:
    """Builds bodies for one model; schemas are in the subset of its maker, where that is known."""

    def __init__(self, model: str) -> None:
        maker = "anthropic" if "anthropic." in model else "openai"
        self._schemas = WireSchemas.of(maker, or_as_is=maker == "openai")  # type: ignore[arg-type]

    def build(self, request: Request) -> dict[str, Any]:
        """Everything that is sent for one request; what this wire cannot carry is a `BackendError`."""
        system, messages = system_and_turns(request)
        if request.documents or not is_plain(messages):
            messages = tuple(translated(messages, request.documents, _block))
        config: dict[str, Any] = {"maxTokens": request.output_bound}
        turns = [untyped_turn(message, "Bedrock", _ROLES, "content") for message in messages]
        body: dict[str, Any] = {"messages": turns, "inferenceConfig": config}
        if system:
            body["system"] = [{"text": system}]
        if request.sampling:
            content.check_sampling(request.sampling, SAMPLING, "Bedrock's Converse")
            config.update({_SAMPLING[name]: value for name, value in request.sampling.items()})
            if isinstance(stop := config.get("stopSequences"), str):
                config["stopSequences"] = [stop]
        if request.schema is not None:
            schema = bytes(self._schemas.encoded(request.schema)).decode()  # a text inside of the JSON
            structure = {"jsonSchema": {"schema": schema, "name": request.schema.name}}
            body["outputConfig"] = {"textFormat": {"type": "json_schema", "structure": structure}}
        if request.extra_body:
            _check_extra(request.extra_body)
            content.add_extra(body, request.extra_body)
        return body


def _block(piece: Piece) -> Block:
    if piece.citations:
        bad_input("citations are not asked for on Bedrock's wire: leave them off for this model")
    if piece.text is not None:
        return {"text": content.document_text(piece)}
    if piece.url is not None:
        bad_input(f"Bedrock fetches nothing: send the {piece.kind} itself")
    names = _IMAGES if piece.kind == "image" else _DOCUMENTS
    if piece.media_type not in names:
        bad_input(f"Bedrock takes no {piece.kind} of the type {piece.media_type}: send its text")
    held: Block = {"format": names[piece.media_type], "source": {"bytes": piece.base64}}
    if piece.kind != "image":
        held["name"] = " ".join(_NAME.sub(" ", piece.title or "document").split())[:200] or "document"
    return {piece.kind: held}


def _check_extra(extra: dict[str, Any]) -> None:
    config = extra.get("inferenceConfig")
    if "inferenceConfig" in extra and not isinstance(config, dict):
        bad_input("extra_body cannot take 'inferenceConfig' away: batchwork sets maxTokens there")
    if isinstance(config, dict) and _OURS_WITHIN in config:
        bad_input("extra_body cannot set 'inferenceConfig.maxTokens': batchwork does, from the request itself")

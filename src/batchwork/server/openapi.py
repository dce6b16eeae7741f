"""The OpenAPI document: written from the same types that read the bodies and write the answers."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from batchwork.prompts import Answer, PromptItem
from batchwork.prompts.field_path import PATTERN
from batchwork.server.errors import HTTP_CODES, ErrorBody
from batchwork.server.wire import PromptsAnswer, PromptsBody, StreamedAnswer, StreamedSummary

_TYPES = (PromptItem, PromptsBody, Answer, PromptsAnswer, StreamedAnswer, StreamedSummary, ErrorBody)
_REF = "#/components/schemas/{name}"
_EXAMPLE = {
    "prompt": "Which river flows through Vienna? Answer as JSON.",
    "response_format": {
        "type": "json_schema",
        "json_schema": {
            "name": "river",
            "schema": {"type": "object", "properties": {"river": {"type": "string"}}, "required": ["river"]},
        },
    },
    "extract_field_path": "river",
}
_GUARDED = ("missing_api_key", "wrong_api_key", "wrong_host", "internal_error")
_READING = (
    *_GUARDED,
    "invalid_http",
    "invalid_json",
    "request_timeout",
    "body_too_large",
    "unsupported_media_type",
    "invalid_request",
)
_STARTING = ("over_budget", "storage_failed", "too_busy", "shutting_down")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One address of the API, and what it says about itself."""

    path: str
    method: str
    summary: str
    responses: dict[str, Any]
    takes: dict[str, Any] | None = None
    guarded: bool = True

    def operation(self, name: str) -> dict[str, Any]:
        """Its part of the document."""
        told: dict[str, Any] = {"operationId": name, "summary": self.summary, "responses": self.responses}
        if self.takes is not None:
            told["requestBody"] = self.takes
        if self.guarded:
            told["security"] = [{"key": []}]
        return told


@cache
def document(models: tuple[str, ...]) -> dict[str, Any]:
    """The whole document of a server with these models, made once."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "batchwork prompts API",
            "version": "1",
            "description": "One prompt or a thousand over one engine: in order, in budget, none reused.",
        },
        "paths": {route.path: {route.method.lower(): route.operation(name)} for name, route in ROUTES.items()},
        "components": {
            "schemas": _schemas(models),
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-API-Key"}},
        },
    }


def _schemas(models: tuple[str, ...]) -> dict[str, Any]:
    """The types as they are, and what our decoders check beyond them.

    `OnePrompt` is a `PromptItem` that stands alone: what is one item's error among many is the whole request's there.
    """
    _, schemas = msgspec.json.schema_components(_TYPES, ref_template=_REF)
    schemas["PromptItem"]["oneOf"] = [
        _either("prompt", "string", "messages"),
        _either("messages", "array", "prompt"),
    ]
    one, turn = deepcopy(schemas["PromptItem"]), deepcopy(schemas["Turn"])
    one["properties"]["model"] = {"enum": [*models, None], "default": None}
    for choice in one["properties"]["extract_field_path"]["anyOf"]:
        if choice["type"] == "string":
            choice["pattern"] = PATTERN
    for choice in one["properties"]["messages"]["anyOf"]:
        if choice["type"] == "array":
            choice["items"] = {"$ref": _REF.format(name="OneTurn")}
    for choice in turn["properties"]["content"]["anyOf"]:
        if choice["type"] == "array":
            choice["items"] |= {"required": ["type"], "properties": {"type": {"type": "string"}}}
    return schemas | {"OnePrompt": one | {"title": "OnePrompt"}, "OneTurn": turn | {"title": "OneTurn"}}


def _either(there: str, kind: str, not_there: str) -> dict[str, Any]:
    return {"required": [there], "properties": {there: {"type": kind}, not_there: {"type": "null"}}}


def _ref(of: type) -> dict[str, str]:
    return {"$ref": _REF.format(name=of.__name__)}


def _body(name: str, example: Any) -> dict[str, Any]:
    schema = {"$ref": _REF.format(name=name)}
    return {"required": True, "content": {"application/json": {"schema": schema, "example": example}}}


def _found(description: str, content: dict[str, Any]) -> dict[str, Any]:
    return {"200": {"description": description, "content": {kind: {"schema": of} for kind, of in content.items()}}}


def _errors(*codes: str) -> dict[str, Any]:
    by_status: dict[str, Any] = {}
    for code in codes:
        status, _, meaning = HTTP_CODES[code]
        content = {"application/json": {"schema": _ref(ErrorBody)}}
        told = by_status.setdefault(str(status), {"description": "", "content": content})
        told["description"] += ("; " if told["description"] else "") + f"`{code}`: {meaning}"
    return by_status


_STATUS = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
ROUTES = {
    "prompt": Route(
        path="/api/v1/prompt",
        method="POST",
        summary="Ask one prompt.",
        takes=_body("OnePrompt", _EXAMPLE),
        responses=_found("The answer, or why there is none.", {"application/json": _ref(Answer)})
        | _errors(*_READING, "invalid_schema", "invalid_path", "unknown_model", *_STARTING),
    ),
    "prompts": Route(
        path="/api/v1/prompts",
        method="POST",
        summary="Ask 1 to 1000 prompts; answers in request order, or as a stream with Accept: application/x-ndjson.",
        takes=_body("PromptsBody", {"prompts": [_EXAMPLE], "batch_size": 100}),
        responses=_found(
            "The answers in request order; as a stream one JSON object per line, the summary last.",
            {
                "application/json": _ref(PromptsAnswer),
                "application/x-ndjson": {"anyOf": [_ref(StreamedAnswer), _ref(StreamedSummary)]},
            },
        )
        | _errors(*_READING, "not_acceptable", "prompt_count", "duplicate_id", *_STARTING),
    ),
    "health": Route(
        path="/health",
        method="GET",
        summary="Whether the process lives.",
        responses=_found("It does.", {"application/json": _STATUS}),
        guarded=False,
    ),
    "ready": Route(
        path="/ready",
        method="GET",
        summary="Whether requests are taken.",
        responses=_found("They are.", {"application/json": _STATUS}) | _errors("shutting_down"),
        guarded=False,
    ),
    "metrics": Route(
        path="/metrics",
        method="GET",
        summary="The numbers of the server, for Prometheus.",
        responses=_found("Text of version 0.0.4.", {"text/plain": {"type": "string"}}) | _errors(*_GUARDED),
    ),
}

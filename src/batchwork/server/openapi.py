"""The OpenAPI document: written from the same types that read the bodies and write the answers."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from batchwork.pipeline import Answer, PromptItem
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
_READING = (*_GUARDED, "invalid_json", "request_timeout", "body_too_large", "unsupported_media_type", "invalid_request")
_STARTING = ("over_budget", "storage_failed", "too_busy", "shutting_down")


def describe(name: str) -> dict[str, Any]:
    """What a route says about itself."""
    return {"operation_id": name, **_ROUTES[name]}


def document(app: FastAPI) -> dict[str, Any]:
    """The whole document, made once."""
    if app.openapi_schema is None:
        made = get_openapi(
            title=app.title,
            version="1",
            description="One prompt or a thousand over one engine: in order, in budget, none reused.",
            routes=app.routes,
        )
        _, schemas = msgspec.json.schema_components(_TYPES, ref_template=_REF)
        schemas["PromptItem"]["oneOf"] = [
            _either("prompt", "string", "messages"),
            _either("messages", "array", "prompt"),
        ]
        components = made.setdefault("components", {})
        components.setdefault("schemas", {}).update(schemas)
        components["securitySchemes"] = {"key": {"type": "apiKey", "in": "header", "name": "X-API-Key"}}
        app.openapi_schema = made
    return app.openapi_schema


def _either(there: str, kind: str, not_there: str) -> dict[str, Any]:
    return {"required": [there], "properties": {there: {"type": kind}, not_there: {"type": "null"}}}


def _body(of: type, example: Any) -> dict[str, Any]:
    schema = {"$ref": _REF.format(name=of.__name__)}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema, "example": example}}}}


def _errors(*codes: str) -> dict[int | str, dict[str, Any]]:
    by_status: dict[int | str, dict[str, Any]] = {}
    for code in codes:
        status, _, meaning = HTTP_CODES[code]
        told = by_status.setdefault(
            status,
            {
                "description": "",
                "content": {"application/json": {"schema": {"$ref": _REF.format(name="ErrorBody")}}},
            },
        )
        told["description"] += ("; " if told["description"] else "") + f"`{code}`: {meaning}"
    return by_status


def _found(description: str, **content: Any) -> dict[int | str, dict[str, Any]]:
    kinds = {kind.replace("_", "/", 1).replace("_", "-"): {"schema": schema} for kind, schema in content.items()}
    return {200: {"description": description, "content": kinds}}


def _ref(of: type) -> dict[str, str]:
    return {"$ref": _REF.format(name=of.__name__)}


_STATUS = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
_KEY: dict[str, Any] = {"security": [{"key": []}]}
_ROUTES: dict[str, dict[str, Any]] = {
    "prompt": {
        "summary": "Ask one prompt.",
        "openapi_extra": {**_body(PromptItem, _EXAMPLE), **_KEY},
        "responses": _found("The answer, or why there is none.", application_json=_ref(Answer))
        | _errors(*_READING, "invalid_schema", "invalid_path", "unknown_model", *_STARTING),
    },
    "prompts": {
        "summary": "Ask 1 to 1000 prompts; answers in request order, or as a stream with Accept: application/x-ndjson.",
        "openapi_extra": {**_body(PromptsBody, {"prompts": [_EXAMPLE], "batch_size": 100}), **_KEY},
        "responses": _found(
            "The answers in request order; as a stream one JSON object per line, the summary last.",
            application_json=_ref(PromptsAnswer),
            application_x_ndjson={"anyOf": [_ref(StreamedAnswer), _ref(StreamedSummary)]},
        )
        | _errors(*_READING, "not_acceptable", "prompt_count", "duplicate_id", *_STARTING),
    },
    "health": {
        "summary": "Whether the process lives.",
        "responses": _found("It does.", application_json=_STATUS),
    },
    "ready": {
        "summary": "Whether requests are taken.",
        "responses": _found("They are.", application_json=_STATUS) | _errors("shutting_down"),
    },
    "metrics": {
        "summary": "The numbers of the server, for Prometheus.",
        "openapi_extra": _KEY,
        "responses": _found("Text of version 0.0.4.", text_plain={"type": "string"}) | _errors(*_GUARDED),
    },
}

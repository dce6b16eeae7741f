"""The OpenAPI document: made from `api.toml` and from the types that read the bodies and write the answers."""

from copy import deepcopy
from functools import cache
from typing import Any

import msgspec

from batchwork.prompts import Answer, PromptItem
from batchwork.prompts.field_path import PATTERN
from batchwork.server.api import API, VERSION, ErrorBody, Route
from batchwork.server.wire import PromptsAnswer, PromptsBody, StreamedAnswer, StreamedSummary

_TYPES = (PromptItem, PromptsBody, Answer, PromptsAnswer, StreamedAnswer, StreamedSummary, ErrorBody)
_REF = "#/components/schemas/{name}"


def _texts(*names: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": list(names)}


_TEXTS = {
    "Status": _texts("status"),
    "Health": _texts("status", "version"),
    "Service": _texts("service", "version", "docs", "openapi"),
}


def document(models: tuple[str, ...]) -> dict[str, Any]:
    """The whole document of a server. Without `models` it does not say which there are."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "batchwork prompts API",
            "version": VERSION,
            "description": "One prompt or a thousand over one engine: in order, in budget, none reused.",
        },
        "paths": {route.path: {route.method.lower(): _operation(name, route)} for name, route in API.routes.items()},
        "components": {
            "schemas": _schemas(models),
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-API-Key"}},
        },
    }


@cache
def openapi_json(models: tuple[str, ...]) -> bytes:
    """The document as it is sent."""
    return msgspec.json.encode(document(models))


def _operation(name: str, route: Route) -> dict[str, Any]:
    content = {kind: {"schema": _one_of(schemas)} for kind, schemas in route.content.items()}
    responses = {"200": {"description": route.answer, "content": content}} | _errors(route.errors)
    operation: dict[str, Any] = {"operationId": name, "summary": route.summary, "responses": responses}
    if route.body is not None:
        body = {"schema": _ref(route.body), "example": msgspec.json.decode(route.example or "{}")}
        operation["requestBody"] = {"required": True, "content": {"application/json": body}}
    if route.needs_key:
        operation["security"] = [{"key": []}]
    return operation


def _errors(codes: list[str]) -> dict[str, Any]:
    meanings: dict[int, list[str]] = {}
    for code in codes:
        status, _, meaning = API.errors[code]
        meanings.setdefault(status, []).append(f"`{code}`: {meaning}")
    content = {"application/json": {"schema": _ref("ErrorBody")}}
    return {
        str(status): {"description": "; ".join(meanings[status]), "content": content} for status in sorted(meanings)
    }


def _one_of(schemas: list[str]) -> dict[str, Any]:
    if not schemas:
        return {"type": "string"}
    return {"anyOf": [_ref(name) for name in schemas]} if len(schemas) > 1 else _ref(schemas[0])


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": _REF.format(name=name)}


def _schemas(models: tuple[str, ...]) -> dict[str, Any]:
    """The types as they are, and what our decoders check beyond them.

    `OnePrompt` is a `PromptItem` that stands alone: what is one item's error among many is the whole request's there.
    """
    _, schemas = msgspec.json.schema_components(_TYPES, ref_template=_REF)
    schemas["PromptsBody"]["properties"]["prompts"]["items"] = _ref("PromptItem")  # decoded one by one
    # Either of the two. Not as `oneOf`: makers of clients would take its branches for the whole of an item.
    schemas["PromptItem"] |= {
        "if": {"required": ["prompt"], "properties": {"prompt": {"type": "string"}}},
        "then": {"properties": {"messages": {"type": "null"}}},
        "else": {"required": ["messages"], "properties": {"messages": {"type": "array", "items": {}}}},
    }
    one, turn = deepcopy(schemas["PromptItem"]), deepcopy(schemas["Turn"])
    fields = one["properties"]
    if models:
        fields["model"] = {"enum": [*models, None], "default": None}
    _choice(fields["extract_field_path"], "string")["pattern"] = PATTERN
    _choice(fields["prompt"], "string")["pattern"] = r"\S"  # an empty one is refused
    _choice(fields["messages"], "array")["items"] = _ref("OneTurn")
    _choice(turn["properties"]["content"], "string")["pattern"] = r"\S"
    _choice(turn["properties"]["content"], "array")["minItems"] = 1
    _choice(turn["properties"]["content"], "array")["items"] |= {
        "required": ["type"],
        "properties": {"type": {"type": "string"}},
    }
    own = {"OnePrompt": one | {"title": "OnePrompt"}, "OneTurn": turn | {"title": "OneTurn"}}
    return schemas | own | _TEXTS


def _choice(schema: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(choice for choice in schema["anyOf"] if choice["type"] == kind)

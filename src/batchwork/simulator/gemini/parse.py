"""Translate a body of `generateContent` into a `Prompt`, or refuse it as the provider does."""

import re
from typing import Any, cast

import msgspec

from batchwork.simulator import tokens
from batchwork.simulator.bill import Lane
from batchwork.simulator.bodies import pdf_document, stop_sequences
from batchwork.simulator.errors import refuse_if
from batchwork.simulator.gemini.schema_rules import check_schema, from_openapi
from batchwork.simulator.prompt import CacheMark, Contents, Prompt, Tool, Turn, cache_mark
from batchwork.simulator.providers import GEMINI

_ROLES = frozenset({"user", "model", "function", None})
_TIERS = {"unspecified": "standard", "standard": "standard", "flex": "flex", "priority": "priority"}
_LEAST_CACHED = 2048  # tokens of a prefix
_THINKS_BY_LEVEL = re.compile(r"gemini-[3-9]")


def parse_generate(body: Any, model: str) -> Prompt:
    """The prompt in a body; the model stands in the path."""
    refuse_if(not isinstance(body, dict), "Invalid JSON payload received. The root is not an object.")
    fields = {_camel(name): value for name, value in body.items()}
    for name in fields:
        refuse_if(
            name not in GEMINI.fields, f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
        )
    config = {_camel(name): value for name, value in (fields.get("generationConfig") or {}).items()}
    for name in config:
        known = name in GEMINI.config_fields
        refuse_if(not known, f"Invalid JSON payload received. Unknown name \"{name}\" at 'generation_config'")
    listed: Any = fields.get("contents")
    refuse_if(
        not isinstance(listed, list) or not listed, "* GenerateContentRequest.contents: contents is not specified"
    )
    contents = Contents()
    turns = tuple(_turn(one, number, contents) for number, one in enumerate(listed))
    system = "\n\n".join(_texts((fields.get("systemInstruction") or {}).get("parts") or (), "system", Contents()))
    limit = config.get("maxOutputTokens")
    wrong = limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1)
    refuse_if(wrong, "* GenerateContentRequest.generation_config.max_output_tokens: must be positive")
    refuse_if(config.get("candidateCount", 1) != 1, "Multiple candidates is not enabled for this model")
    _check_thinking(config.get("thinkingConfig") or {}, model)
    tier = str(fields.get("serviceTier") or "standard").lower()
    refuse_if(tier not in _TIERS, f"Invalid value at 'service_tier': \"{tier}\"")
    tools, forced = _tools(fields)
    prompt = contents.prompt(
        model,
        system,
        turns,
        max_tokens=limit,
        schema=_schema(config),
        tools=tools,
        forced_tool=forced,
        stop_sequences=stop_sequences(config.get("stopSequences"), "generation_config.stop_sequences"),
        lane=cast(Lane, _TIERS[tier]),
    )
    mark = _cache_mark(prompt)
    return prompt if mark is None else msgspec.structs.replace(prompt, cached=mark)


def _camel(name: str) -> str:
    """A field's name as JSON has it: the one with underscores is taken as well."""
    first, *rest = str(name).split("_")
    return first + "".join(word.capitalize() for word in rest)


def _turn(content: Any, number: int, contents: Contents) -> Turn:
    where = f"contents[{number}]"
    refuse_if(not isinstance(content, dict), f"Invalid value at '{where}' (type.googleapis.com/...Content)")
    role = content.get("role")
    refuse_if(role not in _ROLES, "Please use a valid role: user, model.")
    parts = content.get("parts")
    refuse_if(not isinstance(parts, list) or not parts, f"* GenerateContentRequest.{where}.parts: must not be empty")
    texts = _texts(parts, where, contents)
    contents.tokens += sum(map(tokens.count, texts))
    contents.waits_for_model = any(isinstance(part, dict) and "functionResponse" in part for part in parts)
    return Turn("assistant" if role == "model" else "user", "\n\n".join(texts))


def _texts(parts: Any, where: str, contents: Contents) -> list[str]:
    texts: list[str] = []
    for number, part in enumerate(parts):
        held = {_camel(name): value for name, value in part.items()} if isinstance(part, dict) else {}
        if isinstance(held.get("text"), str):
            texts.append(held["text"])
            contents.texts.append(held["text"])
        elif isinstance(data := held.get("inlineData"), dict):
            _inline({_camel(name): value for name, value in data.items()}, contents)
        elif "fileData" in held:
            contents.tokens += 258
        elif "functionCall" in held or "functionResponse" in held:
            contents.add(msgspec.json.encode(held.get("functionCall") or held.get("functionResponse")).decode())
        else:
            problem = "must have one initialized field"
            refuse_if(True, f"* GenerateContentRequest.{where}.parts[{number}].data: {problem}")
    return texts


def _inline(data: dict[str, Any], contents: Contents) -> None:
    kind, encoded = str(data.get("mimeType", "")), str(data.get("data", ""))
    if kind == "application/pdf":
        document = pdf_document(encoded, None)
        contents.add_document(document)
        contents.add(document.text)
    else:
        refuse_if("/" not in kind, f"Unsupported MIME type: {kind}")
        contents.tokens += tokens.count_image(len(encoded))


def _check_thinking(thinking: dict[str, Any], model: str) -> None:
    both = "thinkingLevel" in thinking and "thinkingBudget" in thinking
    refuse_if(both, "You can only set only one of thinking budget and thinking level.")
    old = "thinkingLevel" in thinking and not _THINKS_BY_LEVEL.match(model)
    refuse_if(old, "Thinking level is not supported for this model.")
    always = model.startswith("gemini-2.5-pro") and thinking.get("thinkingBudget") == 0
    refuse_if(always, "Budget 0 is invalid. This model only works in thinking mode.")


def _schema(config: dict[str, Any]) -> dict[str, Any] | None:
    given, own = config.get("responseJsonSchema"), config.get("responseSchema")
    if given is None and own is None:
        return {"type": "object"} if config.get("responseMimeType") == "application/json" else None
    refuse_if(given is not None and own is not None, "Only one of response_schema and response_json_schema may be set.")
    typed = config.get("responseMimeType") == "application/json"
    refuse_if(not typed, "response_schema is only supported with response_mime_type application/json")
    schema = from_openapi(own) if given is None else given
    check_schema(schema)
    assert isinstance(schema, dict)
    return schema


def _tools(fields: dict[str, Any]) -> tuple[tuple[Tool, ...], str | None]:
    tools = [
        Tool(
            str(declared.get("name")), declared.get("parametersJsonSchema") or from_openapi(declared.get("parameters"))
        )
        for tool in fields.get("tools") or ()
        for declared in tool.get("functionDeclarations") or ()
    ]
    choice = (fields.get("toolConfig") or {}).get("functionCallingConfig") or {}
    names = choice.get("allowedFunctionNames") or [tool.name for tool in tools]
    return tuple(tools), names[0] if choice.get("mode") == "ANY" and names else None


def _cache_mark(prompt: Prompt) -> CacheMark | None:
    """The prefix that is cached by itself: here the system instruction alone, which the calls of a job share."""
    spent = tokens.count(prompt.system)
    if spent < _LEAST_CACHED:
        return None
    return msgspec.structs.replace(cache_mark((prompt.model, prompt.system), spent, "1h"), writes=False)

"""Translate a chat-completions or responses body into a `Prompt`, or refuse it as the provider does."""

import re
from typing import Any, cast

import msgspec

from batchwork.simulator import tokens
from batchwork.simulator.bill import Lane
from batchwork.simulator.bodies import pdf_document, stop_sequences
from batchwork.simulator.errors import Refused
from batchwork.simulator.openai.schema_rules import check_schema
from batchwork.simulator.prompt import LEAST_CACHED, CacheMark, Contents, Prompt, Tool, Turn, cache_mark
from batchwork.simulator.providers import OPENAI

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_REASONING = re.compile(r"(o\d|gpt-[5-9])")
_VERSION = re.compile(r"gpt-(\d+)(?:\.(\d+))?")
_WRITES_IMPLICITLY = (5, 6)  # the first version that caches every long prompt
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_TIERS = ("auto", "default", "flex", "scale", "priority", "fast", "ultrafast")


def bad(message: str, param: str | None = None, code: str | None = "invalid_value") -> Refused:
    """A 400 that names the parameter."""
    return Refused(400, message, param=param, code=code)


def parse_chat(body: Any, default_tier: str = "default") -> Prompt:
    """The prompt in a chat-completions body."""
    model = model_in(body)
    if "messages" not in body:
        raise bad("Missing required parameter: 'messages'.", "messages", "missing_required_parameter")
    for name in body:
        if name not in OPENAI.fields:
            raise bad(f"Unrecognized request argument supplied: {name}", name, "unknown_parameter")
    messages = body["messages"]
    if not isinstance(messages, list) or not messages:
        raise bad("Invalid 'messages': expected a non-empty array.", "messages")
    contents = Contents()
    spoken = _conversation(messages, "messages", contents)
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    if body.get("max_tokens") is not None and _REASONING.match(model):
        message = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        raise bad(message, "max_tokens", "unsupported_parameter")
    wanted = body.get("response_format")
    schema = _format(wanted, (wanted or {}).get("json_schema"), "response_format") if wanted is not None else None
    stop = body.get("stop") or ()
    return _prompt(
        body,
        spoken,
        contents,
        default_tier,
        max_tokens=limit,
        schema=schema,
        stop_sequences=(stop,) if isinstance(stop, str) else stop_sequences(stop, "stop"),
        stream=bool(body.get("stream")),
        stream_usage=bool((body.get("stream_options") or {}).get("include_usage")),
        choices=_choices(body),
    )


def parse_responses(body: Any, default_tier: str = "default") -> Prompt:
    """The prompt in a responses body."""
    model_in(body)
    if "input" not in body:
        raise bad("Missing required parameter: 'input'.", "input", "missing_required_parameter")
    if body.get("stream"):
        raise bad("The simulator answers /v1/responses whole; leave 'stream' out.", "stream", "unsupported_parameter")
    given = body["input"]
    contents = Contents()
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(items, list) or not items:
        raise bad("Invalid 'input': expected a string or a non-empty array.", "input")
    system, turns = _conversation(
        [item for item in items if isinstance(item, dict) and "role" in item], "input", contents
    )
    if body.get("instructions"):
        system = f"{body['instructions']}\n\n{system}" if system else str(body["instructions"])
    wanted = (body.get("text") or {}).get("format")
    schema = _format(wanted, wanted, "text.format") if wanted is not None else None
    limit = body.get("max_output_tokens")
    return _prompt(body, (system, turns), contents, default_tier, max_tokens=limit, schema=schema)


def _prompt(
    body: dict[str, Any], spoken: tuple[str, tuple[Turn, ...]], contents: Contents, default_tier: str, **options: Any
) -> Prompt:
    limit = options["max_tokens"]
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise bad(f"Invalid value for the token limit: {limit!r}.", "max_completion_tokens")
    tools, forced = _tools(body)
    lane = _lane(body, default_tier)
    prompt = contents.prompt(body["model"], *spoken, tools=tools, forced_tool=forced, lane=lane, **options)
    mark = _cache_mark(prompt, body.get("prompt_cache_options"), contents)
    return prompt if mark is None else msgspec.structs.replace(prompt, cached=mark)


def _lane(body: dict[str, Any], default: str) -> Lane:
    """The lane a call is served in; without a tier the project's setting decides."""
    tier = body.get("service_tier") or "auto"
    if tier not in _TIERS:
        known = ", ".join(f"'{name}'" for name in _TIERS)
        raise bad(f"Invalid value: {tier!r}. Supported values are: {known}.", "service_tier")
    tier = default if tier == "auto" else tier
    return "standard" if tier in ("default", "scale") else cast(Lane, tier)


def _cache_mark(prompt: Prompt, options: Any, contents: Contents) -> CacheMark | None:
    """The prefix that is written to the cache: by default everything, in explicit mode up to the last breakpoint."""
    version = _VERSION.match(prompt.model)
    if version is None or (int(version[1]), int(version[2] or 0)) < _WRITES_IMPLICITLY:
        return None
    texts, spent = contents.texts, prompt.input_tokens
    if isinstance(options, dict) and options.get("mode") == "explicit":
        texts = texts[: contents.marked]
        spent = sum(map(tokens.count, texts))
    return None if spent < LEAST_CACHED else cache_mark((prompt.model, *texts), spent, "30m")


def model_in(body: Any) -> str:
    """The model that a body names."""
    if not isinstance(body, dict):
        raise bad("We could not parse the JSON body of your request.", code=None)
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise bad("you must provide a model parameter", "model", "missing_required_parameter")
    return model


def _choices(body: dict[str, Any]) -> int:
    count = body.get("n", 1)
    if count is None:
        return 1
    if not isinstance(count, int) or not 1 <= count <= 128:
        raise bad(f"Invalid 'n': expected an integer between 1 and 128, got {count!r}.", "n")
    return count


def _conversation(messages: list[Any], where: str, contents: Contents) -> tuple[str, tuple[Turn, ...]]:
    systems: list[str] = []
    turns: list[Turn] = []
    for number, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in _ROLES:
            raise bad(f"Invalid value: {role!r}. Supported values are: 'system', 'assistant', 'user' or 'tool'.",
                       f"{where}[{number}].role")  # fmt: skip
        content = message.get("content")
        if isinstance(content, str):
            text = content
            contents.texts.append(text)
        elif isinstance(content, list):
            text = _parts(content, f"{where}[{number}].content", contents)
        elif content is None and (role == "assistant" or message.get("tool_calls")):
            text = ""
        else:
            wrong = "Invalid content: expected a string or an array of parts."
            raise bad(wrong, f"{where}[{number}].content", "invalid_type")
        if role in ("system", "developer"):
            systems.append(text)
        else:
            contents.tokens += tokens.count(text)
            contents.waits_for_model = role in ("tool", "function")
            turns.append(Turn("user" if role in ("tool", "function") else role, text))
    return "\n\n".join(systems), tuple(turns)


def _parts(parts: list[Any], where: str, contents: Contents) -> str:
    texts: list[str] = []
    for number, part in enumerate(parts):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in ("text", "input_text", "output_text"):
            texts.append(str(part.get("text", "")))
            contents.texts.append(texts[-1])
        elif kind in ("image_url", "input_image"):
            address = part.get("image_url")
            contents.tokens += tokens.count_image(
                len(str(address.get("url") if isinstance(address, dict) else address))
            )
        elif kind in ("file", "input_file"):
            _file(part.get("file") if kind == "file" else part, contents)
        elif kind == "refusal":
            texts.append(str(part.get("refusal", "")))
        else:
            raise bad(f"Invalid value: {kind!r}.", f"{where}[{number}].type")
        if part.get("prompt_cache_breakpoint"):
            contents.mark()
    return "\n\n".join(texts)


def _file(part: Any, contents: Contents) -> None:
    data = str((part or {}).get("file_data", ""))
    header, _, encoded = data.partition("base64,")
    if "application/pdf" not in header:
        raise bad("Invalid file data: the simulator takes base64 PDFs.", "file_data")
    document = pdf_document(encoded, part.get("filename"))
    contents.add_document(document)
    contents.add(document.text)


def _format(wanted: Any, inner: Any, where: str) -> dict[str, Any] | None:
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    if kind == "text":
        return None
    if kind == "json_object":
        return {"type": "object"}
    if kind != "json_schema" or not isinstance(inner, dict):
        raise bad(f"Invalid value: {kind!r}. Supported values are: 'text', 'json_object' and 'json_schema'.",
                   f"{where}.type")  # fmt: skip
    name = inner.get("name")
    if not isinstance(name, str) or not _NAME.match(name):
        raise bad(f"Invalid '{where}.name': expected 1 to 64 of [a-zA-Z0-9_-].", f"{where}.name")
    schema = inner.get("schema", {})
    check_schema(schema, name, where, strict=bool(inner.get("strict")))
    assert isinstance(schema, dict)
    return schema


def _tools(body: dict[str, Any]) -> tuple[tuple[Tool, ...], str | None]:
    tools: list[Tool] = []
    for listed in body.get("tools") or ():
        function = listed.get("function", listed) if isinstance(listed, dict) else {}
        if "name" in function:
            tools.append(Tool(str(function["name"]), function.get("parameters") or {}))
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        return tuple(tools), str((choice.get("function") or choice).get("name"))
    return tuple(tools), tools[0].name if choice == "required" and tools else None

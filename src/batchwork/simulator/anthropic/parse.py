"""Translate a Messages body into a `Prompt`, or refuse it with the 400 the provider gives."""

from typing import Any

from batchwork.simulator import tokens
from batchwork.simulator.anthropic.content import mark, read_blocks
from batchwork.simulator.anthropic.models import generation_of
from batchwork.simulator.anthropic.schema_rules import check_schema, check_strict_tools
from batchwork.simulator.bill import Lane
from batchwork.simulator.bodies import stop_sequences
from batchwork.simulator.errors import Refused, refuse_if
from batchwork.simulator.prompt import LEAST_CACHED, CacheMark, Contents, Prompt, Tool, Turn, cache_mark
from batchwork.simulator.providers import ANTHROPIC

NEW_VERSION = "2026-10-21"
VERSIONS = frozenset({NEW_VERSION, "2023-06-01"})
_DEFAULTS = {"temperature": 1, "top_p": None, "top_k": None}
_ROLES = ("user", "assistant", "system")
_MOST_MESSAGES = 100_000
_REQUIRED = 3


def parse_messages(body: Any, version: str, *, beta: bool = False, counting: bool = False) -> Prompt:
    """The prompt in a body of `/v1/messages` (or of count_tokens, when `counting`)."""
    if not isinstance(body, dict):
        raise Refused(400, "body: Input should be a valid dictionary")
    model, max_tokens = _required(body, counting=counting)
    contents = Contents()
    turns = _turns(body["messages"], contents, version)
    system, schema, forced = "", None, None
    tools: tuple[Tool, ...] = ()
    if counting or len(body) > _REQUIRED:  # most calls in bulk have nothing else
        _check_names(body, beta=beta)
        _check_sampling(body, model, version)
        system = _system(body.get("system", ""), contents)
        schema = _schema(body)
        tools, forced = _tools(body)
        _check_thinking(body.get("thinking"), model, max_tokens)
        if body.get("cache_control"):
            mark(contents, body["cache_control"])
    _check_together(model, turns, contents, schema)
    return contents.prompt(
        model,
        system,
        turns,
        schema=schema,
        tools=tools,
        max_tokens=max_tokens,
        citations=contents.cited > 0,
        forced_tool=forced,
        stop_sequences=stop_sequences(body.get("stop_sequences"), "stop_sequences"),
        stream=bool(body.get("stream")),
        cached=_cache_mark(contents, model, system),
        lane=_lane(body),
    )


def _check_names(body: dict[str, Any], *, beta: bool) -> None:
    for name in sorted(body.keys() - ANTHROPIC.fields):
        refuse_if(not beta or name not in ANTHROPIC.beta_fields, f"{name}: Extra inputs are not permitted")


def _cache_mark(contents: Contents, model: str, system: str) -> CacheMark | None:
    """The longest prefix to cache."""
    if not contents.marks or contents.marked_tokens + tokens.count(system) < LEAST_CACHED:
        return None
    spent = min(contents.tokens, contents.marked_tokens) + tokens.count(system)
    return cache_mark((model, system, *contents.texts[: contents.marked]), spent, contents.ttl)


def _lane(body: dict[str, Any]) -> Lane:
    speed = body.get("speed") or "standard"
    refuse_if(speed not in ("standard", "fast"), "speed: Input should be 'standard' or 'fast'")
    return "fast" if speed == "fast" else "standard"


def _required(body: dict[str, Any], *, counting: bool) -> tuple[str, int]:
    for name in ("model", "messages") if counting else ("model", "max_tokens", "messages"):
        if name not in body:
            raise Refused(400, f"{name}: Field required")
    model, max_tokens = body["model"], body.get("max_tokens", 0)
    refuse_if(not isinstance(model, str) or not model, "model: Input should be a valid string")
    wrong = not isinstance(max_tokens, int) or isinstance(max_tokens, bool)
    refuse_if(wrong, "max_tokens: Input should be a valid integer")
    refuse_if(max_tokens < 0, "max_tokens: Input should be greater than or equal to 0")
    return model, max_tokens


def _check_sampling(body: dict[str, Any], model: str, version: str) -> None:
    for name, default in _DEFAULTS.items():
        if name in body:
            refuse_if(version == NEW_VERSION, f"{name}: Extra inputs are not permitted")
            free = generation_of(model).sampling or body[name] == default
            refuse_if(not free, f"`{name}` is not supported by this model")


def _turns(messages: Any, contents: Contents, version: str) -> tuple[Turn, ...]:
    refuse_if(not isinstance(messages, list), "messages: Input should be a valid list")
    refuse_if(not messages, "messages: at least one message is required")
    refuse_if(len(messages) > _MOST_MESSAGES, f"messages: at most {_MOST_MESSAGES} messages are allowed")
    turns: list[Turn] = []
    for number, message in enumerate(messages):
        where = f"messages.{number}"
        if not isinstance(message, dict):
            raise Refused(400, f"{where}: Input should be a valid dictionary")
        role = message.get("role")
        if role not in _ROLES:
            raise Refused(400, f"{where}.role: Input should be 'user', 'assistant' or 'system'")
        if "content" not in message:
            raise Refused(400, f"{where}.content: Field required")
        for name in message:
            if name not in ("role", "content"):
                raise Refused(400, f"{where}.{name}: Extra inputs are not permitted")
        content = message["content"]
        results = contents.tool_results
        if isinstance(content, str):
            if not content and role == "user":
                raise Refused(400, f"{where}: user messages must have non-empty content")
            contents.tokens += tokens.count(content)
            text = content
        else:
            text = read_blocks(content, where, role, contents, strict=version == NEW_VERSION)
        contents.waits_for_model = contents.tool_results > results
        turns.append(Turn(role, text))
    return tuple(turns)


def _system(system: Any, contents: Contents) -> str:
    if isinstance(system, str):
        return system
    refuse_if(not isinstance(system, list), "system: Input should be a valid string or list")
    before = contents.tokens
    text = read_blocks(system, "system", "system", contents, strict=False)
    contents.tokens = before  # counted as one text by the caller
    return text


def _schema(body: dict[str, Any]) -> dict[str, Any] | None:
    config = body.get("output_config")
    if config is None:
        return None
    refuse_if(not isinstance(config, dict), "output_config: Input should be a valid dictionary")
    wanted = config.get("format")
    if wanted is None:
        return None
    wrong = not isinstance(wanted, dict) or wanted.get("type") != "json_schema"
    refuse_if(wrong, "output_config.format.type: Input should be 'json_schema'")
    check_schema(wanted.get("schema"), "output_config.format.schema")
    schema: dict[str, Any] = wanted["schema"]
    return schema


def _tools(body: dict[str, Any]) -> tuple[tuple[Tool, ...], str | None]:
    listed = body.get("tools")
    if not listed:
        return (), None
    refuse_if(not isinstance(listed, list), "tools: Input should be a valid list")
    check_strict_tools(listed)
    tools = tuple(
        Tool(str(tool["name"]), tool.get("input_schema") or {})
        for tool in listed
        if isinstance(tool, dict) and "name" in tool
    )
    choice = body.get("tool_choice") or {"type": "auto"}
    kind = choice.get("type") if isinstance(choice, dict) else None
    if kind == "tool":
        name = choice.get("name")
        known = {tool.name for tool in tools}
        refuse_if(name not in known, f"tool_choice.name: Tool '{name}' not found in provided tools")
        return tools, str(name)
    if kind == "any" and tools:
        return tools, tools[0].name
    return tools, None


def _check_thinking(thinking: Any, model: str, max_tokens: int) -> None:
    if thinking is None:
        return
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    accepted = generation_of(model)
    if kind == "enabled":
        message = "thinking.type: 'enabled' is not supported by this model; use 'adaptive'"
        refuse_if(not accepted.thinking_enabled, message)
        budget = thinking.get("budget_tokens")
        if not isinstance(budget, int) or budget < 1024:
            raise Refused(400, "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
        refuse_if(budget >= max_tokens, "`max_tokens` must be greater than `thinking.budget_tokens`")
    elif kind == "disabled":
        message = "thinking.type: 'disabled' is not supported by this model"
        refuse_if(not accepted.thinking_disabled, message)
    elif kind not in ("adaptive", "between_tools"):
        raise Refused(400, "thinking.type: Input should be 'adaptive', 'enabled', 'disabled' or 'between_tools'")


def _check_together(model: str, turns: tuple[Turn, ...], contents: Contents, schema: dict[str, Any] | None) -> None:
    if contents.cited:
        mixed = contents.cited != contents.citable
        refuse_if(mixed, "citations must be enabled on all or none of the documents in the request")
        message = "output_config.format: structured outputs cannot be used together with citations"
        refuse_if(schema is not None, message)
    if turns[-1].role == "assistant":
        refuse_if(schema is not None, "messages: prefill cannot be used together with structured outputs")
        message = (
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )
        refuse_if(not generation_of(model).prefill, message)
    if contents.marks > 4:
        raise Refused(400, f"A maximum of 4 blocks with cache_control may be provided. Found {contents.marks}.")

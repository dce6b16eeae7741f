"""Translate a Messages body into a `Prompt`, or refuse it with the 400 the provider gives."""

from typing import Any

from batchwork.simulator import tokens
from batchwork.simulator.anthropic.content import Contents, read_blocks
from batchwork.simulator.anthropic.generations import generation_of
from batchwork.simulator.anthropic.schema_rules import check_schema, check_strict_tools
from batchwork.simulator.bill import Lane
from batchwork.simulator.bodies import stop_sequences
from batchwork.simulator.errors import Refused
from batchwork.simulator.prompt import Prompt, Tool, Turn, digest_of


def _words(text: str) -> list[str]:
    return text.split()


NEW_VERSION = "2026-10-21"
VERSIONS = frozenset({NEW_VERSION, "2023-06-01"})
_SAMPLING = ("temperature", "top_p", "top_k")
_DEFAULTS = {"temperature": 1, "top_p": None, "top_k": None}
_KNOWN = frozenset(
    _words(
        "model max_tokens messages system stop_sequences stream thinking output_config tools tool_choice "
        "cache_control metadata service_tier speed inference_geo container diagnostics temperature top_p "
        "top_k"
    )
)
_BETA = frozenset(
    [
        "context_management",
        "compaction",
        "fallbacks",
        "fallback_credit_token",
        "mcp_servers",
        "thread",
        "betas",
        "output_format",
    ]
)
_ROLES = ("user", "assistant", "system")
_MOST_MESSAGES = 100_000
_REQUIRED = 3


def parse_messages(body: Any, version: str, *, beta: bool = False, counting: bool = False) -> Prompt:
    """The prompt in a body of `/v1/messages` (or of count_tokens, when `counting`).

    Raises:
        Refused: the body is not one the provider takes.
    """
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
            contents.mark(body["cache_control"])
    _check_together(model, turns, contents, schema)
    spent = tokens.count_prompt(contents.tokens, turns=len(turns), system=system, schema=schema, tools=tools)
    documents = tuple(contents.documents)
    return Prompt(
        model=model,
        system=system,
        turns=turns,
        digest=digest_of(model, system, turns, documents),
        input_tokens=spent,
        max_tokens=max_tokens,
        documents=documents,
        schema=schema,
        citations=contents.cited > 0,
        tools=tools,
        forced_tool=forced,
        tool_answered=contents.answered_last,
        stop_sequences=stop_sequences(body.get("stop_sequences"), "stop_sequences"),
        stream=bool(body.get("stream")),
        cached=contents.cache_mark(model, system),
        lane=_lane(body),
    )


def _check_names(body: dict[str, Any], *, beta: bool) -> None:
    for name in sorted(body.keys() - _KNOWN):
        if not (beta and name in _BETA):
            raise Refused(400, f"{name}: Extra inputs are not permitted")


def _lane(body: dict[str, Any]) -> Lane:
    speed = body.get("speed") or "standard"
    if speed not in ("standard", "fast"):
        raise Refused(400, "speed: Input should be 'standard' or 'fast'")
    return "fast" if speed == "fast" else "standard"


def _required(body: dict[str, Any], *, counting: bool) -> tuple[str, int]:
    for name in ("model", "messages") if counting else ("model", "max_tokens", "messages"):
        if name not in body:
            raise Refused(400, f"{name}: Field required")
    model = body["model"]
    if not isinstance(model, str) or not model:
        raise Refused(400, "model: Input should be a valid string")
    max_tokens = body.get("max_tokens", 0)
    if not isinstance(max_tokens, int) or isinstance(max_tokens, bool):
        raise Refused(400, "max_tokens: Input should be a valid integer")
    if max_tokens < 0:
        raise Refused(400, "max_tokens: Input should be greater than or equal to 0")
    return model, max_tokens


def _check_sampling(body: dict[str, Any], model: str, version: str) -> None:
    for name in _SAMPLING:
        if name not in body:
            continue
        if version == NEW_VERSION:
            raise Refused(400, f"{name}: Extra inputs are not permitted")
        if not generation_of(model).sampling and body[name] != _DEFAULTS[name]:
            raise Refused(400, f"`{name}` is not supported by this model")


def _turns(messages: Any, contents: Contents, version: str) -> tuple[Turn, ...]:
    if not isinstance(messages, list):
        raise Refused(400, "messages: Input should be a valid list")
    if not messages:
        raise Refused(400, "messages: at least one message is required")
    if len(messages) > _MOST_MESSAGES:
        raise Refused(400, f"messages: at most {_MOST_MESSAGES} messages are allowed")
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
        contents.answered_last = contents.tool_results > results
        turns.append(Turn(role, text))
    return tuple(turns)


def _system(system: Any, contents: Contents) -> str:
    if isinstance(system, str):
        return system
    if not isinstance(system, list):
        raise Refused(400, "system: Input should be a valid string or list")
    before = contents.tokens
    text = read_blocks(system, "system", "system", contents, strict=False)
    contents.tokens = before  # counted as one text by the caller
    return text


def _schema(body: dict[str, Any]) -> dict[str, Any] | None:
    config = body.get("output_config")
    if config is None:
        return None
    if not isinstance(config, dict):
        raise Refused(400, "output_config: Input should be a valid dictionary")
    wanted = config.get("format")
    if wanted is None:
        return None
    if not isinstance(wanted, dict) or wanted.get("type") != "json_schema":
        raise Refused(400, "output_config.format.type: Input should be 'json_schema'")
    check_schema(wanted.get("schema"), "output_config.format.schema")
    schema: dict[str, Any] = wanted["schema"]
    return schema


def _tools(body: dict[str, Any]) -> tuple[tuple[Tool, ...], str | None]:
    listed = body.get("tools")
    if not listed:
        return (), None
    if not isinstance(listed, list):
        raise Refused(400, "tools: Input should be a valid list")
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
        if name not in {tool.name for tool in tools}:
            raise Refused(400, f"tool_choice.name: Tool '{name}' not found in provided tools")
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
        if not accepted.thinking_enabled:
            raise Refused(400, "thinking.type: 'enabled' is not supported by this model; use 'adaptive'")
        budget = thinking.get("budget_tokens")
        if not isinstance(budget, int) or budget < 1024:
            raise Refused(400, "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
        if budget >= max_tokens:
            raise Refused(400, "`max_tokens` must be greater than `thinking.budget_tokens`")
    elif kind == "disabled":
        if not accepted.thinking_disabled:
            raise Refused(400, "thinking.type: 'disabled' is not supported by this model")
    elif kind not in ("adaptive", "between_tools"):
        raise Refused(400, "thinking.type: Input should be 'adaptive', 'enabled', 'disabled' or 'between_tools'")


def _check_together(model: str, turns: tuple[Turn, ...], contents: Contents, schema: dict[str, Any] | None) -> None:
    if contents.cited and contents.cited != contents.citable:
        raise Refused(400, "citations must be enabled on all or none of the documents in the request")
    if contents.cited and schema is not None:
        raise Refused(400, "output_config.format: structured outputs cannot be used together with citations")
    if turns[-1].role == "assistant":
        if schema is not None:
            raise Refused(400, "messages: prefill cannot be used together with structured outputs")
        if not generation_of(model).prefill:
            raise Refused(
                400,
                "This model does not support assistant message prefill. The conversation must end with a user message.",
            )
    if contents.marks > 4:
        raise Refused(400, f"A maximum of 4 blocks with cache_control may be provided. Found {contents.marks}.")

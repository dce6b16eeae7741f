"""Translate a chat-completions or responses body into a `Prompt`, or refuse it as the provider does."""

import re
from typing import Any

import msgspec

from batchwork.simulator import tokens
from batchwork.simulator.bodies import stop_sequences
from batchwork.simulator.errors import Refused
from batchwork.simulator.openai.lanes import cache_mark, lane_of
from batchwork.simulator.openai.schema_rules import check_schema
from batchwork.simulator.pdf import pages_of
from batchwork.simulator.prompt import Document, Prompt, Tool, Turn, digest_of


def _words(text: str) -> list[str]:
    return text.split()


_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_REASONING = re.compile(r"(o\d|gpt-[5-9])")
_CHAT_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_CHAT = frozenset(
    _words(
        "model messages max_completion_tokens max_tokens temperature top_p n stop seed logprobs top_logprobs "
        "logit_bias presence_penalty frequency_penalty response_format tools tool_choice parallel_tool_calls "
        "reasoning_effort verbosity service_tier store metadata prompt_cache_key prompt_cache_options "
        "prompt_cache_retention safety_identifier moderation stream stream_options user functions "
        "function_call prediction modalities audio web_search_options"
    )
)


class _Read:
    """What the messages add up to."""

    __slots__ = ("answered_last", "documents", "marked", "texts", "tokens")

    def __init__(self) -> None:
        self.tokens = 0
        self.answered_last = False
        self.documents: list[Document] = []
        self.texts: list[str] = []
        self.marked: int | None = None


def parse_chat(body: Any, default_tier: str = "default") -> Prompt:
    """The prompt in a chat-completions body.

    Raises:
        Refused: the body is not one the provider takes.
    """
    model = _model(body)
    if "messages" not in body:
        raise _bad("Missing required parameter: 'messages'.", "messages", "missing_required_parameter")
    for name in body:
        if name not in _CHAT:
            raise _bad(f"Unrecognized request argument supplied: {name}", name, "unknown_parameter")
    messages = body["messages"]
    if not isinstance(messages, list) or not messages:
        raise _bad("Invalid 'messages': expected a non-empty array.", "messages", "invalid_value")
    read = _Read()
    spoken = _conversation(messages, "messages", read)
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    if body.get("max_tokens") is not None and _REASONING.match(model):
        message = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        raise _bad(message, "max_tokens", "unsupported_parameter")
    wanted = body.get("response_format")
    schema = _format(wanted, (wanted or {}).get("json_schema"), "response_format") if wanted is not None else None
    options = body.get("stream_options") or {}
    stop = body.get("stop") or ()
    prompt = _prompt(model, spoken, read, limit, schema=schema, tools=_tools(body))
    return msgspec.structs.replace(
        prompt,
        stop_sequences=(stop,) if isinstance(stop, str) else stop_sequences(stop, "stop"),
        stream=bool(body.get("stream")),
        stream_usage=bool(options.get("include_usage")),
        choices=_choices(body),
        lane=lane_of(body, default_tier),
        cached=cache_mark(prompt, body.get("prompt_cache_options"), read.texts, read.marked),
    )


def parse_responses(body: Any, default_tier: str = "default") -> Prompt:
    """The prompt in a responses body.

    Raises:
        Refused: the body is not one the provider takes.
    """
    model = _model(body)
    if "input" not in body:
        raise _bad("Missing required parameter: 'input'.", "input", "missing_required_parameter")
    if body.get("stream"):
        raise _bad("The simulator answers /v1/responses whole; leave 'stream' out.", "stream", "unsupported_parameter")
    given = body["input"]
    read = _Read()
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(items, list) or not items:
        raise _bad("Invalid 'input': expected a string or a non-empty array.", "input", "invalid_value")
    system, turns = _conversation([item for item in items if isinstance(item, dict) and "role" in item], "input", read)
    if body.get("instructions"):
        system = f"{body['instructions']}\n\n{system}" if system else str(body["instructions"])
    wanted = (body.get("text") or {}).get("format")
    schema = _format(wanted, wanted, "text.format") if wanted is not None else None
    prompt = _prompt(model, (system, turns), read, body.get("max_output_tokens"), schema=schema, tools=_tools(body))
    return msgspec.structs.replace(
        prompt,
        lane=lane_of(body, default_tier),
        cached=cache_mark(prompt, body.get("prompt_cache_options"), read.texts, read.marked),
    )


def _prompt(
    model: str,
    spoken: tuple[str, tuple[Turn, ...]],
    read: _Read,
    limit: Any,
    *,
    schema: dict[str, Any] | None,
    tools: tuple[tuple[Tool, ...], str | None],
) -> Prompt:
    system, turns = spoken
    offered, forced = tools
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise _bad(f"Invalid value for the token limit: {limit!r}.", "max_completion_tokens", "invalid_value")
    spent = tokens.count_prompt(read.tokens, turns=len(turns), system=system, schema=schema, tools=offered)
    documents = tuple(read.documents)
    return Prompt(
        model=model,
        system=system,
        turns=turns,
        digest=digest_of(model, system, turns, documents),
        input_tokens=spent,
        max_tokens=limit,
        documents=documents,
        schema=schema,
        tools=offered,
        forced_tool=forced,
        tool_answered=read.answered_last,
    )


def _bad(message: str, param: str | None = None, code: str | None = None) -> Refused:
    return Refused(400, message, param=param, code=code)


def _model(body: Any) -> str:
    if not isinstance(body, dict):
        raise _bad("We could not parse the JSON body of your request.")
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise _bad("you must provide a model parameter", "model", "missing_required_parameter")
    return model


def _choices(body: dict[str, Any]) -> int:
    count = body.get("n", 1)
    if count is None:
        return 1
    if not isinstance(count, int) or not 1 <= count <= 128:
        raise _bad(f"Invalid 'n': expected an integer between 1 and 128, got {count!r}.", "n", "invalid_value")
    return count


def _conversation(messages: list[Any], where: str, read: _Read) -> tuple[str, tuple[Turn, ...]]:
    systems: list[str] = []
    turns: list[Turn] = []
    for number, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in _CHAT_ROLES:
            raise _bad(f"Invalid value: {role!r}. Supported values are: 'system', 'assistant', 'user' or 'tool'.",
                       f"{where}[{number}].role", "invalid_value")  # fmt: skip
        content = message.get("content")
        if isinstance(content, str):
            text = content
            read.texts.append(text)
        elif isinstance(content, list):
            text = _parts(content, f"{where}[{number}].content", read)
        elif content is None and (role == "assistant" or message.get("tool_calls")):
            text = ""
        else:
            raise _bad(
                "Invalid content: expected a string or an array of parts.", f"{where}[{number}].content", "invalid_type"
            )
        if role in ("system", "developer"):
            systems.append(text)
        else:
            read.tokens += tokens.count(text)
            read.answered_last = role in ("tool", "function")
            turns.append(Turn("user" if role in ("tool", "function") else role, text))
    return "\n\n".join(systems), tuple(turns)


def _parts(parts: list[Any], where: str, read: _Read) -> str:
    texts: list[str] = []
    for number, part in enumerate(parts):
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in ("text", "input_text", "output_text"):
            texts.append(str(part.get("text", "")))
            read.texts.append(texts[-1])
        elif kind in ("image_url", "input_image"):
            address = part.get("image_url")
            read.tokens += tokens.count_image(len(str(address.get("url") if isinstance(address, dict) else address)))
        elif kind in ("file", "input_file"):
            _file(part.get("file") if kind == "file" else part, read)
        elif kind == "refusal":
            texts.append(str(part.get("refusal", "")))
        else:
            raise _bad(f"Invalid value: {kind!r}.", f"{where}[{number}].type", "invalid_value")
        if part.get("prompt_cache_breakpoint"):
            read.marked = len(read.texts)
    return "\n\n".join(texts)


def _file(part: Any, read: _Read) -> None:
    data = str((part or {}).get("file_data", ""))
    header, _, encoded = data.partition("base64,")
    if "application/pdf" not in header:
        raise _bad("Invalid file data: the simulator takes base64 PDFs.", "file_data", "invalid_value")
    pages = pages_of(encoded)
    document = Document(text="\n".join(pages), title=part.get("filename"), source="pdf", parts=pages)
    read.documents.append(document)
    read.texts.append(document.text)
    read.tokens += tokens.count(document.text)


def _format(wanted: Any, inner: Any, where: str) -> dict[str, Any] | None:
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    if kind == "text":
        return None
    if kind == "json_object":
        return {"type": "object"}
    if kind != "json_schema" or not isinstance(inner, dict):
        raise _bad(f"Invalid value: {kind!r}. Supported values are: 'text', 'json_object' and 'json_schema'.",
                   f"{where}.type", "invalid_value")  # fmt: skip
    name = inner.get("name")
    if not isinstance(name, str) or not _NAME.match(name):
        raise _bad(f"Invalid '{where}.name': expected 1 to 64 of [a-zA-Z0-9_-].", f"{where}.name", "invalid_value")
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

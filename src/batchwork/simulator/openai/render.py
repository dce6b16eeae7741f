"""Put an answer, an error or the limits into OpenAI's words."""

from collections.abc import Iterator
from typing import Any

import msgspec
from multidict import CIMultiDict

from batchwork.simulator.bill import Usage
from batchwork.simulator.buckets import RateLimits
from batchwork.simulator.clock import real_s
from batchwork.simulator.errors import Refused
from batchwork.simulator.prompt import Answer, Prompt
from batchwork.simulator.providers import OPENAI

_FINISH = {
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "pause_turn": "content_filter",
    "model_context_window_exceeded": "length",
}
_REFUSAL = "I cannot help with that (simulated refusal)."
_PIECE = 40  # characters of one event


def _tier(prompt: Prompt) -> str:
    """The tier an answer says it was served in."""
    return "default" if prompt.lane == "standard" else prompt.lane


def _chat_usage(usage: Usage, reasoning: int) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.total_input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total_input + usage.output,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write_5m,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _tool_calls(answer: Answer, answer_id: str) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{answer_id}_{number}",
            "type": "function",
            "function": {"name": block.name, "arguments": msgspec.json.encode(block.input).decode()},
        }
        for number, block in enumerate(answer.blocks)
        if block.kind == "tool_use"
    ]


def chat_of(prompt: Prompt, answer: Answer, usage: Usage, answer_id: str, created: int) -> dict[str, Any]:
    """The whole chat completion."""
    refused = answer.stop == "refusal"
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if refused else answer.text,
        "refusal": _REFUSAL if refused else None,
        "annotations": [],
    }
    if calls := _tool_calls(answer, answer_id):
        message |= {"content": None, "tool_calls": calls}
    choice = {"finish_reason": _FINISH.get(answer.stop, "stop"), "message": message, "logprobs": None}
    return {
        "id": answer_id,
        "object": "chat.completion",
        "created": created,
        "model": f"simulated-{prompt.model}",
        "choices": [{"index": index, **choice} for index in range(prompt.choices)],
        "usage": _chat_usage(usage, answer.thinking_tokens),
        "service_tier": _tier(prompt),
        "system_fingerprint": "fp_simulated",
    }


def chat_events(whole: dict[str, Any], *, with_usage: bool) -> Iterator[bytes]:
    """A chat completion as server-sent chunks."""
    head = {key: whole[key] for key in ("id", "created", "model", "service_tier", "system_fingerprint")}
    head["object"] = "chat.completion.chunk"

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return b"data: " + msgspec.json.encode({**head, "choices": [choice]}) + b"\n\n"

    message, finish = whole["choices"][0]["message"], whole["choices"][0]["finish_reason"]
    yield chunk({"role": "assistant", "content": ""})
    text = message["content"] or ""
    for at in range(0, len(text), _PIECE):
        yield chunk({"content": text[at : at + _PIECE]})
    if message["refusal"]:
        yield chunk({"refusal": message["refusal"]})
    for number, call in enumerate(message.get("tool_calls", ())):
        yield chunk({"tool_calls": [{"index": number, **call}]})
    yield chunk({}, finish)
    if with_usage:
        yield b"data: " + msgspec.json.encode({**head, "choices": [], "usage": whole["usage"]}) + b"\n\n"
    yield b"data: [DONE]\n\n"


def response_of(prompt: Prompt, answer: Answer, usage: Usage, answer_id: str, created: int) -> dict[str, Any]:
    """The whole response object."""
    output: list[dict[str, Any]] = []
    if reasoning := answer.thinking_tokens:
        output.append({"id": f"rs_{answer_id}", "type": "reasoning", "summary": []})
    for call in _tool_calls(answer, answer_id):
        function = call["function"]
        output.append(
            {"id": f"fc_{answer_id}", "type": "function_call", "call_id": call["id"], "status": "completed", **function}
        )
    content: dict[str, Any] = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
    if answer.stop == "refusal":
        content = {"type": "refusal", "refusal": _REFUSAL}
    cut = answer.stop in ("max_tokens", "model_context_window_exceeded", "pause_turn")
    if answer.stop != "tool_use":
        status = "incomplete" if cut else "completed"
        output.append(
            {"id": f"msg_{answer_id}", "type": "message", "role": "assistant", "status": status, "content": [content]}
        )
    reason = "content_filter" if answer.stop == "pause_turn" else "max_output_tokens"
    return {
        "id": answer_id,
        "object": "response",
        "created_at": created,
        "status": "incomplete" if cut else "completed",
        "error": None,
        "incomplete_details": {"reason": reason} if cut else None,
        "instructions": prompt.system or None,
        "max_output_tokens": prompt.max_tokens,
        "model": f"simulated-{prompt.model}",
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "metadata": {},
        "service_tier": _tier(prompt),
        "temperature": 1.0,
        "top_p": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "text": {"format": {"type": "text"}},
        "truncation": "disabled",
        "usage": {
            "input_tokens": usage.total_input,
            "input_tokens_details": {
                "cached_tokens": usage.cache_read,
                "cache_write_tokens": usage.cache_write_5m,
            },
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": reasoning},
            "total_tokens": usage.total_input + usage.output,
        },
    }


def error_of(refused: Refused, request_id: str = "") -> dict[str, Any]:  # noqa: ARG001 - it carries no id
    """The error envelope."""
    kind = OPENAI.error_type(refused)
    return {"error": {"message": refused.message, "type": kind, "param": refused.param, "code": refused.code}}


def go_duration(seconds: float) -> str:
    """`120ms`, `1s`, `2m59.56s`, `1h2m3s`: as Go prints a time.Duration."""
    if seconds < 1:
        return f"{round(seconds * 1000)}ms"
    hours, rest = divmod(seconds, 3600)
    minutes, rest = divmod(rest, 60)
    shown = f"{rest:.3f}".rstrip("0").rstrip(".") + "s"
    if hours or minutes:
        shown = f"{int(minutes)}m{shown}"
    return f"{int(hours)}h{shown}" if hours else shown


def limit_headers(limits: RateLimits) -> CIMultiDict[str]:
    """The rate-limit family."""
    now = real_s()
    headers: CIMultiDict[str] = CIMultiDict()
    for name, bucket in (("requests", limits.requests), ("tokens", limits.joint)):
        headers[f"x-ratelimit-limit-{name}"] = str(bucket.per_minute)
        headers[f"x-ratelimit-remaining-{name}"] = str(bucket.remaining(now))
        headers[f"x-ratelimit-reset-{name}"] = go_duration(bucket.full_in_s(now))
    return headers

"""Put an answer or an error into Gemini's words."""

from collections.abc import Iterator
from typing import Any

import msgspec

from batchwork.simulator.bill import Usage
from batchwork.simulator.errors import Refused
from batchwork.simulator.prompt import Answer, Block, Prompt
from batchwork.simulator.providers import GEMINI

_FINISH = {"max_tokens": "MAX_TOKENS", "model_context_window_exceeded": "MAX_TOKENS", "pause_turn": "RECITATION"}
_BLOCKED = "SAFETY"
_TYPE = "type.googleapis.com/google.rpc."
_PIECE = 40  # characters of one event


def answer_of(prompt: Prompt, answer: Answer, usage: Usage, number: int) -> dict[str, Any]:
    """The whole answer; every other refusal is one of the prompt, without any candidate."""
    thoughts = answer.thinking_tokens
    counts = {
        "promptTokenCount": usage.total_input,
        "candidatesTokenCount": usage.output - thoughts,
        "totalTokenCount": usage.total_input + usage.output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.total_input}],
        "serviceTier": prompt.lane,
    }
    if thoughts:
        counts["thoughtsTokenCount"] = thoughts
    if usage.cache_read:
        counts["cachedContentTokenCount"] = usage.cache_read
    told = {"usageMetadata": counts, "modelVersion": f"simulated-{prompt.model}", "responseId": f"sim{number:08d}"}
    candidate: dict[str, Any] = {"finishReason": _FINISH.get(answer.stop, "STOP"), "index": 0}
    if answer.stop == "refusal":
        if number % 2:
            return {"promptFeedback": {"blockReason": _BLOCKED}, **told}
        candidate["finishReason"] = _BLOCKED
    else:
        candidate["content"] = {"role": "model", "parts": [_part(block) for block in answer.blocks]}
    return {"candidates": [candidate], **told}


def _part(block: Block) -> dict[str, Any]:
    if block.kind == "tool_use":
        return {"functionCall": {"name": block.name, "args": block.input}}
    return {"text": block.text, "thought": True} if block.kind == "thinking" else {"text": block.text}


def events_of(whole: dict[str, Any]) -> Iterator[bytes]:
    """An answer as server-sent events, each a smaller answer; the last one says how it ended."""
    told = {name: value for name, value in whole.items() if name != "candidates"}
    for candidate in whole.get("candidates", ()):
        for part in candidate.get("content", {}).get("parts", ()):
            text = part.get("text")
            pieces = [part] if text is None else [part | {"text": text[at : at + _PIECE]} for at in _steps(text)]
            for piece in pieces:
                content = {"role": "model", "parts": [piece]}
                yield _event({"candidates": [{"content": content, "index": 0}], **told})
        yield _event({"candidates": [{"finishReason": candidate["finishReason"], "index": 0}], **told})
    if "candidates" not in whole:
        yield _event(whole)


def _steps(text: str) -> range:
    return range(0, len(text), _PIECE)


def _event(data: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(data) + b"\r\n\r\n"


def error_of(refused: Refused, request_id: str = "") -> dict[str, Any]:  # noqa: ARG001 - it carries no id
    """The error envelope; the wait of a rate limit stands inside of it, and in no header."""
    details: list[dict[str, Any]] = []
    if refused.code is not None and "Per" in refused.code:
        details.append({"@type": f"{_TYPE}QuotaFailure", "violations": [{"quotaId": refused.code}]})
    elif refused.code is not None:
        details.append({"@type": f"{_TYPE}ErrorInfo", "reason": refused.code, "domain": "googleapis.com"})
    if refused.retry_after_s is not None:
        details.append({"@type": f"{_TYPE}RetryInfo", "retryDelay": f"{refused.retry_after_s:.9g}s"})
    error: dict[str, Any] = {
        "code": refused.status,
        "message": refused.message,
        "status": GEMINI.error_type(refused),
    }
    return {"error": error | ({"details": details} if details else {})}


def model_of(name: str) -> dict[str, Any]:
    """One model object."""
    return {
        "name": f"models/{name}",
        "version": "001",
        "displayName": f"Simulated {name}",
        "inputTokenLimit": 1_048_576,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent", "countTokens", "batchGenerateContent"],
    }

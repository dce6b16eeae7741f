"""Bedrock's Converse as the live path sees it: a body read, an answer or an error put into its words."""

import re
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from batchwork.simulator import tokens
from batchwork.simulator.bill import Lane, Usage
from batchwork.simulator.bodies import bearer, pdf_document, stop_sequences
from batchwork.simulator.errors import Refused, refuse_if
from batchwork.simulator.prompt import Answer, Block, Contents, Prompt, Tool, Turn
from batchwork.simulator.providers import BEDROCK
from batchwork.simulator.wire import Wire

_SIGNATURE = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/\d{8}/[\w-]+/bedrock/aws4_request, SignedHeaders=[\w;-]+,"
    r" Signature=[0-9a-f]{64}"
)
_STOPS = {"refusal": "content_filtered", "pause_turn": "guardrail_intervened"}
_TIERS = {"default": "standard", "flex": "flex", "priority": "priority"}


class BedrockWire(Wire):
    """`POST /model/{model}/converse`."""

    api = "aws"
    limited_as = "bedrock"
    jointly = True
    path = "/model/{model}/converse"
    provider = BEDROCK
    request_id_header = "x-amzn-requestid"

    @staticmethod
    def error(refused: Refused, request_id: str = "") -> dict[str, Any]:  # noqa: ARG004
        """The error; its name stands in a header."""
        return {"message": refused.message}

    def key_in(self, headers: Mapping[str, str]) -> str:
        """Who signed the call, or the key."""
        signed = _SIGNATURE.fullmatch(headers.get("authorization", ""))
        return signed[1] if signed else bearer(headers)

    def parse(self, headers: Mapping[str, str], body: Any, model: str = "") -> Prompt:  # noqa: ARG002
        """The prompt of a call."""
        refuse_if(not isinstance(body, dict), "The request body is not an object")
        strange = sorted(set(body) - BEDROCK.fields)
        refuse_if(
            strange, f"Malformed input request: extraneous key [{strange[0] if strange else ''}] is not permitted"
        )
        listed, contents = body.get("messages"), Contents()
        refuse_if(not isinstance(listed, list) or not listed, "messages: a conversation must start with a user message")
        turns = tuple(_turn(one, contents) for one in listed)
        config = body.get("inferenceConfig") or {}
        limit = config.get("maxTokens")
        wrong = limit is not None and (not isinstance(limit, int) or limit < 1)
        refuse_if(wrong, "inferenceConfig.maxTokens: must have value greater than or equal to 1")
        tier = (body.get("serviceTier") or {}).get("type", "default")
        refuse_if(tier not in _TIERS, f"serviceTier.type: {tier!r} is not supported")
        return contents.prompt(
            model,
            "\n\n".join(str(block.get("text", "")) for block in body.get("system") or ()),
            turns,
            max_tokens=limit,
            schema=_schema(body.get("outputConfig") or {}),
            tools=tuple(
                Tool(spec["name"], (spec.get("inputSchema") or {}).get("json") or {})
                for tool in (body.get("toolConfig") or {}).get("tools") or ()
                if (spec := tool.get("toolSpec"))
            ),
            stop_sequences=stop_sequences(config.get("stopSequences"), "inferenceConfig.stopSequences"),
            lane=cast(Lane, _TIERS[tier]),
        )

    def charged(self, prompt: Prompt) -> int:
        """The input and what may be answered."""
        return prompt.input_tokens + (prompt.max_tokens or 0)

    def limited(self, what: str, wait_s: float) -> Refused:  # noqa: ARG002 - it names neither
        """A refusal by the rate limit."""
        return self.provider.fault("429")

    def answer(
        self, prompt: Prompt, answer: Answer, usage: Usage, number: int, batched_at: float | None = None
    ) -> dict[str, Any]:
        """The whole body."""
        del batched_at
        content = [_block(block, number) for block in answer.blocks]
        return {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": _STOPS.get(answer.stop, answer.stop),
            "usage": {
                "inputTokens": usage.total_input,
                "outputTokens": usage.output,
                "totalTokens": usage.total_input + usage.output,
            },
            "metrics": {"latencyMs": 1},
            "serviceTier": {"type": "default" if prompt.lane == "standard" else prompt.lane},
        }

    def error_headers(self, refused: Refused) -> dict[str, str]:
        """The name of an error, before an address that means nothing."""
        return {"x-amzn-errortype": f"{BEDROCK.error_type(refused)}:http://internal.amazon.com/coral/"}

    def model(self, name: str) -> dict[str, Any]:
        """One model object."""
        return {"modelId": name}

    def page(self, items: list[dict[str, Any]], query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002
        """The list of models: there is none of batches."""
        return {"modelSummaries": items}


def _turn(message: Any, contents: Contents) -> Turn:
    refuse_if(message.get("role") not in ("user", "assistant"), "messages.role: must be user or assistant")
    blocks = message.get("content")
    refuse_if(not isinstance(blocks, list) or not blocks, "messages.content: must not be empty")
    texts: list[str] = []
    contents.waits_for_model = False
    for block in blocks:
        if isinstance(block.get("text"), str):
            texts.append(block["text"])
            contents.add(block["text"])
        elif "image" in block:
            contents.tokens += tokens.count_image(len(str(block["image"]["source"].get("bytes", ""))))
        elif "document" in block:
            document = pdf_document(block["document"]["source"].get("bytes", ""), block["document"].get("name"))
            contents.add_document(document)
            contents.add(document.text)
        elif "toolUse" in block or "toolResult" in block:
            contents.waits_for_model = "toolResult" in block
            contents.add(msgspec.json.encode(block).decode())
        else:
            refuse_if(True, f"messages.content: unknown block {sorted(block)}")
    return Turn(message["role"], "\n\n".join(texts))


def _block(block: Block, number: int) -> dict[str, Any]:
    if block.kind == "tool_use":
        return {"toolUse": {"toolUseId": f"tooluse_{number}", "name": block.name, "input": block.input}}
    if block.kind == "thinking":
        return {"reasoningContent": {"reasoningText": {"text": block.text, "signature": "simulated"}}}
    return {"text": block.text}


def _schema(output: dict[str, Any]) -> dict[str, Any] | None:
    wanted = output.get("textFormat")
    if wanted is None:
        return None
    schema: dict[str, Any] = msgspec.json.decode(wanted["structure"]["jsonSchema"]["schema"])  # a text
    return schema

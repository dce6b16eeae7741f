"""Gemini's `batchEmbedContents`: up to 100 contents, a vector for each, in their order; it tells no usage."""

from collections.abc import Mapping
from typing import Any

from batchwork.simulator.bill import Usage
from batchwork.simulator.errors import Refused
from batchwork.simulator.gemini.wire import GeminiWire
from batchwork.simulator.openai.embeddings import REFUSED, VectorForm, embeddings_of, prompt_of
from batchwork.simulator.prompt import Answer, Prompt

_MOST = 100
_DIMENSIONS = 3072


class GeminiEmbeddings(GeminiWire):
    """`POST /v1/models/{model}:batchEmbedContents`."""

    path = "/v1/models/{model}:batchEmbedContents"

    def parse(self, headers: Mapping[str, str], body: Any, model: str = "") -> Prompt:
        """The texts of a call; one that is empty or refused is refused with all the others."""
        del headers
        requests = body.get("requests") if isinstance(body, dict) else None
        if not isinstance(requests, list) or not 1 <= len(requests) <= _MOST:
            raise _wrong(f"BatchEmbedContentsRequest.requests: at most {_MOST} requests can be in one batch")
        texts, lengths = [], set()
        for number, one in enumerate(requests):
            where = f"BatchEmbedContentsRequest.requests[{number}]"
            if not isinstance(one, dict) or one.get("model") != f"models/{model}":
                raise _wrong(f"{where}.model: must match the model of the path")
            parts = (one.get("content") or {}).get("parts") or []
            text = "".join(str(part.get("text", "")) for part in parts)
            if not text or REFUSED in text:
                raise _wrong(f"{where}.content: " + ("is required" if not text else "refused (simulated)"))
            texts.append(text)
            lengths.add(one.get("outputDimensionality") or one.get("output_dimensionality") or _DIMENSIONS)
        if len(lengths) > 1:
            raise _wrong("all requests must have the same outputDimensionality")
        return prompt_of(model, texts, VectorForm(int(lengths.pop())))

    def answer(
        self, prompt: Prompt, answer: Answer, usage: Usage, number: int, batched_at: float | None = None
    ) -> dict[str, Any]:
        """The whole body."""
        del number, batched_at
        whole = embeddings_of(prompt, answer, usage, "", 0)
        return {"embeddings": [{"values": one["embedding"]} for one in whole["data"]]}


class EmbeddingLines(GeminiEmbeddings):
    """The lines of a batch of embeddings: one content each, of the model of the batch."""

    path = "/v1/models/{model}:asyncBatchEmbedContent"

    def parse(self, headers: Mapping[str, str], body: Any, model: str = "") -> Prompt:
        """The text of a line."""
        return super().parse(headers, {"requests": [{"model": f"models/{model}", **body}]}, model)

    def answer(
        self, prompt: Prompt, answer: Answer, usage: Usage, number: int, batched_at: float | None = None
    ) -> dict[str, Any]:
        """The whole body."""
        return {"embedding": super().answer(prompt, answer, usage, number, batched_at)["embeddings"][0]}


def _wrong(message: str) -> Refused:
    return Refused(400, f"* {message}", type="INVALID_ARGUMENT")

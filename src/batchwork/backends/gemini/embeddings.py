"""Embeddings by Gemini: a pack of texts is one live `batchEmbedContents`; a line of a batch has one text.

Vectors stand in the order of the texts.

The answer does not say how many tokens it took, unless it has `usageMetadata`: without, a call is booked at its worst.
"""

from dataclasses import replace
from typing import Any

import msgspec
from msgspec import Struct

from batchwork.backends import Setup
from batchwork.backends._chat.embeddings import PackCalls, limits_of, options_of, packed_vectors
from batchwork.backends._failures import lost_result, read_answer
from batchwork.backends._transport import HttpAnswer
from batchwork.backends._wire import encode
from batchwork.backends.gemini import GeminiBackend
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure
from batchwork.core.ports import Traits
from batchwork.core.providers import Embeddings
from batchwork.core.reply import Reply, ReportedLimits, Usage
from batchwork.core.request import Request
from batchwork.core.text_pack import texts_of


class _Vector(Struct, gc=False):
    values: list[float]


class _Usage(Struct, rename="camel"):
    prompt_token_count: int | None = None


class _Answer(Struct, rename="camel"):
    embeddings: list[_Vector] | None = None  # of a call
    embedding: _Vector | None = None  # of a line
    usage_metadata: _Usage | None = None
    token_count: int | None = None


_decode = msgspec.json.Decoder(_Answer).decode


class GeminiEmbedder(PackCalls, GeminiBackend):
    """One Gemini model that makes embeddings."""

    verb, batch_verb = "batchEmbedContents", "asyncBatchEmbedContent"

    def __init__(self, model: str, traits: Traits, setup: Setup, auth: str, limits: Embeddings) -> None:
        super().__init__(model, traits, setup, auth)
        self._terms, self.pack_limits = limits, limits_of(limits)
        self._build = self._requests
        self.batch_pack_limits = replace(self.pack_limits, max_texts=1)

    def _requests(self, request: Request) -> dict[str, Any]:
        name, own = f"models/{self._model}", options_of(request, self._terms)
        contents = ({"parts": [{"text": text}], "role": "user"} for text in texts_of(request))
        return {"requests": [{"model": name, "content": content, **own} for content in contents]}

    def batch_line(self, custom_id: str, request: Request) -> bytes:
        (one,) = self._requests(request)["requests"]
        del one["model"]  # which the batch names
        return encode({"key": custom_id, "request": one}) + b"\n"

    def _reply(
        self, answer: HttpAnswer, request: Request, limits: ReportedLimits | None, request_id: str | None
    ) -> Reply:
        del request
        return self._vectors(answer.body, limits, request_id)

    def _result(self, raw: msgspec.Raw, request_id: str | None = None) -> Reply | Failure:
        try:
            return self._vectors(bytes(raw), None, request_id)
        except BackendError as error:
            return error.failure

    def _vectors(self, raw: bytes, limits: ReportedLimits | None, request_id: str | None) -> Reply:
        answer = read_answer(raw, _decode, "a list of embeddings")
        made = answer.embeddings or ([] if answer.embedding is None else [answer.embedding])
        if not made:
            raise BackendError(lost_result("the answer holds no embeddings"))
        tokens = answer.token_count if answer.usage_metadata is None else answer.usage_metadata.prompt_token_count
        vectors = packed_vectors([vector.values for vector in made])
        return Reply(
            text="",
            usage=None if tokens is None or tokens < 0 else Usage(input_tokens=tokens),
            model=self._model,
            limits=limits,
            provider_id=request_id,
            vectors=vectors,
            dimensions=len(vectors) // (4 * len(made)),
        )

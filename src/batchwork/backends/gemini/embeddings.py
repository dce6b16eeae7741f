"""Embeddings by Gemini: a pack of texts is one live `batchEmbedContents`. Vectors stand in the order of the texts.

The answer does not say how many tokens it took, unless it has `usageMetadata`: without, a call is booked at its worst.
"""

import msgspec
from msgspec import Struct

from batchwork.backends import Setup
from batchwork.backends._chat.embeddings import DIMENSIONS, of_a_pack, packed_vectors
from batchwork.backends._failures import lost_result, read_answer
from batchwork.backends._transport import HttpAnswer
from batchwork.backends.gemini import GeminiBackend
from batchwork.core.errors import BackendError
from batchwork.core.ports import Traits
from batchwork.core.providers import Embeddings
from batchwork.core.reply import Reply, ReportedLimits, Usage
from batchwork.core.request import Request
from batchwork.core.text_pack import PackLimits, texts_of


class _Vector(Struct, gc=False):
    values: list[float]


class _Usage(Struct, rename="camel"):
    prompt_token_count: int | None = None


class _Answer(Struct, rename="camel"):
    embeddings: list[_Vector] | None = None
    usage_metadata: _Usage | None = None


_decode = msgspec.json.Decoder(_Answer).decode


class GeminiEmbedder(GeminiBackend):
    """One Gemini model that makes embeddings."""

    verb = "batchEmbedContents"

    def __init__(self, model: str, traits: Traits, setup: Setup, auth: str, limits: Embeddings) -> None:
        super().__init__(model, traits, setup, auth)
        self._terms = limits
        self._build = self._requests
        self.pack_limits = PackLimits(
            max_texts=limits.max_texts, max_tokens=limits.max_tokens, text_tokens=limits.text_tokens
        )

    def _requests(self, request: Request) -> dict[str, object]:
        own = {
            self._terms.dimensions if option == DIMENSIONS else option: value
            for option, value in (request.sampling or {}).items()
        }
        name = f"models/{self._model}"
        contents = ({"parts": [{"text": text}], "role": "user"} for text in texts_of(request))
        return {"requests": [{"model": name, "content": content, **own} for content in contents]}

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        try:
            return await super().complete(request, ceiling_nano=ceiling_nano)
        except BackendError as error:
            raise BackendError(of_a_pack(error.failure, len(request.messages))) from error

    def _reply(
        self, answer: HttpAnswer, request: Request, limits: ReportedLimits | None, request_id: str | None
    ) -> Reply:
        del request
        told = read_answer(answer.body, _decode, "a list of embeddings")
        if not told.embeddings:
            raise BackendError(lost_result("the answer holds no embeddings"))
        tokens = None if told.usage_metadata is None else told.usage_metadata.prompt_token_count
        vectors = packed_vectors([vector.values for vector in told.embeddings])
        return Reply(
            text="",
            usage=None if tokens is None or tokens < 0 else Usage(input_tokens=tokens),
            model=self._model,
            limits=limits,
            provider_id=request_id,
            vectors=vectors,
            dimensions=len(vectors) // (4 * len(told.embeddings)),
        )

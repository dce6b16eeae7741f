"""Embeddings on OpenAI's wire: a pack of texts is one call, or one line of a batch, and its answer has their vectors.

Vectors are matched to their texts by `index`, never by position.
"""

import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pybase64
from msgspec import Struct

from batchwork.backends import Setup
from batchwork.backends._chat.files import FileChatBackend
from batchwork.backends._chat.reply import kind_of
from batchwork.backends._chat.service import address_of, describe, key_of, place_of, row_at
from batchwork.backends._content import add_extra
from batchwork.backends._failures import error_in, lost_result, message_of, read_answer
from batchwork.backends._wire import WireBackend
from batchwork.core.errors import BackendError, ConfigError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.packing import BatchLimits
from batchwork.core.ports import Traits
from batchwork.core.providers import Embeddings, Provider
from batchwork.core.reply import Reply, ReportedLimits, Usage
from batchwork.core.request import Request
from batchwork.core.text_pack import PackLimits, is_of_a_text, texts_of

_TEXTS_PER_LINE = 256  # a result line of more is megabytes long
_DIMENSIONS = "dimensions"  # what we call the length of a vector; a service may have another name


class _Vector(Struct, gc=False):
    embedding: str | list[float]  # what is text is base64
    index: int = 0


class _Usage(Struct):
    prompt_tokens: int | None = None
    total_tokens: int | None = None


class _Answer(Struct):
    data: list[_Vector] | None = None
    model: str = ""
    usage: _Usage | None = None
    error: dict[str, Any] | None = None


_decode = msgspec.json.Decoder(_Answer).decode


def open_embedder(
    service: str, name: str, setup: Setup, *, kind: "type[EmbeddingsBackend] | None" = None
) -> "EmbeddingsBackend":
    """The backend that makes embeddings with one model of a service, or of the server at `base_url`.

    `kind` where a service has its own batches.
    """
    base_url = address_of(service, setup)
    where = place_of(service, base_url)
    row = row_at(where)
    if row.embeddings is None:
        raise ConfigError(f"{service} makes no embeddings that batchwork knows of")
    serves = row.batch is not None and "embeddings" in row.batch.serves
    known = describe(service, name, base_url)
    traits = replace(known, batches=serves, price_model=name, sampling=None, image_tokens=None)
    setup = replace(setup, base_url=base_url, api_key=key_of(service, where, setup, base_url))
    return (kind or EmbeddingsBackend)(name, traits, setup, row, row.embeddings)


class PackCalls(WireBackend):
    """Calls with a pack of texts: what may be one text's fault says nothing about the others."""

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        try:
            return await super().complete(request, ceiling_nano=ceiling_nano)
        except BackendError as error:
            raise BackendError(_of_a_pack(error.failure, len(request.messages))) from error


def limits_of(terms: Embeddings) -> PackLimits:
    """What one call may hold."""
    return PackLimits(max_texts=terms.max_texts, max_tokens=terms.max_tokens, text_tokens=terms.text_tokens)


def options_of(request: Request, terms: Embeddings) -> dict[str, Any]:
    """What is asked beside the texts, in the service's words."""
    options = (request.sampling or {}).items()
    return {terms.dimensions if option == _DIMENSIONS else option: value for option, value in options}


class EmbeddingsBackend(PackCalls, FileChatBackend):
    """One model that makes embeddings, for single calls and for batches."""

    def __init__(self, model: str, traits: Traits, setup: Setup, row: Provider, limits: Embeddings) -> None:
        self._terms, self.pack_limits = limits, limits_of(limits)
        super().__init__(model, self._body, traits, setup, msgspec.structs.replace(row, path=limits.path))
        self._endpoint = f"{self._files.endpoints}/embeddings"
        per_line = min(_TEXTS_PER_LINE, limits.max_texts)  # what a batch may hold is counted in texts
        lines = max(1, self._files.max_requests // per_line)
        self.batch_limits = BatchLimits(max_requests=lines, max_bytes=self._files.max_bytes)
        self.batch_pack_limits = replace(self.pack_limits, max_texts=per_line)

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._model, "input": texts_of(request)}
        if self._terms.encoding is not None:
            body["encoding_format"] = self._terms.encoding
        body |= options_of(request, self._terms)
        if request.extra_body:
            add_extra(body, request.extra_body)
        return body

    def _line_body(self, request: Request) -> dict[str, Any]:
        body = super()._line_body(request)
        if self._files.model_in != "request_params":
            return body
        texts = {"input": body.pop("input")}
        self._batch_params = {"model": self._model, **body}  # the options are those of the run: every line has the same
        return texts

    @staticmethod
    def reply_in(
        raw: bytes,
        *,
        extra_body: Mapping[str, Any] | None = None,
        limits: ReportedLimits | None = None,
        request_id: str | None = None,
    ) -> Reply:
        """The vectors in an answer, in the order of their texts."""
        del extra_body
        answer = read_answer(raw, _decode, "a list of embeddings")
        if answer.data is None:
            raise BackendError(_no_vectors(answer, raw, request_id))
        vectors = _joined(answer.data)
        return Reply(
            text="",
            usage=_usage(answer.usage),
            model=answer.model,
            limits=limits,
            provider_id=request_id,
            vectors=vectors,
            dimensions=len(vectors) // (4 * max(1, len(answer.data))),
        )


def _joined(data: list[_Vector]) -> bytes:
    """The vectors, in the order of their texts; a `BackendError` where that is not told, or their lengths differ."""
    if any(vector.index != place for place, vector in enumerate(data)):
        data = sorted(data, key=lambda vector: vector.index)
        if [vector.index for vector in data] != list(range(len(data))):
            raise BackendError(lost_result("the answer does not say which vector belongs to which text"))
    return packed_vectors([vector.embedding for vector in data])


def packed_vectors(embeddings: Sequence[str | list[float]]) -> bytes:
    """Vectors as float32, one after the other; a `BackendError` where their lengths differ."""
    try:
        vectors = [_floats(embedding) for embedding in embeddings]
    except (OverflowError, ValueError) as error:  # a number that is too large; what is not base64
        raise BackendError(lost_result(f"a vector cannot be read: {error}")) from error
    if len({len(vector) for vector in vectors}) > 1 or any(len(vector) % 4 for vector in vectors[:1]):
        raise BackendError(lost_result("the vectors of one answer are not of one length"))
    return b"".join(vectors)


def _floats(embedding: str | list[float]) -> bytes:
    if isinstance(embedding, str):
        return pybase64.b64decode(embedding, validate=True)  # without `validate` it copies the text first
    numbers = array("f", embedding)
    if sys.byteorder != "little":
        numbers.byteswap()
    return numbers.tobytes()


def _usage(stated: _Usage | None) -> Usage | None:
    """What was used: some services tell the sum alone, which is the same here."""
    tokens = None if stated is None else stated.total_tokens if stated.prompt_tokens is None else stated.prompt_tokens
    return None if tokens is None or tokens < 0 else Usage(input_tokens=tokens)


def _no_vectors(answer: _Answer, raw: bytes, request_id: str | None) -> Failure:
    """Some servers send their errors with a good status."""
    if answer.error is None:
        return lost_result("the answer holds no embeddings")
    error = error_in(raw)
    code = error.get("code")
    status = code if isinstance(code, int) else 500
    kind, name = kind_of(error, status)
    message = message_of(error, raw, secret=None, request_id=request_id)
    return Failure(kind=kind, message=message, status=status, error_code=name, request_id=request_id)


def _of_a_pack(failure: Failure, texts: int) -> Failure:
    """The failure of a call with so many texts."""
    if texts < 2 or failure.kind is not FailureKind.REJECTED or not is_of_a_text(failure):
        return failure
    return msgspec.structs.replace(failure, kind=FailureKind.BAD_INPUT)

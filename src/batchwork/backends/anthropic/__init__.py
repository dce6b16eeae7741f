"""Claude models through Anthropic's Messages API, version 2026-10-21."""

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import msgspec
from msgspec import Struct
from multidict import istr

from batchwork.backends import Setup
from batchwork.backends._catalog import catalog, near
from batchwork.backends._failures import lost_result
from batchwork.backends._headers import ANTHROPIC_LIMITS, moment
from batchwork.backends._http import endpoint
from batchwork.backends._inline import InlineBackend
from batchwork.backends._wire import BatchPage, Stored, encode, placed
from batchwork.backends.anthropic.reply import kind_of, reply_in
from batchwork.backends.anthropic.request_body import SAMPLING, MessageBody, body_to_count
from batchwork.core.errors import BackendError, ConfigError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.packing import BatchLimits
from batchwork.core.ports import BatchProgress, BatchTag, Candidate, Sighting, Traits
from batchwork.core.providers import providers
from batchwork.core.reply import Reply
from batchwork.core.request import Request
from batchwork.core.words import or_list

TRAITS = Traits(
    name="anthropic",
    limited=True,
    batches=True,
    price_provider="anthropic",
    sampling=SAMPLING,
    image_tokens=6_000,  # larger ones are scaled down to less
)
_NOT_EXECUTED = {"expired": "the batch expired before its turn", "canceled": "the batch was cancelled before its turn"}


class _Counts(Struct):
    processing: int = 0
    succeeded: int = 0
    errored: int = 0
    canceled: int = 0
    expired: int = 0

    @property
    def total(self) -> int:
        return self.processing + self.succeeded + self.errored + self.canceled + self.expired


class _Batch(Stored):
    processing_status: str
    created_at: str
    request_counts: _Counts

    @property
    def has_ended(self) -> bool:
        return self.processing_status == "ended"

    @property
    def total(self) -> int:
        return self.request_counts.total


class _Result(Struct):
    type: str
    message: msgspec.Raw = msgspec.Raw(b"null")
    error: dict[str, Any] | None = None


class _Line(Struct):
    custom_id: str
    result: _Result


class _Count(Struct):
    input_tokens: int


_decode_line = msgspec.json.Decoder(_Line).decode
_decode_count = msgspec.json.Decoder(_Count).decode


class AnthropicBackend(InlineBackend):
    """One Claude model, for single calls and for message batches."""

    path = "v1/messages"
    batches_path = "v1/messages/batches"
    decode_batch = msgspec.json.Decoder(_Batch).decode
    reply_in = staticmethod(reply_in)
    kind_of = staticmethod(kind_of)
    limit_headers = ANTHROPIC_LIMITS
    request_id_header = istr("request-id")
    headers: ClassVar = {"anthropic-version": "2026-10-21"}
    batch_limits = BatchLimits(max_requests=100_000, max_bytes=256 * 1024 * 1024)
    decode_page = staticmethod(msgspec.json.Decoder(BatchPage[_Batch]).decode)
    after = "after_id"

    async def count_tokens(self, request: Request) -> int:
        url = endpoint(self._base_url, "v1/messages/count_tokens")
        answer = await self._http.post(url, encode(body_to_count(self._build(request))))
        return self._read(answer, _decode_count, model=self._model).input_tokens

    def batch_line(self, custom_id: str, request: Request) -> bytes:
        return encode({"custom_id": custom_id, "params": self._build(request)})

    async def submit_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        """Create a batch; nothing in it can name us but the custom ids."""
        del tag
        body = b'{"requests":[' + b",".join(lines) + b"]}"
        return self._created(await self._http.post(self._batches_url(), body))

    async def poll_batch(self, batch_id: str) -> BatchProgress:
        """Where it stands: it tells nothing but whether it has ended."""
        batch: _Batch = await self._batch(batch_id)
        return BatchProgress(ended=batch.has_ended, total=batch.request_counts.total)

    async def collect_batch(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | Failure]]:
        async for line in self._lines(self._batches_url(batch_id, "results"), _decode_line):
            yield line.custom_id, self._line_result(line.result)

    def _line_result(self, result: _Result) -> Reply | Failure:
        """One result in our words."""
        if result.type == "succeeded":
            return self._result(result.message)
        if result.type in _NOT_EXECUTED:
            return Failure(kind=FailureKind.EXPIRED, message=_NOT_EXECUTED[result.type])
        if result.type != "errored":
            return lost_result(f"its result is of the unknown type {result.type!r}")
        outer = result.error or {}
        inner = outer.get("error")  # the cause stands one level deeper than one would think
        error = inner if isinstance(inner, dict) else outer
        kind, code = self.kind_of(error, 0)
        return Failure(kind=kind, message=str(error.get("message", "no explanation")), error_code=code)


def describe(_name: str, _base_url: str | None) -> Traits:
    """What is known before it is opened."""
    return TRAITS


def open_backend(name: str, setup: Setup) -> AnthropicBackend:
    """The backend for one Claude model."""
    provider, ids = providers()["anthropic"], catalog().ids
    if not name:
        raise ConfigError(f"anthropic: needs a model, for example anthropic:{ids['anthropic'][0]}")
    if name in (*ids["claude-code"], "fable"):
        raise ConfigError(f"anthropic:{name} is not a model id; there is {or_list(near(name, ids['anthropic']))}")
    setup = placed(setup, "anthropic", "Anthropic")
    setup = replace(setup, base_url=str(setup.base_url).rstrip("/").removesuffix("/v1"))
    return AnthropicBackend(name, MessageBody(name).build, TRAITS, setup, provider.auth)

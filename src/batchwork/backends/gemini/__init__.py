"""Gemini models through Google's Gemini API (the Developer API, version v1)."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import msgspec
from msgspec import Struct
from multidict import istr
from yarl import URL

from batchwork.backends import Setup
from batchwork.backends._catalog import catalog, fact, near
from batchwork.backends._failures import lost_result
from batchwork.backends._headers import NO_LIMITS, ahead_s
from batchwork.backends._http import endpoint
from batchwork.backends._transport import HttpAnswer
from batchwork.backends._wire import WireBackend, encode, file_for, placed
from batchwork.backends.gemini.operations import (
    Operation,
    decode_line,
    decode_operation,
    decode_page,
    failure_of,
    progress_of,
)
from batchwork.backends.gemini.reply import Error, kind_of, reply_in, wait_in
from batchwork.backends.gemini.request_body import SAMPLING, ContentBody
from batchwork.backends.gemini.uploads import Uploads
from batchwork.core.errors import BackendError, ConfigError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.packing import BatchLimits
from batchwork.core.ports import BatchProgress, BatchTag, EmbedBackend, Sighting, Traits
from batchwork.core.providers import providers
from batchwork.core.reply import Reply, ReportedLimits
from batchwork.core.request import Request
from batchwork.core.words import or_list

_VERSION = re.compile(r"/(v\d\w*)$")
_TIER = istr("x-gemini-service-tier")
_PAGE = 100


class _Uploaded(Struct):
    name: str


class _Upload(Struct):
    file: _Uploaded


class _Count(Struct, rename="camel"):
    total_tokens: int


_decode_upload = msgspec.json.Decoder(_Upload).decode
_decode_count = msgspec.json.Decoder(_Count).decode


class GeminiBackend(WireBackend):
    """One Gemini model, for single calls and for batches.

    A batch is made of an uploaded file, and leaves a file of results. Its display name is ours, so one whose creation
    has an unknown outcome is found by it. After 48 hours a batch that has not ended is gone, with everything in it.
    """

    verb, batch_verb = "generateContent", "batchGenerateContent"
    decode_batch = staticmethod(decode_operation)
    reply_in = staticmethod(reply_in)
    kind_of = staticmethod(kind_of)
    limit_headers = NO_LIMITS
    request_id_header = istr("x-goog-request-id")
    batch_limits = BatchLimits(max_requests=100_000, max_bytes=256 * 1024 * 1024)  # of 2 GB that a file may have

    def __init__(self, model: str, traits: Traits, setup: Setup, auth: str) -> None:
        """A backend that has not connected yet."""
        base_url = (setup.base_url or "").rstrip("/")
        version = _VERSION.search(URL(base_url).path)
        self._version = version[1] if version else "v1"
        self.path = f"{self._version}/models/{model}:{self.verb}"
        self.batches_path = f"{self._version}/batches"
        self._body = ContentBody(model)
        setup = replace(setup, base_url=base_url.removesuffix(f"/{self._version}"))
        super().__init__(model, self._body.build, traits, setup, auth)
        self._uploads = Uploads(self._http, endpoint(self._base_url, f"upload/{self._version}/files"), self._failure)

    def _reply(
        self, answer: HttpAnswer, request: Request, limits: ReportedLimits | None, request_id: str | None
    ) -> Reply:
        tier = answer.headers.get(_TIER)
        return reply_in(answer.body, extra_body=request.extra_body, limits=limits, request_id=request_id, tier=tier)

    def wait_in(self, error: Error) -> float | None:
        return wait_in(error)

    async def count_tokens(self, request: Request) -> int:
        answer = await self._http.post(self._call("countTokens"), encode(self._body.to_count(request)))
        return self._read(answer, _decode_count, model=self._model).total_tokens

    def batch_line(self, custom_id: str, request: Request) -> bytes:
        return encode({"key": custom_id, "request": self._build(request)}) + b"\n"

    async def submit_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        """Create a batch of the file that the tag names; without one the lines are uploaded first."""
        file_id = await file_for(self.upload_batch, lines, tag)
        body = {"batch": {"displayName": tag.name, "inputConfig": {"fileName": file_id}}}
        return self._created(await self._http.post(self._call(self.batch_verb), encode(body)))

    async def upload_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        """Upload the lines piece by piece, or what is missing of them; an upload without a batch costs nothing."""
        return self._read(await self._uploads.upload(f"{tag.name}.jsonl", lines), _decode_upload).file.name

    async def poll_batch(self, batch_id: str) -> BatchProgress:
        """Where it stands, by its own counts; the time of its end is put on our clock."""
        answer = await self._http.get(self._batch_url(batch_id))
        return progress_of(self._read(answer, decode_operation), ahead_s(answer.headers, self._clock.utc()))

    async def collect_batch(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | Failure]]:
        batch = await self._batch(batch_id)
        if batch.results_file is None:
            problem = f"batch {batch_id} ended as {batch.state} and names no results"
            raise BackendError(Failure(kind=FailureKind.SERVER, message=problem))
        url = endpoint(self._base_url, f"{self._version}/{batch.results_file}:download").with_query(alt="media")
        async for line in self._lines(url, decode_line):
            yield line.key, self._line_result(line.response, line.error)

    def _line_result(self, response: msgspec.Raw, error: dict[str, Any] | None) -> Reply | Failure:
        if error is not None:
            return failure_of(error)
        if not bytes(response) or bytes(response) == b"null":
            return lost_result("its line holds neither a response nor an error")
        return self._result(response)

    async def cancel_batch(self, batch_id: str) -> None:
        answer = await self._http.post(self._batch_url(f"{batch_id}:cancel"), b"{}")
        self._read(answer, msgspec.json.decode)

    async def find_batch(self, tag: BatchTag) -> str | Sighting:
        """Look for the name we gave it, in the whole list: nothing says in which order that is."""
        url, seen = self._batches_url().update_query(pageSize=_PAGE), set[str]()
        while True:
            page = self._read(await self._http.get(url), decode_page)
            for batch in page.operations:
                if batch.metadata.display_name == tag.name:
                    return batch.name
            if not page.next_page_token or page.next_page_token in seen:
                return Sighting.ABSENT
            seen.add(page.next_page_token)
            url = url.update_query(pageToken=page.next_page_token)

    async def _batch(self, batch_id: str) -> Operation:
        return self._read(await self._http.get(self._batch_url(batch_id)), decode_operation)

    def _batch_url(self, batch_id: str) -> URL:
        return self._batches_url(batch_id.removeprefix("batches/"))

    def _call(self, verb: str) -> URL:
        return endpoint(self._base_url, f"{self._version}/models/{self._model}:{verb}")


def describe(name: str, _base_url: str | None) -> Traits:
    """What is known before it is opened."""
    return Traits(
        name="gemini",
        limited=True,
        batches=True,
        price_provider="google",
        sampling=SAMPLING,
        image_tokens=fact("gemini", name, "image_tokens"),
        batch_notice=(
            "a Gemini batch that has not ended within 48 h expires, and nothing of it can be had then, not even what"
            " was answered: smaller batches end sooner (items_per_batch)"
        ),
    )


def open_backend(name: str, setup: Setup) -> GeminiBackend:
    """The backend for one Gemini model."""
    provider, ids = providers()["gemini"], catalog().ids["gemini"]
    name = name.removeprefix("models/")
    if not name:
        raise ConfigError(f"gemini: needs a model, for example gemini:{ids[0]}")
    return GeminiBackend(name, describe(name, None), placed(setup, "gemini", "Gemini"), provider.auth)


def open_embedder(name: str, setup: Setup) -> "EmbedBackend":
    """The backend that makes embeddings with one Gemini model."""
    from batchwork.backends.gemini.embeddings import GeminiEmbedder  # noqa: PLC0415 - it extends this module's backend

    provider, name = providers()["gemini"], name.removeprefix("models/")
    assert provider.embeddings is not None, "its row has them"
    traits = replace(describe(name, None), price_model=name, sampling=None)
    return GeminiEmbedder(name, traits, placed(setup, "gemini", "Gemini"), provider.auth, provider.embeddings)

"""One model of one server over HTTP: what is the same on every wire, for single calls and for batches.

A wire is a subclass with its own request body, reply, error kinds and batches. All of it is translation: nothing here
or there retries, sleeps or prices.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import msgspec
from multidict import istr
from yarl import URL

from batchwork.backends import Setup
from batchwork.backends._failures import error_in, message_of, other_model
from batchwork.backends._headers import LimitHeaders, LimitsReader, ahead_s, retry_after_s
from batchwork.backends._http import Http, endpoint
from batchwork.backends._transport import Answer
from batchwork.core.address import shown_address
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import BatchTag, Clock, Traits
from batchwork.core.providers import Provider
from batchwork.core.reply import Reply
from batchwork.core.request import Request

_PAGE = 100
encode = msgspec.json.Encoder().encode
T = TypeVar("T")


class RequestBody(Protocol):
    """Builds the bodies of one model's requests."""

    def build(self, request: Request) -> dict[str, Any]:
        """Everything that is sent for one request.

        Raises:
            BackendError: this wire cannot carry it.
        """


class ListedBatch(Protocol):
    """A batch in a provider's list."""

    id: str


B = TypeVar("B", bound=ListedBatch)


class BatchPage(msgspec.Struct, Generic[B]):
    """One page of a provider's list of batches, newest first."""

    data: list[B]
    has_more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where requests go, by which key, and how many at once."""

    base_url: str
    api_key: str | None = field(repr=False)
    traits: Traits
    clock: Clock
    max_in_flight: int
    auth: str = "authorization"  # the header that carries the key
    trust_env: bool = False

    @classmethod
    def of(cls, provider: Provider, traits: Traits, setup: Setup, *, base_url: str, api_key: str | None) -> Server:
        """A provider's server, or another one that is spoken to in its way."""
        return cls(
            base_url=base_url,
            api_key=api_key,
            traits=traits,
            clock=setup.clock,
            max_in_flight=setup.max_in_flight,
            auth=provider.auth,
            trust_env=setup.settings.trust_env,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """What differs between wires."""

    path: str  # of one call, below the base URL
    batches_path: str
    batch: msgspec.json.Decoder[Any]  # reads an answer about one batch
    reply_in: Callable[..., Reply]  # the reply in an answer's body; raises BackendError when there is none
    kind_of: Callable[[dict[str, Any], int], tuple[FailureKind, str | None]]  # of an error object, and its name
    limit_headers: LimitHeaders
    request_id_header: istr
    headers: Mapping[str, str] = field(default_factory=dict)


class WireBackend(ABC):
    """Sends requests for one model to one server."""

    wire: ClassVar[Wire]

    def __init__(self, model: str, body: RequestBody, server: Server) -> None:
        """A backend that has not connected yet.

        Raises:
            ConfigError: the base URL is not one.
        """
        key, clock = server.api_key, server.clock
        headers = dict(self.wire.headers)
        if key is not None:
            headers[server.auth] = f"Bearer {key}" if server.auth == "authorization" else key
        self._model = model
        self._names = frozenset({"", model, f"{server.traits.name}:{model}"})
        self._body = body
        self._base_url = server.base_url
        self._url = endpoint(server.base_url, self.wire.path)
        self._batches_url = endpoint(server.base_url, self.wire.batches_path)
        self._secret = key
        self._clock = clock
        self._limits = LimitsReader(self.wire.limit_headers, clock.utc)
        self._http = Http(headers=headers, secret=key, max_in_flight=server.max_in_flight, trust_env=server.trust_env)
        self.traits = replace(server.traits, address=shown_address(str(endpoint(server.base_url, ""))))

    @abstractmethod
    def not_found_hint(self, model: str | None) -> str:
        """What a call that found nothing may have got wrong; `model` where it was about one."""

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        """Answer one request.

        Raises:
            BackendError: the call failed; its failure says how.
        """
        del ceiling_nano  # max_tokens is the only brake that these APIs have, and the caller has set it
        if request.model not in self._names:
            other_model(self._model, request.model)
        answer = await self._http.post(self._url, encode(self._body.build(request)))
        headers = answer.headers
        if answer.status != 200:
            raise BackendError(self._failure(answer, model=self._model))
        limits, request_id = self._limits.news(headers), headers.get(self.wire.request_id_header)
        return self.wire.reply_in(answer.body, extra_body=request.extra_body, limits=limits, request_id=request_id)

    async def aclose(self) -> None:
        """Give the connections back."""
        await self._http.aclose()

    def _failure(self, answer: Answer, *, model: str | None = None) -> Failure:
        """The failure that an answer with an error status is; `model` where the call was about one."""
        error, headers = error_in(answer.body), answer.headers
        request_id = headers.get(self.wire.request_id_header)
        message = message_of(error, answer.body, secret=self._secret, request_id=request_id)
        kind, code = self.wire.kind_of(error, answer.status)
        if answer.status == 404 and kind is FailureKind.REJECTED and (hint := self.not_found_hint(model)):
            message = f"{message}: {hint}"
        return Failure(
            kind=kind,
            message=message,
            retry_after_s=retry_after_s(headers, self._clock.utc()),
            status=answer.status,
            error_code=code,
            limits=self.wire.limit_headers.read(headers, self._clock.utc),
        )

    def _read(self, answer: Answer, decode: Callable[[bytes], T], *, unconfirmed: bool = False) -> T:
        """What an answer about a batch says."""
        if answer.status not in (200, 201):
            raise BackendError(self._failure(answer))
        try:
            return decode(answer.body)
        except msgspec.DecodeError as error:
            problem = f"the answer about a batch cannot be read: {error}"
            failure = Failure(kind=FailureKind.SERVER, message=problem, unconfirmed=unconfirmed)
            raise BackendError(failure) from error

    async def _lines(self, url: URL, decode: Callable[[bytes], T]) -> AsyncIterator[T]:
        """The lines of a file of results. One that cannot be read is an error after all others were given."""
        problem: msgspec.DecodeError | None = None
        async for line in self._http.lines(url):
            if isinstance(line, Answer):
                raise BackendError(self._failure(line))
            try:
                decoded = decode(line)
            except msgspec.DecodeError as error:
                problem = problem or error
                continue
            yield decoded
        if problem is not None:
            message = f"a line of {url.path} cannot be read: {problem}"
            raise BackendError(Failure(kind=FailureKind.SERVER, message=message)) from problem

    def _created(self, answer: Answer) -> str:
        """The id of the batch that an answer says is created."""
        batch: ListedBatch = self._read(answer, self.wire.batch.decode, unconfirmed=True)
        return batch.id

    async def _batch(self, batch_id: str) -> Any:
        return self._read(await self._http.get(self._batches_url / batch_id), self.wire.batch.decode)

    async def cancel_batch(self, batch_id: str) -> None:
        """Ask the provider to stop."""
        self._read(await self._http.post(self._batches_url / batch_id / "cancel", b""), self.wire.batch.decode)

    def _result(self, raw: msgspec.Raw, request_id: str | None = None) -> Reply | Failure:
        """The reply in a line of results, or why it is none."""
        try:
            return self.wire.reply_in(bytes(raw), request_id=request_id)
        except BackendError as error:
            return error.failure

    async def _listed(
        self, decode: Callable[[bytes], BatchPage[B]], after: str, tag: BatchTag
    ) -> AsyncIterator[tuple[B, float, float]]:
        """The provider's batches, newest first, each with the earliest and latest time the one looked for was made.

        The times are on the clock of whoever answers; `after` is the parameter that asks for the next page.
        """
        url = self._batches_url.with_query(limit=_PAGE)
        while True:
            answer = await self._http.get(url)
            page = self._read(answer, decode)
            ahead = ahead_s(answer.headers, self._clock.utc())
            for batch in page.data:
                yield batch, tag.intended_at - ahead - tag.slack_s, tag.looked_at - ahead + tag.slack_s
            if not page.has_more or not page.data:
                return
            url = self._batches_url.with_query({"limit": _PAGE, after: page.data[-1].id})

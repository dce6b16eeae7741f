"""One model of one server over HTTP: what is the same on every wire, for single calls and for batches.

A wire is a subclass with its own request body, reply, error kinds and batches. All of it is translation: nothing here
or there retries, sleeps or prices.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
from multidict import istr
from yarl import URL

from batchwork.backends import Setup
from batchwork.backends._catalog import catalog, near
from batchwork.backends._failures import error_in, message_of, other_model
from batchwork.backends._headers import LimitHeaders, LimitsReader, ahead_s, retry_after_s
from batchwork.backends._http import Http, endpoint, path_hint
from batchwork.backends._transport import HttpAnswer
from batchwork.core.address import shown_address
from batchwork.core.errors import BackendError, ConfigError, NotCreatedError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import BatchProgress, BatchTag, Traits
from batchwork.core.providers import Provider, providers
from batchwork.core.reply import Reply, ReportedLimits
from batchwork.core.request import Request
from batchwork.core.words import or_list

_PAGE = 100
_NOT_THERE = frozenset({404, 405})
encode = msgspec.json.Encoder().encode
T = TypeVar("T")


class Stored(msgspec.Struct):
    """A file or a batch that the provider keeps."""

    id: str


B = TypeVar("B", bound=Stored)


class BatchPage(msgspec.Struct, Generic[B]):
    """One page of a provider's list of batches, newest first."""

    data: list[B]
    has_more: bool = False


class WireBackend:
    """Sends requests for one model to one server; the class attributes are what differs between wires."""

    path: str  # of one call, below the base URL
    batches_path: str
    decode_batch: Callable[[bytes], Any]  # reads an answer about one batch, a `Stored`
    reply_in: Callable[..., Reply]  # the reply in an answer's body; raises BackendError when there is none
    kind_of: Callable[[dict[str, Any], int], tuple[FailureKind, str | None]]  # of an error object, and its name
    limit_headers: LimitHeaders
    request_id_header: ClassVar[istr]
    headers: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self, model: str, build: Callable[[Request], dict[str, Any]], traits: Traits, setup: Setup, auth: str
    ) -> None:
        """A backend that has not connected yet; a base URL that is none is a `ConfigError`.

        `build` makes the body of a request, or raises a `BackendError`. `auth` is the header that carries the key.
        """
        key, self._base_url = setup.api_key, setup.base_url or ""
        headers = dict(self.headers)
        if key is not None:
            headers[auth] = f"Bearer {key}" if auth == "authorization" else key
        self._model = model
        self._names = frozenset({"", model, f"{traits.name}:{model}"})
        self._build = build
        self._url = endpoint(self._base_url, self.path)
        self._path_hint = path_hint(self._base_url, self.path)
        self._secret = key
        self._clock = setup.clock
        self._limits = LimitsReader(self.limit_headers, setup.clock.utc)
        trust_env = setup.settings.trust_env
        self._http = Http(headers=headers, secret=key, max_in_flight=setup.max_in_flight, trust_env=trust_env)
        self._send: Callable[[bytes], Awaitable[HttpAnswer]] = partial(self._http.post, self._url)
        self.traits = replace(traits, address=shown_address(str(endpoint(self._base_url, ""))))

    def not_found_hint(self, model: str | None) -> str:
        """What a call that found nothing may have got wrong; `model` where it was about one."""
        others = [] if model is None else near(model, catalog().ids.get(self.traits.name, ()))
        return f"is the model {model!r} right? There is {or_list(others)}" if others else ""

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        del ceiling_nano  # max_tokens is the only brake that these APIs have, and the caller has set it
        if request.model not in self._names:
            other_model(self._model, request.model)
        answer = await self._send(encode(self._build(request)))
        headers = answer.headers
        if answer.status != 200:
            raise BackendError(self._failure(answer, model=self._model))
        try:
            return self._reply(answer, request, self._limits.news(headers), headers.get(self.request_id_header))
        except BackendError as error:
            if not self._path_hint or error.failure.reply is not None:
                raise
            message = f"{error.failure.message}; {self._path_hint}"
            raise BackendError(msgspec.structs.replace(error.failure, message=message)) from error

    async def aclose(self) -> None:
        await self._http.aclose()

    def _reply(
        self, answer: HttpAnswer, request: Request, limits: ReportedLimits | None, request_id: str | None
    ) -> Reply:
        """The reply in a good answer to a call."""
        return self.reply_in(answer.body, extra_body=request.extra_body, limits=limits, request_id=request_id)

    def wait_in(self, error: dict[str, Any]) -> float | None:  # noqa: ARG002
        """Seconds to wait that an error object asks for, where a wire says it there; else a header does."""
        return None

    def _failure(self, answer: HttpAnswer, *, model: str | None = None) -> Failure:
        """The failure that an answer with an error status is; `model` where the call was about one."""
        error, headers = error_in(answer.body), answer.headers
        request_id = headers.get(self.request_id_header)
        message = message_of(error, answer.body, secret=self._secret, request_id=request_id)
        kind, code = self.kind_of(error, answer.status)
        wait_s = retry_after_s(headers, self._clock.utc())
        if answer.status in _NOT_THERE and (self._path_hint or not error) and "model" not in message.lower():
            message = f"{message}: the server knows no such path; {self._path_hint or 'is the base_url right?'}"
        elif answer.status == 404 and kind is FailureKind.REJECTED and (hint := self.not_found_hint(model)):
            message = f"{message}: {hint}"
        return Failure(
            kind=kind,
            message=message,
            retry_after_s=self.wait_in(error) if wait_s is None else wait_s,
            status=answer.status,
            error_code=code,
            limits=self.limit_headers.read(headers, self._clock.utc),
            request_id=request_id,
        )

    def _read(
        self, answer: HttpAnswer, decode: Callable[[bytes], T], *, model: str | None = None, unconfirmed: bool = False
    ) -> T:
        """What an answer other than a reply says; `model` where the call was about one."""
        if answer.status not in (200, 201, 202):
            raise BackendError(self._failure(answer, model=model))
        try:
            return decode(answer.body)
        except msgspec.DecodeError as error:
            problem = f"the answer cannot be read: {error}"
            failure = Failure(kind=FailureKind.SERVER, message=problem, unconfirmed=unconfirmed)
            raise BackendError(failure) from error

    async def _lines(self, url: URL, decode: Callable[[bytes], T]) -> AsyncIterator[T]:
        """The lines of a file of results. One that cannot be read is an error after all others were given."""
        problem: msgspec.DecodeError | None = None
        async for line in self._http.lines(url):
            if isinstance(line, HttpAnswer):
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

    def _created(self, answer: HttpAnswer) -> str:
        """The id of the batch that an answer says is created."""
        batch: Stored = self._read(answer, self.decode_batch, unconfirmed=True)
        return batch.id

    def _batches_url(self, *below: str) -> URL:
        """The address of the provider's batches, or of one of them."""
        return endpoint(self._base_url, "/".join((self.batches_path, *below)))

    async def _batch(self, batch_id: str) -> Any:
        return self._read(await self._http.get(self._batches_url(batch_id)), self.decode_batch)

    async def cancel_batch(self, batch_id: str) -> None:
        self._read(await self._http.post(self._batches_url(batch_id, "cancel"), b""), self.decode_batch)

    def _result(self, raw: msgspec.Raw, request_id: str | None = None) -> Reply | Failure:
        """The reply in a line of results, or why it is none."""
        try:
            return self.reply_in(bytes(raw), request_id=request_id)
        except BackendError as error:
            return error.failure

    async def _listed(
        self, decode: Callable[[bytes], BatchPage[B]], after: str, tag: BatchTag
    ) -> AsyncIterator[tuple[B, float, float]]:
        """The provider's batches, newest first, each with the earliest and latest time the one looked for was made.

        The times are on the clock of whoever answers; `after` is the parameter that asks for the next page.
        """
        url, last = self._batches_url().update_query(limit=_PAGE), ""
        while True:
            answer = await self._http.get(url)
            page = self._read(answer, decode)
            ahead = ahead_s(answer.headers, self._clock.utc())
            for batch in page.data:
                yield batch, tag.intended_at - ahead - tag.slack_s, tag.looked_at - ahead + tag.slack_s
            if not page.has_more or not page.data or page.data[-1].id == last:  # it does not know the parameter
                return
            last = page.data[-1].id
            url = url.update_query({after: page.data[-1].id})


def placed(setup: Setup, service: str, name: str) -> Setup:
    """The same with the address and the key that hold; a ConfigError where there is no key for the service's own."""
    row, settings = providers()[service], setup.settings
    base_url = setup.base_url or settings.addresses.get(service) or row.base_url
    api_key = setup.api_key or settings.keys.get(service)
    if api_key is None and base_url == row.base_url:
        raise no_key(name, row)
    return replace(setup, base_url=base_url, api_key=api_key)


def no_key(name: str, row: Provider) -> ConfigError:
    """There is no key for a provider that takes no call without one."""
    return ConfigError(
        f"no API key for {name}: set {row.keys[0]} in the environment or in .env (in Python also api_key=)"
    )


def ended_batch(*, total: int | None, done: int, late: str | None) -> BatchProgress:
    """A batch with results; `late` says why what they do not list was not executed, where that is known."""
    unlisted = None if late is None else Failure(kind=FailureKind.EXPIRED, message=late)
    return BatchProgress(ended=True, total=total, done=done, unlisted=unlisted)


def no_results(state: str, made: int, *, total: int | None, late: str | None, refusal: Failure) -> BatchProgress:
    """A batch that has ended without results, although it may have `made` some."""
    failure = refusal if late is None else Failure(kind=FailureKind.EXPIRED, message=late)
    if made:
        problem = f"the batch ended as {state} without results, {made} of which it had made: they may be billed"
        failure = Failure(kind=FailureKind.RESULT_LOST, message=problem, unconfirmed=True)
    return BatchProgress(ended=True, failure=failure, total=total)


async def file_for(upload: Callable[[list[bytes], BatchTag], Awaitable[str]], lines: list[bytes], tag: BatchTag) -> str:
    """The file that a batch is made of: the one that its tag names, or the lines, which are uploaded first."""
    if tag.file_id is not None:
        return tag.file_id
    try:
        return await upload(lines, tag)
    except BackendError as error:
        raise NotCreatedError(error.failure) from error

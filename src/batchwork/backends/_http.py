"""Post a body and read the whole answer, over connections that are kept: the hot path of every HTTP backend.

Decides one thing: whether a call that broke may have reached the provider and be billed (`unconfirmed`). It never
retries, never follows a redirect (a POST would become a GET) and has no deadline of its own beyond connecting: the
engine holds the watch. What comes back is rid of our own key and of what may be a secret in the address, before
anybody reads it: some servers repeat what they were sent.
"""

import re
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import lru_cache
from http.cookies import BaseCookie, SimpleCookie
from io import BytesIO
from typing import NoReturn

import aiohttp
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from batchwork.core.address import HIDDEN, is_plain, secrets_in, secrets_to_hide, shown_address
from batchwork.core.errors import BackendError, ConfigError
from batchwork.core.failure import Failure, FailureKind

_CONNECT_S = 30.0
_KEEP_ALIVE_S = 15.0
_SILENCE_S = 120.0  # a download that says nothing for so long has broken off
_LARGE = 2**20  # from here on aiohttp wants a stream, so that one write does not hold the loop
_LONGEST_HEADER = 2**16  # bytes: gateways in between add theirs, and an answer is not lost for them
_LONGEST_REASON = 80  # characters: what follows is the other side's bytes
_USER_AGENT = "batchwork"

_HOST = re.compile(r"(?!https?\b)[\w.-]+(:\d+)?(/\S*)?")  # an address whose scheme was left out
_VERSION = re.compile(r"/v\d\w*(/|$)")
_NO_COOKIES: BaseCookie[str] = SimpleCookie()


class _NoCookies(aiohttp.DummyCookieJar):
    """Keeps no cookies, and does not even make an empty jar of them for every call."""

    def filter_cookies(self, request_url: URL) -> BaseCookie[str]:
        del request_url
        return _NO_COOKIES


@dataclass(slots=True)
class HttpAnswer:
    """What came back: the status, the headers, the whole body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Http:
    """One session for one backend: pooled connections, prebuilt headers, no cookies, no timers."""

    def __init__(
        self, *, headers: Mapping[str, str], max_in_flight: int, secret: str | None = None, trust_env: bool = False
    ) -> None:
        # Answers are a few kilobytes: unpacking them would cost more than it saves.
        fixed = {"content-type": "application/json", "accept": "application/json", "accept-encoding": "identity"}
        self._headers = {**fixed, "user-agent": _USER_AGENT, **headers}
        self._keys = () if secret is None else (secret,)
        self._max_in_flight = max_in_flight
        self._trust_env = trust_env
        self._session: aiohttp.ClientSession | None = None

    async def post(self, url: URL, body: bytes) -> HttpAnswer:
        """Send one body, read one answer; without a whole answer, here and below, it is a `BackendError`."""
        session = self._session or self._open()
        response: aiohttp.ClientResponse | None = None
        try:
            data = body if len(body) < _LARGE else BytesIO(body)
            response = await session.post(url, data=data, allow_redirects=False)
            read = await response.read()
        except (aiohttp.ClientError, OSError) as error:
            if response is None:
                self._give_up(error, url)
            response.close()
            if response.status < 400:
                self._give_up(error, url)
            read = b""  # an error is an error, however little of its text arrived
        except BaseException:
            if response is not None:
                response.close()
            raise
        return self._answer(url, response, read)

    async def get(self, url: URL) -> HttpAnswer:
        """Read one answer."""
        return await self._whole(url, (self._session or self._open()).get(url, allow_redirects=False))

    async def upload(self, url: URL, fields: Mapping[str, str], name: str, parts: Iterable[bytes]) -> HttpAnswer:
        """Send a file as a form, read one answer."""
        form = aiohttp.FormData(fields)
        form.add_field("file", BytesIO(b"".join(parts)), filename=name, content_type="application/octet-stream")
        payload = form()
        # Stated for this call, because the session's own content type would hide the form's boundary.
        headers = {"content-type": payload.headers["Content-Type"]}
        session = self._session or self._open()
        return await self._whole(url, session.post(url, data=payload, allow_redirects=False, headers=headers))

    async def _whole(self, url: URL, call: AbstractAsyncContextManager[aiohttp.ClientResponse]) -> HttpAnswer:
        try:
            async with call as response:
                return self._answer(url, response, await response.read())
        except (aiohttp.ClientError, OSError) as error:
            self._give_up(error, url)

    async def lines(self, url: URL) -> AsyncIterator[HttpAnswer | bytes]:
        """Read a long answer line by line; when its status is an error, the whole answer instead."""
        session = self._session or self._open()
        rest = b""
        try:
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S, sock_read=_SILENCE_S)
            async with session.get(url, allow_redirects=False, timeout=timeout) as response:
                if response.status != 200:
                    yield self._answer(url, response, await response.read())
                    return
                async for piece in response.content.iter_any():
                    *whole, rest = (rest + piece).split(b"\n")
                    for line in whole:
                        if line.strip():
                            yield self._cleaned(url, line)
        except (aiohttp.ClientError, OSError) as error:
            self._give_up(error, url)
        if rest.strip():
            yield self._cleaned(url, rest)

    def _answer(self, url: URL, response: aiohttp.ClientResponse, body: bytes) -> HttpAnswer:
        headers, is_error = response.headers, response.status >= 400
        if is_error:
            headers = CIMultiDictProxy(CIMultiDict((k, self._without(url, v)) for k, v in headers.items()))
        return HttpAnswer(response.status, headers, self._cleaned(url, body, is_error=is_error))

    def _cleaned(self, url: URL, body: bytes, *, is_error: bool = False) -> bytes:
        for secret in _secrets(self._keys, url.raw_query_string, is_error):
            if secret in body:
                body = body.replace(secret, HIDDEN.encode())
        return body

    def _without(self, url: URL, text: str) -> str:
        return self._cleaned(url, text.encode("utf-8", "surrogateescape"), is_error=True).decode(
            "utf-8", "surrogateescape"
        )

    def _give_up(self, error: Exception, url: URL) -> NoReturn:
        """A broken call in our words."""
        # What caused it may name the address whole, and would be shown with it.
        cause = None if url.raw_query_string else error
        if isinstance(error, aiohttp.ClientResponseError):  # it came whole, and asking again would pay for it again
            message = self._without(url, f"the answer cannot be read: {error.message[:_LONGEST_REASON]}")
            raise BackendError(Failure(kind=FailureKind.RESULT_LOST, message=message, unconfirmed=True)) from cause
        # Nothing was sent when no connection came about; in every other case nobody knows how far it got.
        unsent = isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError | aiohttp.InvalidURL)
        if isinstance(error, aiohttp.ClientPayloadError):
            message = "the connection was lost in the middle of the answer"
        elif isinstance(error, aiohttp.ClientConnectorError):
            message = f"{error.host}:{error.port} cannot be reached: {_cause(error)}"
        elif isinstance(error, aiohttp.ServerDisconnectedError):
            message = "the connection was closed before an answer came"
        else:
            message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        failure = Failure(kind=FailureKind.CONNECTION, message=self._without(url, message), unconfirmed=not unsent)
        raise BackendError(failure) from cause

    def _open(self) -> aiohttp.ClientSession:
        # Not in the constructor: a session belongs to the loop that it was made in.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=self._max_in_flight, keepalive_timeout=_KEEP_ALIVE_S, ttl_dns_cache=300
            ),
            headers=self._headers,
            cookie_jar=_NoCookies(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S),
            trust_env=self._trust_env,
            max_line_size=_LONGEST_HEADER,
            max_field_size=_LONGEST_HEADER,
        )
        return self._session

    async def aclose(self) -> None:
        """Give the connections back."""
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()


def _cause(error: aiohttp.ClientConnectorError) -> str:
    """Why no connection came about, and what to look at."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "there is no host of this name; is the address right?"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"its certificate is not accepted ({error.certificate_error})"
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return "it does not speak https; is it an http:// address?"
    if isinstance(error.os_error, ConnectionRefusedError):
        return "nobody listens there; is the server running, and the port right?"
    return error.os_error.strerror or type(error.os_error).__name__


@lru_cache(maxsize=64)
def _secrets(keys: tuple[str, ...], query: str, is_error: bool) -> tuple[bytes, ...]:
    return secrets_to_hide((*keys, *(secrets_in(f"?{query}") if query else ())), is_error=is_error)


def path_hint(base_url: str, path: str) -> str:
    """What to try when a base URL leads to a path that the server does not know; empty where there is no guess."""
    address = shown_address(base_url)
    if (above := address.removesuffix(f"/{path}")) != address:
        return f"did you mean the base_url {above}?"
    is_versioned = path.startswith("v1/") or _VERSION.search(address)
    return "" if is_versioned else f"did you mean the base_url {address}/v1?"


def endpoint(base_url: str, path: str) -> URL:
    """The address of one call below a base URL."""
    shown = shown_address(base_url)
    try:
        base = URL(base_url.strip().rstrip("/"))
        problem = ""
    except ValueError as error:
        base, problem = URL(), f" ({error})" if HIDDEN not in shown and is_plain(base_url) else ""
    if base.scheme not in ("http", "https") or not base.host or " " in base.host:
        meant = f"; did you mean http://{shown}?" if _HOST.fullmatch(shown) else ""
        raise ConfigError(f"base_url must be an http:// or https:// address, got {shown!r}{problem}{meant}")
    if base.user is not None or base.password is not None:
        raise ConfigError("base_url must not hold a user or password: give the key as api_key")
    return (base / path).with_query(base.query)

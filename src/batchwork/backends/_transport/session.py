"""The transport that can do everything: aiohttp, for whatever is not the hot path."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from http.cookies import BaseCookie, SimpleCookie
from io import BytesIO

import aiohttp
from yarl import URL

from batchwork.backends._transport import (
    ADDRESSES_S,
    CLOSED,
    CONNECT_S,
    CUT_OFF,
    KEEP_ALIVE_S,
    LARGE,
    LONGEST_HEAD,
    Broken,
    HttpAnswer,
    closed,
    unconnected,
    unreadable,
)

_SILENCE_S = 120.0  # a download that says nothing for so long has broken off
_FAULTS = (aiohttp.ClientError, OSError)
_NO_COOKIES: BaseCookie[str] = SimpleCookie()


class _NoCookies(aiohttp.DummyCookieJar):
    """Keeps no cookies, and does not even make an empty jar of them for every call."""

    def filter_cookies(self, request_url: URL) -> BaseCookie[str]:
        del request_url
        return _NO_COOKIES


class Session:
    """One aiohttp session: pooled connections, fixed headers, no cookies, no timers."""

    def __init__(self, *, headers: Mapping[str, str], limit: int, trust_env: bool) -> None:
        self._headers = headers
        self._limit = limit
        self._trust_env = trust_env
        self._session: aiohttp.ClientSession | None = None

    async def post(self, url: URL, body: bytes, headers: Mapping[str, str] | None = None) -> HttpAnswer:
        """Send one body, read one answer."""
        data = body if len(body) < LARGE else BytesIO(body)
        return await self._whole(self._opened().post(url, data=data, allow_redirects=False, headers=headers))

    async def get(self, url: URL) -> HttpAnswer:
        """Read one answer."""
        return await self._whole(self._opened().get(url, allow_redirects=False))

    async def upload(self, url: URL, fields: Mapping[str, str], name: str, parts: Iterable[bytes]) -> HttpAnswer:
        """Send a file as a form, read one answer."""
        form = aiohttp.FormData(fields)
        form.add_field("file", BytesIO(b"".join(parts)), filename=name, content_type="application/octet-stream")
        payload = form()
        # Stated for this call, because the session's own content type would hide the form's boundary.
        headers = {"content-type": payload.headers["Content-Type"]}
        return await self._whole(self._opened().post(url, data=payload, allow_redirects=False, headers=headers))

    async def _whole(self, call: AbstractAsyncContextManager[aiohttp.ClientResponse]) -> HttpAnswer:
        head: HttpAnswer | None = None
        try:
            async with call as response:
                head = _head(response)
                head.body = await response.read()
                return head
        except _FAULTS as error:
            raise _broken(error, head) from error

    async def pieces(self, url: URL) -> AsyncIterator[HttpAnswer | bytes]:
        """Read a long answer piece by piece; when its status is an error, the whole answer instead."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=_SILENCE_S)
        try:
            async with self._opened().get(url, allow_redirects=False, timeout=timeout) as response:
                if response.status != 200:
                    head = _head(response)
                    head.body = await response.read()
                    yield head
                    return
                async for piece in response.content.iter_any():
                    yield piece
        except _FAULTS as error:
            raise _broken(error, None) from error

    def _opened(self) -> aiohttp.ClientSession:
        # Not in the constructor: a session belongs to the loop that it was made in.
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=self._limit, keepalive_timeout=KEEP_ALIVE_S, ttl_dns_cache=int(ADDRESSES_S)
                ),
                headers=self._headers,
                cookie_jar=_NoCookies(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
                trust_env=self._trust_env,
                max_line_size=LONGEST_HEAD,
                max_field_size=LONGEST_HEAD,
            )
        return self._session

    async def aclose(self) -> None:
        """Give the connections back."""
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()


def _head(response: aiohttp.ClientResponse) -> HttpAnswer:
    headers: dict[str, str] = {}
    for name, value in response.headers.items():
        headers.setdefault(name.lower(), value.strip(" \t"))  # which aiohttp before 3.14 leaves behind it
    return HttpAnswer(response.status, headers, b"")


def _broken(error: Exception, head: HttpAnswer | None) -> Broken:
    """A broken call in our words."""
    if isinstance(error, aiohttp.ClientResponseError):
        return unreadable(error.message, head)
    # Nothing was sent when no connection came about; in every other case nobody knows how far it got.
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        reason = error.certificate_error
        return unconnected(error.host, error.port, reason if isinstance(reason, OSError) else OSError(str(reason)))
    if isinstance(error, aiohttp.ClientConnectorError):
        return unconnected(error.host, error.port, error.os_error)
    if isinstance(error, aiohttp.ConnectionTimeoutError | aiohttp.InvalidURL):
        return Broken(f"{type(error).__name__}: {error}", sent=False)
    if isinstance(error, aiohttp.ClientPayloadError):
        return closed(None, CUT_OFF, head)
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return closed(None)
    if isinstance(error, OSError):
        return closed(error, CUT_OFF if head is not None else CLOSED, head)
    return Broken(f"{type(error).__name__}: {error}", head=head)

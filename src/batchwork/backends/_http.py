"""Post a body and read the whole answer, over connections that are kept: the hot path of every HTTP backend.

Decides one thing: whether a call that broke may have reached the provider and be billed (`unconfirmed`). It never
retries, never follows a redirect (a POST would become a GET) and has no deadline of its own beyond connecting: the
engine holds the watch. What comes back is rid of our own key and of what may be a secret in the address, before
anybody reads it: some servers repeat what they were sent.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Iterable, Mapping
from functools import lru_cache
from typing import NoReturn

from yarl import URL

from batchwork.backends._transport import Broken, HttpAnswer, Transport
from batchwork.backends._transport.pool import Pool
from batchwork.backends._transport.session import Session
from batchwork.core.address import HIDDEN, is_plain, secrets_in, secrets_to_hide, shown_address
from batchwork.core.errors import BackendError, ConfigError
from batchwork.core.failure import Failure, FailureKind

_USER_AGENT = "batchwork"
_HOST = re.compile(r"(?!https?\b)[\w.-]+(:\d+)?(/\S*)?")  # an address whose scheme was left out
_VERSION = re.compile(r"/v\d\w*(/|$)")


class Http:
    """The calls of one backend: prebuilt headers, kept connections, no cookies, no timers."""

    def __init__(
        self, *, headers: Mapping[str, str], max_in_flight: int, secret: str | None = None, trust_env: bool = False
    ) -> None:
        """Calls with these headers; where the environment is trusted it may name a proxy.

        Raises:
            ConfigError: a header would be more than one.
        """
        # Answers are a few kilobytes: unpacking them would cost more than it saves.
        fixed = {"content-type": "application/json", "accept": "application/json", "accept-encoding": "identity"}
        headers = {**fixed, "user-agent": _USER_AGENT, **headers}
        for name, value in headers.items():
            if not value.isprintable():
                raise ConfigError(f"the header {name} must not hold line breaks or control characters: look at the key")
        self._keys: tuple[str, ...] = () if secret is None else (secret,)
        self._session = Session(headers=headers, limit=max_in_flight, trust_env=trust_env)
        self._hot: Transport = self._session if trust_env else Pool(headers=headers, limit=max_in_flight)

    def hide(self, secret: str) -> None:
        """Rid answers of a further secret, one that a call has just been sent with."""
        if secret not in self._keys:
            self._keys = (*self._keys[-3:], secret)

    def post(self, url: URL, body: bytes) -> Awaitable[HttpAnswer]:
        """Send one body, read one answer; without a whole answer, here and below, it is a `BackendError`."""
        return self._whole(url, self._hot.post(url, body))

    async def get(self, url: URL) -> HttpAnswer:
        """Read one answer."""
        return await self._whole(url, self._session.get(url))

    async def send(self, url: URL, body: bytes, headers: Mapping[str, str]) -> HttpAnswer:
        """Send one body with headers of its own, read one answer: apart from the hot path, whose headers are fixed."""
        return await self._whole(url, self._session.post(url, body, headers))

    async def upload(self, url: URL, fields: Mapping[str, str], name: str, parts: Iterable[bytes]) -> HttpAnswer:
        """Send a file as a form, read one answer."""
        return await self._whole(url, self._session.upload(url, fields, name, parts))

    async def _whole(self, url: URL, call: Awaitable[HttpAnswer]) -> HttpAnswer:
        try:
            answer = await call
        except Broken as broken:
            if broken.head is None or broken.head.status < 400:
                self._give_up(broken, url)
            answer = broken.head  # an error is an error, however little of its text arrived
        return self._clean(url, answer)

    async def lines(self, url: URL) -> AsyncIterator[HttpAnswer | bytes]:
        """Read a long answer line by line; when its status is an error, the whole answer instead."""
        rest = b""
        try:
            async for piece in self._session.pieces(url):
                if isinstance(piece, HttpAnswer):
                    yield self._clean(url, piece)
                    return
                *whole, rest = (rest + piece).split(b"\n")
                for line in whole:
                    if line.strip():
                        yield self._cleaned(url, line)
        except Broken as broken:
            self._give_up(broken, url)
        if rest.strip():
            yield self._cleaned(url, rest)

    def _clean(self, url: URL, answer: HttpAnswer) -> HttpAnswer:
        is_error = answer.status >= 400
        if is_error:
            answer.headers = {name: self._without(url, value) for name, value in answer.headers.items()}
        answer.body = self._cleaned(url, answer.body, is_error=is_error)
        return answer

    def _cleaned(self, url: URL, body: bytes, *, is_error: bool = False) -> bytes:
        for secret in _secrets(self._keys, url.raw_query_string, is_error):
            if secret in body:
                body = body.replace(secret, HIDDEN.encode())
        return body

    def _without(self, url: URL, text: str) -> str:
        return self._cleaned(url, text.encode("utf-8", "surrogateescape"), is_error=True).decode(
            "utf-8", "surrogateescape"
        )

    def _give_up(self, broken: Broken, url: URL) -> NoReturn:
        """A broken call as a failure: it is confirmed only when nothing was sent."""
        kind = FailureKind.RESULT_LOST if broken.unreadable else FailureKind.CONNECTION
        failure = Failure(kind=kind, message=self._without(url, str(broken)), unconfirmed=broken.sent)
        # What caused it may name the address whole, and would be shown with it.
        raise BackendError(failure) from None if url.raw_query_string else broken

    async def aclose(self) -> None:
        """Give the connections back."""
        await self._hot.aclose()
        await self._session.aclose()


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
        raise ConfigError(
            "base_url must not hold a user or password: set the key in the environment (in Python also api_key=)"
        )
    return (base / path).with_query(base.query)

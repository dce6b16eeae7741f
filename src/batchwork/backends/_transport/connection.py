"""One HTTP/1.1 connection of our own: writes a request, and reads the answer with llhttp's parser.

Decides when an answer is whole, and whether the connection may carry another request after it.
"""

import asyncio
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from batchwork.backends._transport import (
    CUT_OFF,
    LARGE,
    LARGEST_BODY,
    LONGEST_HEAD,
    Broken,
    HttpAnswer,
    closed,
    unreadable,
)
from batchwork.clock import next_turn

_PIECE = 2**18
_ZLIB_OR_GZIP, _BARE_DEFLATE = 47, -15  # what zlib calls them


class _Unacceptable(Exception):
    """An answer beyond a limit."""


class Connection(asyncio.Protocol):
    """One connection, which carries one request at a time."""

    def __init__(self, loop: asyncio.AbstractEventLoop, members: set["Connection"], gone: Callable[[], None]) -> None:
        self.idle_since = 0.0
        self._loop = loop
        self._members = members  # it is one of them from its beginning to its end
        self._gone = gone
        self._fields: dict[bytes, bytes] = {}  # headers as they come
        self.on_header = self._fields.setdefault  # the parser calls it for each: the first of a name counts
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        # What servers in use send although they should not; aiohttp reads it as well.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[HttpAnswer] | None = None  # for the answer
        self._room: asyncio.Future[None] | None = None  # for room to write
        self._all_sent = self._keep_alive = False
        self._status: int | None = None  # there is one once the headers are whole
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._head_size = self._body_size = 0

    # -- what the pool does with it -------------------------------------------------------------

    async def post(self, head: bytes, body: bytes) -> HttpAnswer:
        """Send a request and wait for its answer.

        Raises:
            Broken: there was no whole answer.
        """
        assert self._transport is not None
        waiter: asyncio.Future[HttpAnswer] = self._loop.create_future()
        self._waiter = waiter
        self._all_sent = self._keep_alive = False
        try:
            if len(body) < LARGE:
                self._transport.write(head + body)
                self._all_sent = True
            else:
                await self._send_pieces(head, body)
            return await waiter
        except BaseException:
            waiter.cancel()  # nobody looks at it any more
            self.abort()
            raise

    async def _send_pieces(self, head: bytes, body: bytes) -> None:
        assert self._transport is not None
        assert self._waiter is not None
        self._transport.write(head)
        view = memoryview(body)
        for start in range(0, len(body), _PIECE):
            self._transport.write(view[start : start + _PIECE])
            await (self._room or next_turn())
            if self._waiter.done():  # an answer before the end, or no connection any more
                return
        self._all_sent = True

    @property
    def is_open(self) -> bool:
        """Whether a request may be written to it."""
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_reusable(self) -> bool:
        """Whether it may carry another request after the one that was answered."""
        return (
            self._keep_alive
            and self._all_sent
            and self._transport is not None
            and not self._transport.is_closing()
            and not self._transport.get_write_buffer_size()
        )

    def abort(self) -> None:
        """End it at once."""
        if self._transport is not None:
            self._transport.abort()

    # -- what the event loop calls --------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is there."""
        self._transport = cast("asyncio.Transport", transport)
        self._members.add(self)

    def data_received(self, data: bytes) -> None:
        """Read on; bytes that nobody waits for end the connection."""
        if self._parser is None or self._waiter is None or self._waiter.done():
            self._keep_alive = False
            self.abort()
            return
        if self._status is None:
            self._head_size += len(data)
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            self._fail(unreadable("the server wants to speak another protocol"))
        except HttpParserError as error:
            self._fail(unreadable(error.__context__ or error, self._head()))
        else:
            if self._status is None and self._head_size > LONGEST_HEAD:
                self._fail(unreadable("its headers are too long"))

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over: so is an answer whose length nobody has stated, and any other is cut off."""
        self._members.discard(self)
        self._parser = self._transport = None
        if self._status is None:
            self._fail(closed(exc))
        elif exc is None and self._ends_with_connection():
            self._succeed()
        else:
            self._fail(closed(exc, CUT_OFF, self._head()))
        self._gone()

    def pause_writing(self) -> None:
        """The other side does not take as much as is written."""
        self._room = self._loop.create_future()

    def resume_writing(self) -> None:
        """There is room again."""
        if self._room is not None and not self._room.done():
            self._room.set_result(None)
        self._room = None

    # -- what the parser calls ------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """An answer starts; one too many ends the connection."""
        if self._waiter is None or self._waiter.done():
            raise _Unacceptable("more than one answer")

    def on_headers_complete(self) -> None:
        """The body, if there is one, follows."""
        assert self._parser is not None
        fields = self._fields
        if self._head_size > LONGEST_HEAD and sum(map(len, (*fields, *fields.values()))) > LONGEST_HEAD:
            raise _Unacceptable("its headers are too long")
        self._status = self._parser.get_status_code()
        self._headers = _headers(fields) if fields else {}
        fields.clear()

    def on_body(self, piece: bytes) -> None:
        """A piece of the body."""
        self._body.append(piece)
        self._body_size += len(piece)
        if self._body_size > LARGEST_BODY:
            raise _Unacceptable("it is too long")

    def on_message_complete(self) -> None:
        """The answer is whole, unless it is only the announcement of one."""
        assert self._parser is not None
        if self._status is not None and self._status < 200:
            if self._status == 101:
                raise _Unacceptable("the server wants to speak another protocol")
            self._start_answer()
            return
        self._keep_alive = self._parser.should_keep_alive()
        self._succeed()

    # -- the answer -----------------------------------------------------------------------------

    def _start_answer(self) -> None:
        self._status, self._headers, self._body = None, {}, []
        self._head_size = self._body_size = 0
        self._fields.clear()  # trailers say nothing that anybody reads

    def _head(self) -> HttpAnswer | None:
        return None if self._status is None else HttpAnswer(self._status, self._headers, b"")

    def _ends_with_connection(self) -> bool:
        chunked = self._headers.get("transfer-encoding", "").lower().endswith("chunked")
        return not chunked and "content-length" not in self._headers

    def _succeed(self) -> None:
        body, encoding = b"".join(self._body), self._headers.get("content-encoding")
        if encoding is not None:
            try:
                body = _unpacked(body, encoding.strip().lower())
            except (zlib.error, _Unacceptable) as error:
                self._keep_alive = False
                self._fail(unreadable(error, self._head()))
                return
        assert self._status is not None
        answer = HttpAnswer(self._status, self._headers, body)
        self._start_answer()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(answer)
        self.resume_writing()

    def _fail(self, broken: Broken) -> None:
        self._keep_alive = False
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(broken)
        self.resume_writing()
        self.abort()


def _headers(fields: dict[bytes, bytes]) -> dict[str, str]:
    """Headers by their names in lower case; the first of a name counts.

    All values are decoded at once: none holds the line feed that stands between them.
    """
    values = b"\n".join(fields.values()).decode("utf-8", "surrogateescape").split("\n")
    values.reverse()
    return dict(zip(_names(tuple(fields)), map(str.strip, values), strict=True))


@lru_cache(maxsize=64)
def _names(names: tuple[bytes, ...]) -> tuple[str, ...]:
    """The names of an answer's headers in lower case, the last one first; a server's answers have nearly always the
    same ones."""
    return tuple(name.lower().decode("latin-1") for name in reversed(names))


def _unpacked(body: bytes, encoding: str) -> bytes:
    """A body that was compressed although we did not ask for it."""
    if encoding in ("", "identity") or not body:
        return body
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise _Unacceptable(f"it is compressed as {encoding!r}")
    bare = encoding == "deflate" and (body[0] & 0x0F != 8 or int.from_bytes(body[:2], "big") % 31 != 0)
    unpacker = zlib.decompressobj(_BARE_DEFLATE if bare else _ZLIB_OR_GZIP)
    whole = unpacker.decompress(body, LARGEST_BODY)
    if not unpacker.eof:
        raise _Unacceptable("it is too long, unpacked" if len(whole) >= LARGEST_BODY else "its compression is cut off")
    return whole

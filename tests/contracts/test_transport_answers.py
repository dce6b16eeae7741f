"""What every transport makes of answers, whole and broken, over real sockets on loopback."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import zlib
from typing import Any

import pytest

from batchwork.backends import _transport
from batchwork.backends._transport import CLOSED, CUT_OFF, Broken
from batchwork.backends._transport import connection as connection_module
from tests.support.scripted_server import (
    HEADERS,
    OUR_OWN,
    Line,
    ScriptedServer,
    answer,
    open_transport,
    outcome,
    says,
)

# -- requests and answers -----------------------------------------------------------------------


def test_a_request_says_whom_it_asks_for_what_and_how_long_it_is(exchange: Any) -> None:
    came, server = exchange(says(answer(b'{"a":1}', request_id="r1", x_Odd="y")), b'{"q":2}')
    (request,) = server.requests
    assert request.head.split(b"\r\n")[0] == b"POST /v1/x?a=b%20c HTTP/1.1"
    fields = {name.lower(): value for name, value in request.fields.items()}
    assert fields["host"] == f"localhost:{server.port}"
    assert {name: fields[name] for name in HEADERS} == HEADERS
    assert (fields["content-length"], request.body) == ("7", b'{"q":2}')
    assert (came.status, came.body) == (200, b'{"a":1}')
    assert (came.headers["request-id"], came.headers["x-odd"]) == ("r1", "y")


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"
BODIES = {
    "chunked": (CHUNKED, b"4;x=y\r\nabcd\r\n", b"2 \r\nef\r\n0\r\nx-trailer: 1\r\n\r\n"),
    "until the end": (b"HTTP/1.1 200 OK\r\nserver: x\r\n\r\n", b"abc", b"def"),
    "until the end, HTTP/1.0": (b"HTTP/1.0 200 OK\r\n\r\n", b"abcdef"),
    "byte by byte": tuple(bytes([byte]) for byte in b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nabcdef"),
    "after announcements": (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\nretry-after: 7\r\n\r\n",
        answer(b"abcdef"),
    ),
    "line feeds alone": (b"HTTP/1.1 200 OK\ncontent-length: 6\n\nabcdef",),
}


@pytest.mark.parametrize("pieces", BODIES.values(), ids=BODIES)
def test_a_body_ends_where_its_server_says(pieces: tuple[bytes, ...], exchange: Any) -> None:
    came, _ = exchange(says(*pieces, then="hang_up"))
    assert (came.status, came.body) == (200, b"abcdef")
    assert "retry-after" not in came.headers


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified", "307 Temporary Redirect", "500 Oh", "200 "])
def test_an_answer_without_a_body_is_whole_and_a_redirect_is_an_answer(status: str, exchange: Any) -> None:
    came, server = exchange(says(answer(b"", status, location="/elsewhere")), times=2)
    assert [each.status for each in came] == [int(status[:3])] * 2
    assert server.connections == 1


def test_odd_headers_do_not_spoil_an_answer(exchange: Any) -> None:
    head = (
        b"HTTP/1.1 200 OK\r\nX-Empty:\r\nx-empty-too: \r\nTwice: 1\r\ntwice: 2\r\nx-latin: caf\xe9\r\n"
        b"x-space:   a b  \r\nx-folded: a\r\n b\r\nserver: \x01\r\nx-no-space:y\r\ncontent-length: 2\r\n\r\n{}"
    )
    came, _ = exchange(says(head))
    assert (came.status, came.body) == (200, b"{}")
    read = {name: came.headers[name] for name in ("x-empty", "x-empty-too", "twice", "x-space", "x-no-space")}
    assert read == {"x-empty": "", "x-empty-too": "", "twice": "1", "x-space": "a b", "x-no-space": "y"}
    assert came.headers["x-latin"].encode("utf-8", "surrogateescape") == b"caf\xe9"


def test_a_large_body_arrives_whole_and_does_not_hold_the_loop(make: Any, run: Any) -> None:
    body, turns = bytes(range(256)) * 4 * 4096, 0  # 4 MiB

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def main() -> Any:
        async with ScriptedServer(says(answer())) as server, open_transport(make) as transport:
            counting = asyncio.create_task(count_turns())
            outcomes = [await outcome(transport, server.url, body) for _ in range(2)]
            counting.cancel()
            return outcomes, server

    came, server = run(main())
    assert [each.status for each in came] == [200, 200]
    assert {hashlib.sha256(each.body).digest() for each in server.requests} == {hashlib.sha256(body).digest()}
    assert server.connections == 1
    assert turns > 2 * len(body) / 2**18


def test_an_answer_before_the_whole_body_was_sent_counts_and_ends_the_connection(exchange: Any) -> None:
    async def too_large(line: Line) -> None:
        await line.say(answer(b"too large", "413 Content Too Large"))
        await asyncio.sleep(0.05)  # an end with unread bytes at once is a reset, which may take the answer with it
        await line.hang_up()

    came, server = exchange(too_large, b"x" * 2**24, times=2, read_body=False)
    assert [(each.status, each.body) for each in came] == [(413, b"too large")] * 2
    assert server.connections == 2


PACKED = {
    "gzip": (gzip.compress(b"abc" * 100), "gzip"),
    "GZIP": (gzip.compress(b"abc" * 100), "GZIP"),
    "deflate": (zlib.compress(b"abc" * 100), "deflate"),
    "bare deflate": (zlib.compress(b"abc" * 100, wbits=-15), "deflate"),
    "identity": (b"abc" * 100, "identity"),
}


@pytest.mark.parametrize(("body", "encoding"), PACKED.values(), ids=PACKED)
def test_a_body_that_is_compressed_unasked_is_unpacked(body: bytes, encoding: str, exchange: Any) -> None:
    came, _ = exchange(says(answer(body, content_encoding=encoding)))
    assert came.body == b"abc" * 100


# -- answers that are none ----------------------------------------------------------------------


BROKEN = {
    "nothing": ((), CLOSED),
    "half a head": ((b"HTTP/1.1 200 OK\r\ncontent-le",), CLOSED),
    "only an announcement": ((b"HTTP/1.1 100 Continue\r\n\r\n",), CLOSED),
    "half a body": ((b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc",), CUT_OFF),
    "a head and no body": ((b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n",), CUT_OFF),
    "half a chunk": ((CHUNKED, b"a\r\nabc"), CUT_OFF),
    "no last chunk": ((CHUNKED, b"3\r\nabc\r\n"), CUT_OFF),
}


@pytest.mark.parametrize("then", ["hang_up", "reset"])
@pytest.mark.parametrize(("pieces", "message"), BROKEN.values(), ids=BROKEN)
def test_a_connection_that_ends_too_early_leaves_nobody_knowing(
    pieces: tuple[bytes, ...], message: str, then: str, exchange: Any
) -> None:
    came, server = exchange(says(*pieces, then=then))
    assert isinstance(came, Broken)
    assert str(came).startswith(message)
    assert (came.sent, came.unreadable) == (True, False)
    assert len(server.requests) == 1


@pytest.mark.parametrize("then", ["hang_up", "reset"])
@pytest.mark.parametrize("rest", [b"content-length: 10\r\n\r\nabc", b"transfer-encoding: chunked\r\n\r\n5\r\n"])
def test_an_error_whose_text_breaks_off_is_still_that_error(rest: bytes, then: str, exchange: Any) -> None:
    came, _ = exchange(says(b"HTTP/1.1 529 Overloaded\r\nretry-after: 3\r\n", rest, then=then))
    assert isinstance(came, Broken)
    assert came.head is not None
    assert (came.head.status, came.head.headers["retry-after"]) == (529, "3")


LONG = b"x-long: " + b"y" * (_transport.LONGEST_HEAD + 1)
UNREADABLE = {
    "not HTTP": (b"\x15\x03\x01\x00\x02\x02\x16", b"garbage"),
    "a banner": (b"220 mail.example.org ESMTP\r\n",),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",),
    "no status": (b"HTTP/1.1 many things\r\n\r\n",),
    "a long header": (b"HTTP/1.1 200 OK\r\n" + LONG + b"\r\ncontent-length: 2\r\n\r\n{}",),
    "a header without an end": (b"HTTP/1.1 200 OK\r\n" + LONG,),
    "two lengths": (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",),
    "a length that is no number": (b"HTTP/1.1 200 OK\r\ncontent-length: two\r\n\r\n{}",),
}


@pytest.mark.parametrize("pieces", UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_answer_came_all_the_same(pieces: tuple[bytes, ...], exchange: Any) -> None:
    came, server = exchange(says(*pieces, then="hang_up"), times=2)
    for each in came:
        assert isinstance(each, Broken)
        assert (each.sent, each.unreadable, each.head) == (True, True, None)
        assert str(each).startswith("the answer cannot be read: ")
        assert len(str(each)) < 120
    assert server.connections == 2


@pytest.mark.parametrize("upgrade", [b"", b"connection: upgrade\r\nupgrade: x\r\n"])
@OUR_OWN
def test_another_protocol_is_not_spoken(upgrade: bytes, exchange: Any) -> None:
    came, _ = exchange(says(b"HTTP/1.1 101 Switching Protocols\r\n" + upgrade + b"\r\nabc"))
    assert isinstance(came, Broken)
    assert came.unreadable


@OUR_OWN
def test_a_body_that_cannot_be_unpacked_or_is_too_long_cannot_be_read(monkeypatch: Any, exchange: Any) -> None:
    monkeypatch.setattr(connection_module, "LARGEST_BODY", 1000)
    packed = gzip.compress(b"a" * 10_000)
    for said in (
        answer(packed, content_encoding="gzip"),
        answer(gzip.compress(b"abc" * 100)[:-9], content_encoding="gzip"),
        answer(b"not packed", content_encoding="gzip"),
        answer(b"abc", content_encoding="br"),
        answer(b"a" * 1001),
        CHUNKED + b"3e9\r\n" + b"a" * 1001 + b"\r\n0\r\n\r\n",
    ):
        came, _ = exchange(says(said))
        assert isinstance(came, Broken), said
        assert came.unreadable
        assert came.head is not None

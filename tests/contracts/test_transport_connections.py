"""How every transport treats its connections: kept, dropped, never had, over real sockets on loopback."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from yarl import URL

from batchwork.backends._transport import CLOSED, CUT_OFF, Broken, HttpAnswer
from batchwork.backends._transport import pool as pool_module
from batchwork.backends._transport import session as session_module
from tests.support.scripted_server import (
    OUR_OWN,
    Line,
    Script,
    ScriptedServer,
    answer,
    authority,
    open_transport,
    outcome,
    says,
)


@OUR_OWN
def test_connections_are_kept_and_the_last_one_used_is_used_first(make: Any, run: Any) -> None:
    async def slow(line: Line) -> None:
        await asyncio.sleep(0.02)
        await line.say(answer())

    async def main() -> Any:
        async with ScriptedServer(slow) as server, open_transport(make) as transport:
            await asyncio.gather(*(transport.post(server.url, b"{}") for _ in range(3)))
            for _ in range(3):
                await transport.post(server.url, b"{}")
            return server

    server = run(main())
    assert server.connections == 3
    assert len({request.connection for request in server.requests[3:]}) == 1


ENDING = {
    "Connection: close": answer(connection="close"),
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}",
    "more than was announced": answer() + b"more",
    "an answer to nothing": answer() + answer(),
}


@OUR_OWN
@pytest.mark.parametrize("said", ENDING.values(), ids=ENDING)
def test_a_connection_that_is_to_end_is_not_used_again(said: bytes, exchange: Any) -> None:
    came, server = exchange(says(said), times=3)
    assert [(each.status, each.body) for each in came] == [(200, b"{}")] * 3
    assert server.connections == 3


def test_http_1_0_may_keep_a_connection(exchange: Any) -> None:
    said = b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\n{}"
    assert exchange(says(said), times=3)[1].connections == 1


async def _ends_later(line: Line) -> None:
    await line.say(answer())
    await asyncio.sleep(0.005)
    await line.hang_up()


async def _talks_later(line: Line) -> None:
    await line.say(answer())
    await asyncio.sleep(0.005)
    await line.say(b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n")


@OUR_OWN  # to aiohttp such words are the answer to the next request
@pytest.mark.parametrize("script", [_ends_later, _talks_later])
def test_a_kept_connection_on_which_the_server_does_anything_is_dropped(script: Script, exchange: Any) -> None:
    came, server = exchange(script, times=3)
    assert [each.status for each in came] == [200] * 3
    assert server.connections == 3


def test_a_connection_that_was_idle_for_long_is_not_used_and_not_kept(make: Any, run: Any, monkeypatch: Any) -> None:
    for module in (pool_module, session_module):
        monkeypatch.setattr(module, "KEEP_ALIVE_S", 0.1)

    async def main() -> Any:
        async with ScriptedServer(says(answer())) as server, open_transport(make) as transport:
            await transport.post(server.url, b"{}")
            await asyncio.sleep(0.05)
            await transport.post(server.url, b"{}")
            for _ in range(500):  # it is ended although nobody asks for anything
                if server.ended:
                    break
                await asyncio.sleep(0.01)
            await transport.post(server.url, b"{}")
            return server

    server = run(main())
    assert [request.connection for request in server.requests] == [0, 0, 1]
    assert server.ended[0] == 0


def test_never_more_connections_than_the_limit_and_everybody_has_a_turn(make: Any, run: Any) -> None:
    busiest = busy = 0
    full = asyncio.Event()

    async def slow(line: Line) -> None:
        nonlocal busiest, busy
        busy += 1
        busiest = max(busiest, busy)
        if busy == 3:
            full.set()
        await full.wait()
        await asyncio.sleep(0.005)
        busy -= 1
        await line.say(answer(connection="close" if line.received.connection % 2 else "keep-alive"))

    async def main() -> Any:
        async with ScriptedServer(slow) as server, open_transport(make, limit=3) as transport:
            return await asyncio.gather(*(transport.post(server.url, b"{}") for _ in range(30)))

    assert [each.status for each in run(main())] == [200] * 30
    assert busiest == 3


def test_whoever_is_cancelled_in_line_does_not_take_a_turn_with_it(make: Any, run: Any) -> None:
    async def slow(line: Line) -> None:
        await asyncio.sleep(0.005)
        await line.say(answer())

    async def main() -> Any:
        async with ScriptedServer(slow) as server, open_transport(make, limit=2) as transport:
            calls = [asyncio.create_task(transport.post(server.url, b"{}")) for _ in range(40)]
            for _ in range(8):
                await asyncio.sleep(0.006)
                for call in calls[::3]:
                    call.cancel()  # some have ended, some are being answered, some were just woken, some stand in line
            return await asyncio.gather(*calls, return_exceptions=True)

    came = run(main())
    assert all(isinstance(each, HttpAnswer | asyncio.CancelledError) for each in came)
    assert sum(isinstance(each, HttpAnswer) for each in came) >= 26


def test_a_call_that_is_cancelled_takes_its_connection_with_it(make: Any, run: Any) -> None:
    async def main() -> Any:
        released = asyncio.Event()

        async def silent_at_first(line: Line) -> None:
            if line.received.connection:
                await line.say(answer())
            else:
                await line.say(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab")
                assert await line.reader.read() == b""  # until the client hangs up
                released.set()

        async with ScriptedServer(silent_at_first) as server, open_transport(make, limit=1) as transport:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await transport.post(server.url, b"{}")
            came = await transport.post(server.url, b"{}")
            await released.wait()
            return came, server

    came, server = run(main())
    assert came.status == 200
    assert server.connections == 2


def test_a_call_that_is_cancelled_while_its_body_is_sent_leaves_nothing_behind(make: Any, run: Any) -> None:
    async def main() -> Any:
        arrived, never = asyncio.Event(), asyncio.Event()

        async def reads_nothing(line: Line) -> None:
            arrived.set()
            await never.wait()

        async with ScriptedServer(reads_nothing, read_body=False) as server, open_transport(make, limit=1) as transport:
            for _ in range(2):
                call = asyncio.create_task(transport.post(server.url, b"x" * 2**23))
                await arrived.wait()
                arrived.clear()
                call.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await call
            return server

    assert run(main()).connections == 2


# -- no connection ------------------------------------------------------------------------------


def test_a_refused_connection_was_never_sent(make: Any, run: Any) -> None:
    async def main() -> Any:
        async with open_transport(make) as transport:
            return await asyncio.gather(*(outcome(transport, url) for _ in range(8)))

    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        port = taken.getsockname()[1]
        url = URL(f"http://127.0.0.1:{port}/v1/x")
        came = run(main())
    assert {str(each) for each in came} == {
        f"cannot connect to 127.0.0.1:{port}: nobody listens there; is the server running, and the port right?"
    }
    assert not any(each.sent for each in came)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_server_that_does_not_take_the_connection_was_never_sent_anything(
    scheme: str, make: Any, run: Any, monkeypatch: Any
) -> None:
    for module in (pool_module, session_module):
        monkeypatch.setattr(module, "CONNECT_S", 0.2)

    async def main() -> Any:
        async with open_transport(make) as transport:
            return await outcome(transport, URL(f"{scheme}://127.0.0.1:{port}/v1/x"))

    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        queued = []
        if scheme == "http":  # whose line is full; over TLS it is enough that nobody shakes hands
            for _ in range(8):
                queued.append(socket.socket())
                queued[-1].setblocking(False)
                with suppress(BlockingIOError):
                    queued[-1].connect(("127.0.0.1", port))
        came = run(main())
        for each in queued:
            each.close()
    assert isinstance(came, Broken)
    assert not came.sent


@pytest.mark.parametrize("kind", ["pool-asyncio", "session-asyncio"], indirect=True)  # uvloop asks the system itself
def test_a_name_that_nobody_knows_was_never_sent(monkeypatch: Any, make: Any, run: Any) -> None:
    def nobody(host: str, *_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async def main() -> Any:
        async with open_transport(make) as transport:
            return await outcome(transport, URL("http://nowhere.invalid/v1/x"))

    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    came = run(main())
    assert str(came) == "cannot connect to nowhere.invalid:80: there is no host of this name; is the address right?"
    assert not came.sent


@pytest.mark.parametrize("kind", ["pool-asyncio", "session-asyncio"], indirect=True)  # uvloop asks the system itself
def test_a_name_is_looked_up_once_and_each_of_its_addresses_tried(monkeypatch: Any, make: Any, run: Any) -> None:
    real, lookups = socket.getaddrinfo, []

    def two_addresses(host: str | None, port: int, *args: Any, **fields: Any) -> Any:
        if host != "several.example":
            return real(host, port, *args, **fields)
        if fields.get("flags", 0) & socket.AI_NUMERICHOST:
            raise socket.gaierror(socket.EAI_NONAME, "no address")
        lookups.append(host)
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.2", taken.getsockname()[1])),
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)),
        ]

    async def main() -> Any:
        async with ScriptedServer(says(answer())) as server, open_transport(make, limit=20) as transport:
            url = server.url.with_host("several.example")
            return await asyncio.gather(*(outcome(transport, url) for _ in range(20)))

    monkeypatch.setattr(socket, "getaddrinfo", two_addresses)
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.2", 0))
        came = run(main())
    assert [each.status for each in came] == [200] * 20
    assert len(lookups) == 1


# -- the end ------------------------------------------------------------------------------------


def test_closing_ends_what_is_open_and_the_next_loop_starts_afresh(make: Any, run: Any) -> None:
    transport = make(4)

    async def main() -> Any:
        arrived, never = asyncio.Event(), asyncio.Event()

        async def script(line: Line) -> None:
            if line.received.body == b"wait":
                arrived.set()
                await never.wait()
            await line.say(answer())

        async with ScriptedServer(script) as server:
            waiting = asyncio.create_task(outcome(transport, server.url, b"wait"))
            answered = [await transport.post(server.url, b"{}") for _ in range(2)]
            await arrived.wait()
            await transport.aclose()
            await transport.aclose()
            return await waiting, answered

    for _ in range(3):
        cut, answered = run(main())
        assert isinstance(cut, Broken)
        assert cut.sent
        assert [each.status for each in answered] == [200, 200]


# -- TLS ----------------------------------------------------------------------------------------


@OUR_OWN
def test_tls_is_spoken_with_servers_that_an_authority_vouches_for(
    exchange: Any, monkeypatch: Any, tmp_path: Path
) -> None:
    made, tls = authority()
    protocols = []

    async def script(line: Line) -> None:
        protocols.append(line.writer.get_extra_info("ssl_object").selected_alpn_protocol())
        await line.say(answer(b"x" * 2**19))

    made.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    came, server = exchange(script, b"y" * 3 * 2**20, times=3, tls=tls)
    assert [(each.status, len(each.body)) for each in came] == [(200, 2**19)] * 3
    assert {request.body for request in server.requests} == {b"y" * 3 * 2**20}
    assert (server.connections, protocols) == (1, ["http/1.1"] * 3)


@OUR_OWN
def test_a_server_that_nobody_vouches_for_or_that_has_another_name_is_sent_nothing(
    make: Any, run: Any, monkeypatch: Any, tmp_path: Path
) -> None:
    made, tls = authority()

    async def main() -> Any:
        async with ScriptedServer(says(answer()), tls=tls) as server, open_transport(make) as transport:
            untrusted = await outcome(transport, server.url)
            made.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
            monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
            async with open_transport(make) as another:
                misnamed = await outcome(another, server.url.with_host("127.0.0.1"))
            return untrusted, misnamed, server

    untrusted, misnamed, server = run(main())
    assert not untrusted.sent
    assert not misnamed.sent
    assert "its certificate is not trusted (" in str(untrusted)
    assert "127.0.0.1" in str(misnamed).split("its certificate is not trusted")[1]
    assert server.requests == []


@OUR_OWN
def test_a_server_that_does_not_speak_tls_is_sent_nothing(make: Any, run: Any) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(2**16)
        writer.write(answer(status="400 Bad Request"))
        writer.close()

    async def main() -> Any:
        async with await asyncio.start_server(plain, "127.0.0.1", 0) as server, open_transport(make) as transport:
            port = server.sockets[0].getsockname()[1]
            return await outcome(transport, URL(f"https://127.0.0.1:{port}/v1/x")), port

    broken, port = run(main())
    assert not broken.sent
    assert str(broken).startswith(f"cannot connect to 127.0.0.1:{port}: it does not speak https (WRONG_VERSION_NUMBER)")


@OUR_OWN
@pytest.mark.parametrize(("pieces", "message"), [((), CLOSED), ((answer(b"abcdef")[:-3],), CUT_OFF)])
@pytest.mark.parametrize("then", ["hang_up", "reset"])
def test_over_tls_too_a_connection_may_end_too_early(
    pieces: tuple[bytes, ...], message: str, then: str, exchange: Any, monkeypatch: Any, tmp_path: Path
) -> None:
    made, tls = authority()
    made.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    came, _ = exchange(says(*pieces, then=then), tls=tls)
    assert isinstance(came, Broken)
    assert str(came).startswith(message)
    assert came.sent

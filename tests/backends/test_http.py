import asyncio
import socket

import pytest
from aiohttp import web
from yarl import URL

from batchwork.backends import Setup, open_backend
from batchwork.backends._http import Http, endpoint, path_hint
from batchwork.clock import SystemClock
from batchwork.core.errors import BackendError, ConfigError
from batchwork.core.failure import FailureKind
from batchwork.core.request import Request
from tests.backends.conftest import Canned, Say


def opened(url, **fields):
    setup = Setup(clock=SystemClock(), base_url=url, api_key="k", **{"max_in_flight": 4, **fields})
    return open_backend("anthropic:claude-haiku-5-5", setup)[0]


def test_a_refused_connection_was_never_sent():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"

        async def main():
            backend = opened(url)
            with pytest.raises(BackendError) as caught:
                await backend.complete(Request.ask("?"))
            await backend.aclose()
            return caught.value.failure

        failure = asyncio.run(main())
    assert (failure.kind, failure.unconfirmed) == (FailureKind.CONNECTION, False)


def test_connections_are_kept_and_never_more_than_the_window(canned, message):
    async def main():
        async with canned(message()) as server:
            backend = opened(server.url, max_in_flight=3)
            for _ in range(4):
                await asyncio.gather(*(backend.complete(Request.ask("?")) for _ in range(6)))
            await backend.aclose()
            return len(server.connections), len(server.asked)

    connections, asked = asyncio.run(main())
    assert asked == 24
    assert connections <= 3


def test_a_redirect_is_not_followed():
    seen = []

    async def handle(request):
        seen.append(request.path)
        return web.Response(status=307, headers={"location": "/elsewhere"})

    async def main():
        runner = web.ServerRunner(web.Server(handle))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        http = Http(headers={}, max_in_flight=1)
        answer = await http.post(endpoint(f"http://127.0.0.1:{runner.addresses[0][1]}", "v1/x"), b"{}")
        await http.aclose()
        await runner.cleanup()
        return answer.status

    assert asyncio.run(main()) == 307
    assert seen == ["/v1/x"]


def test_a_cancelled_call_gives_its_connection_up():
    ended = asyncio.Semaphore(0)

    async def never_answers(reader, writer):
        while await reader.read(2**16):
            pass
        ended.release()
        writer.close()

    async def main():
        async with await asyncio.start_server(never_answers, "127.0.0.1", 0) as server:
            backend = opened(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", max_in_flight=1)
            for _ in range(3):  # more than the pool has places
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.05):
                        await backend.complete(Request.ask("?"))
            await backend.aclose()
            for _ in range(3):
                await ended.acquire()

    asyncio.run(asyncio.wait_for(main(), 20))


def test_a_backend_that_never_called_closes_quietly():
    backend = opened("http://127.0.0.1:1")
    asyncio.run(backend.aclose())
    assert backend.traits.name == "anthropic"


@pytest.mark.parametrize("url", ["", "api.example.org", "ftp://x", "http://", "http://user:pass@x.org"])
def test_a_base_url_that_is_none_is_refused_at_once(url):
    with pytest.raises(ConfigError, match="base_url"):
        endpoint(url, "v1")


def test_a_base_url_keeps_its_path_and_query():
    assert str(endpoint("https://x.org/a/v1/?v=2", "chat/completions")) == "https://x.org/a/v1/chat/completions?v=2"


@pytest.mark.parametrize("key", ["sk-1\r\nx-other: 1", "sk-1\n", "sk\0", "\tsk"])
def test_a_key_cannot_bring_headers_of_its_own(key):
    setup = Setup(clock=SystemClock(), max_in_flight=1, base_url="http://127.0.0.1:1", api_key=key)
    with pytest.raises(ConfigError, match="line breaks") as caught:
        open_backend("anthropic:claude-haiku-5-5", setup)
    assert "sk" not in str(caught.value)


@pytest.mark.parametrize(
    ("base_url", "problem"),
    [
        ("localhost:8000", "did you mean http://localhost:8000?"),
        ("api.example.org/v1", "did you mean http://api.example.org/v1?"),
        ("http//x", "got 'http//x'"),
        ("ftp://a/v1", "http:// or https://"),
        ("http://127.0.0.1:99999/v1", "Port out of range"),
        ("http://local host/v1", "got 'http://local host/v1'"),
    ],
)
def test_an_address_that_is_none_is_told_why(base_url, problem):
    with pytest.raises(ConfigError) as caught:
        endpoint(base_url, "x")
    assert problem in str(caught.value)
    assert "http://http" not in str(caught.value)


@pytest.mark.parametrize(
    ("base_url", "path", "meant"),
    [
        ("http://h:1", "chat/completions", "http://h:1/v1?"),
        ("http://h:1/api/?key=secret", "chat/completions", "http://h:1/api/v1?"),
        ("http://h:1/v1/chat/completions", "chat/completions", "http://h:1/v1?"),
        ("http://h:1/v1/messages", "v1/messages", "http://h:1?"),
        ("http://h:1/v1", "chat/completions", ""),
        ("http://h:1/v1beta/openai", "chat/completions", ""),
        ("http://h:1", "v1/messages", ""),
    ],
)
def test_a_base_url_that_leads_nowhere_may_lack_its_version_or_hold_too_much(base_url, path, meant):
    hint = path_hint(base_url, path)
    assert hint.endswith(meant)
    assert bool(hint) == bool(meant)
    assert "secret" not in hint


@pytest.mark.parametrize(
    ("address", "cause"),
    [
        ("http://127.0.0.1:1", "cannot connect to 127.0.0.1:1: nobody listens there"),
        ("http://no-such-host.invalid", "cannot connect to no-such-host.invalid:80: there is no host of this name"),
    ],
)
def test_a_server_that_cannot_be_reached_is_told_with_its_cause(address, cause):
    async def main():
        http = Http(headers={}, max_in_flight=1)
        try:
            await http.post(URL(address), b"{}")
        except BackendError as error:
            return error.failure
        finally:
            await http.aclose()

    failure = asyncio.run(main())
    assert failure.kind is FailureKind.CONNECTION
    assert cause in failure.message
    assert not failure.unconfirmed


def test_https_to_a_server_that_speaks_plain_http_is_told():
    async def main():
        async with Canned(Say({})) as server:
            http = Http(headers={}, max_in_flight=1)
            try:
                await http.post(URL(server.url.replace("http:", "https:")), b"{}")
            except BackendError as error:
                return error.failure
            finally:
                await http.aclose()

    assert "does not speak https" in asyncio.run(main()).message

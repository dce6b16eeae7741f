"""The backend against the simulated provider: counts, batches, and what a batch of Gemini's does that others do not."""

import asyncio
import logging

import pytest

import batchwork
from batchwork.backends import Setup, open_backend
from batchwork.backends.gemini import GeminiBackend
from batchwork.clock import SystemClock
from batchwork.core.errors import ConfigError
from batchwork.core.failure import FailureKind as K
from batchwork.core.ports import BatchBackend, BatchTag, Sighting, TokenCounter
from batchwork.core.request import Request
from batchwork.settings import Settings
from batchwork.simulator import Simulator
from tests.support.fast_time import fast_loops

MODEL = "gemini:gemini-3.6-flash"


@pytest.fixture
def simulator():
    with Simulator(persona="echo", batch_time_s=0.1, validation_time_s=0.02) as running:
        yield running


def with_backend(url, work, **fields):
    async def main():
        setup = Setup(clock=SystemClock(), base_url=url, **{"max_in_flight": 4, "api_key": "k", **fields})
        backend, _ = open_backend(MODEL, setup)
        try:
            return await work(backend)
        finally:
            await backend.aclose()

    return asyncio.run(main())


def tag(name="run", chunk=1):
    return BatchTag(run_id=name, chunk=chunk, custom_ids=("a", "b"), intended_at=0.0)


def test_gemini_counts_tokens(canned):
    async def main():
        async with canned({"totalTokens": 42}) as server:
            setup = Setup(clock=SystemClock(), base_url=server.url, api_key="k", max_in_flight=4)
            backend, _ = open_backend(MODEL, setup)
            assert isinstance(backend, TokenCounter)
            counted = await backend.count_tokens(Request.ask("Is it?", system="Be brief."))
            await backend.aclose()
            return counted, server.asked[0]

    counted, asked = asyncio.run(main())
    assert counted == 42
    assert asked.path == "/v1/models/gemini-3.6-flash:countTokens"
    assert asked.body["generateContentRequest"]["model"] == "models/gemini-3.6-flash"
    assert "generationConfig" not in asked.body["generateContentRequest"]


@pytest.mark.parametrize("size", [10, 9 * 2**20])
def test_a_batch_is_uploaded_in_pieces_made_found_and_collected(size):
    simulator = Simulator(persona="echo", batch_time_s=600.0)

    async def work(backend):
        assert isinstance(backend, BatchBackend)
        lines = [backend.batch_line(name, Request.ask(name * size, max_tokens=9)) for name in "ab"]
        batch_id = await backend.submit_batch(lines, tag())
        assert await backend.find_batch(tag()) == batch_id
        assert await backend.find_batch(tag("another")) is Sighting.ABSENT
        assert (await backend.poll_batch(batch_id)).expires_at is not None
        simulator.advance(1000.0)
        progress = await backend.poll_batch(batch_id)
        assert progress.ended
        return progress, dict([result async for result in backend.collect_batch(batch_id)])

    with simulator:
        progress, results = with_backend(simulator.service_url("gemini"), work)
        files = simulator.log()["other"]["files"]
    assert (progress.total, progress.done) == (2, 2)
    assert {name: reply.text[:9] for name, reply in results.items()} == {"a": "a" * 9, "b": "b" * 9}
    assert files == (2 if size == 10 else 4)


def test_an_upload_goes_to_the_server_that_was_asked_whatever_host_it_names(simulator, monkeypatch):
    async def work(backend):
        sent = []
        send = backend._http.send

        async def kept(url, body, headers):
            sent.append(url)
            answer = await send(url, body, headers)
            if (where := answer.headers.get("x-goog-upload-url")) is not None:
                path = where.removeprefix(simulator.url)
                answer.headers = {**answer.headers, "x-goog-upload-url": f"https://evil.example{path}"}
            return answer

        monkeypatch.setattr(backend._http, "send", kept)
        await backend.submit_batch([backend.batch_line("a", Request.ask("a"))], tag())
        return sent

    assert {str(url.origin()) for url in with_backend(simulator.service_url("gemini"), work)} == {simulator.url}


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/v1/models"),
        ("/v1", "/v1/models"),
        ("/v1beta", "/v1beta/models"),
        ("/proxy/v1beta/", "/proxy/v1beta/models"),
    ],
)
def test_the_version_is_the_one_in_the_address_or_v1(exchange, base, path):
    assert exchange(MODEL, base=base).asked[0].path == f"{path}/gemini-3.6-flash:generateContent"


def test_a_run_in_batches_says_before_it_submits_that_a_batch_is_gone_after_48_hours(simulator, caplog):
    with caplog.at_level(logging.WARNING), fast_loops():
        results = batchwork.run(
            ["one", "two"],
            model=MODEL,
            base_url=simulator.service_url("gemini"),
            api_key="k",
            mode="batch",
            max_cost=1,
            max_tokens=9,
        )
    assert [outcome.text for outcome in results] == ["one", "two"]
    assert [record.message[:56] for record in caplog.records] == [
        "a Gemini batch that has not ended within 48 h expires, a"
    ]
    assert int(results.total_cost * 10**9) == simulator.log()["total"]["nano_dollars"]


@pytest.mark.parametrize("hours", [39, 41])
def test_it_is_said_again_when_8_hours_are_left_and_what_expired_half_done_may_be_billed(caplog, hours):
    passed, said = [], []

    def step(provider):
        said.append([record.message for record in caplog.records if "left: if it has not ended" in record.message])
        provider.advance(hours * 3600 if not passed else 48 * 3600)
        passed.append(hours)

    with Simulator(persona="echo", batch_time_s=100 * 3600, validation_time_s=0.01) as provider, fast_loops():
        polled = GeminiBackend.poll_batch

        async def poll(backend, batch_id):
            if len(passed) < 2:
                step(provider)
            return await polled(backend, batch_id)

        with pytest.MonkeyPatch.context() as patch, caplog.at_level(logging.WARNING):
            patch.setattr(GeminiBackend, "poll_batch", poll)
            results = batchwork.run(
                [f"number {n}" for n in range(8)], model=MODEL, base_url=provider.service_url("gemini"), api_key="k",
                mode="batch", max_cost=1, max_tokens=9, poll_interval=1.0,
            )  # fmt: skip
        billed = provider.log()["total"]["nano_dollars"]
    assert bool(said[1]) == (hours == 41)
    assert {outcome.failure.kind for outcome in results} == {K.RESULT_LOST}
    assert int(results.total_cost * 10**9) >= billed > 0


def test_what_a_cancelled_batch_does_not_tell_of_was_not_executed():
    with Simulator(persona="echo", batch_time_s=2.0, validation_time_s=0.01, cancel_time_s=0.05) as provider:

        async def work(backend):
            lines = [backend.batch_line(str(n), Request.ask(f"number {n}")) for n in range(20)]
            batch_id = await backend.submit_batch(lines, tag())
            provider.advance(0.8)
            await backend.cancel_batch(batch_id)
            provider.advance(1.0)
            progress = await backend.poll_batch(batch_id)
            return progress, [result async for result in backend.collect_batch(batch_id)]

        progress, results = with_backend(provider.service_url("gemini"), work)
    assert progress.unlisted.kind is K.EXPIRED
    assert 0 < len(results) < 20


def test_a_key_is_needed_and_may_come_from_either_variable():
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
        settings = Settings.from_environment({name: "k"})
        open_backend(MODEL, Setup(clock=SystemClock(), max_in_flight=1, settings=settings))
    with pytest.raises(ConfigError, match="set GEMINI_API_KEY in the environment"):
        open_backend("gemini-3.6-flash", Setup(clock=SystemClock(), max_in_flight=1))
    with pytest.raises(ConfigError, match="needs a model, for example gemini:"):
        open_backend("gemini:", Setup(clock=SystemClock(), max_in_flight=1))

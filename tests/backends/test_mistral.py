"""Mistral's batches: jobs over files, by an API of its own."""

import asyncio
import json
import logging

import pytest

import batchwork
from batchwork.backends import Setup, open_backend, traits_of
from batchwork.backends.mistral import MistralBackend
from batchwork.clock import SystemClock
from batchwork.core.failure import FailureKind as K
from batchwork.core.ports import BatchTag, FileBatchBackend, Sighting
from batchwork.core.request import Request
from batchwork.simulator import Simulator
from tests.support.fast_time import fast_loops

MODEL = "mistral:mistral-small-latest"


def with_backend(url, work):
    async def main():
        backend, _ = open_backend(MODEL, Setup(clock=SystemClock(), base_url=url, max_in_flight=4, api_key="k"))
        try:
            return await work(backend)
        finally:
            await backend.aclose()

    return asyncio.run(main())


def tag(name="run", file_id=None):
    return BatchTag(run_id=name, chunk=1, custom_ids=("a", "b"), intended_at=0.0, file_id=file_id)


def test_a_run_in_batches_says_how_long_results_are_kept_and_books_what_was_billed(caplog):
    with Simulator(persona="echo", batch_time_s=0.1, validation_time_s=0.02) as provider, fast_loops():
        with caplog.at_level(logging.WARNING):
            results = batchwork.run(
                ["one", "two"], model=MODEL, base_url=provider.service_url("mistral"), api_key="k", mode="batch",
                max_cost=1, max_tokens=9,
            )  # fmt: skip
        log = provider.log()
    assert [outcome.text for outcome in results] == ["one", "two"]
    assert "24 h after its end" in caplog.records[0].message
    assert int(results.total_cost * 10**9) == log["total"]["nano_dollars"] > 0
    assert {row["api"] for row in log["requests"]} == {"mistral"}


def test_a_job_is_made_of_a_file_and_names_the_model_where_its_lines_do_not():
    with Simulator(persona="echo", batch_time_s=0.0, validation_time_s=0.0) as provider:

        async def work(backend):
            assert isinstance(backend, MistralBackend)
            assert isinstance(backend, FileBatchBackend)
            lines = [backend.batch_line(name, Request.ask(name)) for name in "ab"]
            file_id = await backend.upload_batch(lines, tag())
            assert await backend.find_batch(tag(file_id=file_id)) is Sighting.ABSENT
            batch_id = await backend.submit_batch(lines, tag(file_id=file_id))
            found = [await backend.find_batch(tag("another", file_id)), await backend.find_batch(tag())]
            return lines, batch_id, found, dict([result async for result in backend.collect_batch(batch_id)])

        lines, batch_id, found, results = with_backend(provider.service_url("mistral"), work)
    assert [sorted(json.loads(line)) for line in lines] == [["body", "custom_id"]] * 2
    assert all("model" not in json.loads(line)["body"] for line in lines)
    assert found == [batch_id, batch_id]
    assert {name: reply.text for name, reply in results.items()} == {"a": "a", "b": "b"}


JOB = {"id": "job", "status": "QUEUED", "created_at": 1_800_000_000, "input_files": ["f"]}


@pytest.mark.parametrize(
    ("fields", "ended", "failure", "unlisted"),
    [
        ({}, False, None, None),
        ({"status": "RUNNING", "total_requests": 5, "completed_requests": 2}, False, None, None),
        ({"status": "SUCCESS", "output_file": "f"}, True, None, None),
        ({"status": "SUCCESS", "output_file": {"id": "f", "bytes": 1}}, True, None, None),
        ({"status": "FAILED", "errors": [{"message": "bad file", "count": 1}]}, True, K.REJECTED, None),
        ({"status": "FAILED", "succeeded_requests": 3}, True, K.RESULT_LOST, None),
        ({"status": "TIMEOUT_EXCEEDED"}, True, K.EXPIRED, None),
        ({"status": "TIMEOUT_EXCEEDED", "output_file": "f"}, True, None, K.EXPIRED),
        ({"status": "CANCELLED", "error_file": "f", "output_file": "g"}, True, None, K.EXPIRED),
        ({"status": "CANCELLED", "succeeded_requests": 3}, True, K.RESULT_LOST, None),
    ],
)
def test_what_did_not_run_is_told_from_what_may_be_billed(canned, fields, ended, failure, unlisted):
    async def main():
        async with canned(JOB | fields) as server:
            backend, _ = open_backend(
                MODEL, Setup(clock=SystemClock(), base_url=server.url, api_key="k", max_in_flight=4)
            )
            progress = await backend.poll_batch("job")
            await backend.aclose()
            return progress

    progress = asyncio.run(main())
    assert progress.ended is ended
    assert (progress.failure and progress.failure.kind, progress.unlisted and progress.unlisted.kind) == (
        failure,
        unlisted,
    )


def test_a_server_that_knows_no_pages_is_not_asked_for_ever(canned):
    async def main():
        async with canned({"data": [JOB | {"created_at": "2099-01-01T00:00:00Z"}]}) as server:
            backend, _ = open_backend(
                MODEL, Setup(clock=SystemClock(), base_url=server.url, api_key="k", max_in_flight=4)
            )
            seen = await backend.find_batch(tag())
            await backend.aclose()
            return seen, len(server.asked)

    assert asyncio.run(main()) == (Sighting.ABSENT, 2)


def test_results_that_are_no_longer_kept_are_lost_and_booked():
    with Simulator(persona="echo", batch_time_s=0.1, validation_time_s=0.02) as provider, fast_loops():
        collected = MistralBackend.collect_batch

        async def late(backend, batch_id):
            provider.log()  # it has ended by now, and has written its files
            provider.advance(25 * 3600)
            async for result in collected(backend, batch_id):
                yield result

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(MistralBackend, "collect_batch", late)
            results = batchwork.run(
                ["one"], model=MODEL, base_url=provider.service_url("mistral"), api_key="k", mode="batch",
                max_cost=1, max_tokens=9, results_wait=2.0,
            )  # fmt: skip
        billed = provider.log()["total"]["nano_dollars"]
    assert [outcome.failure.kind for outcome in results] == [K.RESULT_LOST]
    assert int(results.total_cost * 10**9) >= billed > 0


def test_an_answer_that_mistral_breaks_off_says_so(exchange, completion):
    assert exchange(MODEL, completion(finish="model_length")).reply.truncated
    assert exchange(MODEL, completion(finish="error")).failure.kind is K.SERVER
    assert traits_of(MODEL)[0].batches

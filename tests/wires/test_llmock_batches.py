"""Gemini and Mistral against a server that nobody here wrote: PyPI's llmock, which has batches of its own reading.

pip install llmock
"""

from __future__ import annotations

import asyncio
import json
import urllib.request

import pytest

import batchwork
from batchwork.backends import Setup, open_backend
from batchwork.clock import SystemClock
from batchwork.core.ports import BatchTag, Sighting
from batchwork.core.request import Request
from tests.backends.test_foreign import ask, llmock  # noqa: F401 (a fixture)

pytestmark = pytest.mark.real
GEMINI, MISTRAL = "gemini:gemini-2.5-pro", "mistral:mistral-small-latest"


@pytest.mark.parametrize(("model", "base"), [(GEMINI, "/gemini/v1beta"), (MISTRAL, "/mistral/v1")])
def test_its_answers_are_understood(llmock, model, base):  # noqa: F811
    replies = ask(model, *(Request.ask(f"number {i}") for i in range(4)), base_url=llmock + base, api_key="any")
    for reply in replies:
        assert reply.text
        assert reply.usage.input_tokens > 0
        assert reply.usage.output_tokens > 0


def test_a_run_in_mistrals_batches_comes_to_its_end(llmock, tmp_path):  # noqa: F811
    results = batchwork.run(
        [f"number {n}" for n in range(5)], model=MISTRAL, base_url=f"{llmock}/mistral/v1", api_key="any", mode="batch",
        max_cost=1, items_per_batch=3, poll_interval=0.1, journal=tmp_path / "j.db",
    )  # fmt: skip
    assert results.accounting.succeeded == 5
    assert results.total_cost > 0


def test_a_job_that_is_not_there_is_absent_although_every_page_of_its_list_is_the_same(llmock):  # noqa: F811
    async def main():
        setup = Setup(clock=SystemClock(), max_in_flight=1, base_url=f"{llmock}/mistral/v1", api_key="any")
        backend, _ = open_backend(MISTRAL, setup)
        try:
            tags = [BatchTag(run_id=name, chunk=1, custom_ids=(), intended_at=0.0) for name in ("ours", "nobody's")]
            made = await backend.submit_batch([backend.batch_line("a", Request.ask("x"))], tags[0])
            return made, [await asyncio.wait_for(backend.find_batch(tag), 10) for tag in tags]
        finally:
            await backend.aclose()

    made, found = asyncio.run(main())
    assert found == [made, Sighting.ABSENT]


def test_geminis_batches_are_not_there_and_that_is_said_of_every_item(llmock):  # noqa: F811
    results = batchwork.run(
        ["one", "two"], model=GEMINI, base_url=f"{llmock}/gemini/v1beta", api_key="any", mode="batch", max_cost=1
    )
    assert [outcome.failure.kind.value for outcome in results] == ["rejected"] * 2
    assert "the server knows no such path" in results[0].error
    assert results.total_cost == 0


def test_results_in_another_shape_and_without_our_names_are_lost_and_nothing_else(llmock):  # noqa: F811
    asked = {
        "requests": [{"request": {"contents": [{"parts": [{"text": "x"}]}]}, "metadata": {"key": "run-1-0-0123abcd"}}]
    }
    where = f"{llmock}/gemini/v1beta/models/gemini-2.5-pro:batchGenerateContent"
    call = urllib.request.Request(where, json.dumps(asked).encode(), {"content-type": "application/json"})
    made = json.load(urllib.request.urlopen(call, timeout=10))
    job = batchwork.BatchJob.attach(
        made["name"], model=GEMINI, base_url=f"{llmock}/gemini/v1beta", api_key="any", poll_interval=0.2,
        messages=["x"], results_wait=0.5,
    )  # fmt: skip
    assert job.wait(30)
    with pytest.raises(batchwork.BatchworkError, match="names no results"):
        job.results()

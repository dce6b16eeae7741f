"""Mistral's wire by its own client: what we send is what it sends, and it understands our simulated provider.

pip install mistralai
"""

from __future__ import annotations

import asyncio
import json

import pytest

from batchwork.backends import Setup, open_backend
from batchwork.clock import SystemClock
from batchwork.core.ports import BatchTag
from batchwork.core.request import Message, Request
from batchwork.simulator import Simulator
from batchwork.simulator.routes import Routes
from tests.backends.conftest import OPENAI, Canned, Say

sdk = pytest.importorskip("mistralai.client")
pytestmark = [pytest.mark.real, pytest.mark.filterwarnings("ignore")]
MODEL = "mistral-small-latest"
TAG = BatchTag(run_id="r", chunk=1, custom_ids=("a",), intended_at=0.0)


def opened(url):
    setup = Setup(clock=SystemClock(), max_in_flight=1, base_url=url, api_key="the-key")
    return open_backend(f"mistral:{MODEL}", setup)[0]


def test_a_call_goes_out_as_mistrals_own_client_sends_it():
    turns = (Message("user", "one 🦉"), Message("assistant", "two"), Message("user", "three"))
    request = Request(messages=turns, system="Be brief.", max_tokens=9, sampling={"temperature": 0.5})
    told = [{"role": "system", "content": "Be brief."}, *({"role": one.role, "content": one.content} for one in turns)]

    async def main():
        async with Canned(Say({**OPENAI, "created": 1})) as server:
            backend = opened(f"{server.url}/v1")
            await backend.complete(request)
            await backend.aclose()
            theirs = sdk.Mistral(api_key="the-key", server_url=server.url)
            await asyncio.to_thread(
                lambda: theirs.chat.complete(model=MODEL, messages=told, max_tokens=9, temperature=0.5)
            )
            return server.asked

    ours, theirs = asyncio.run(main())
    assert ours.path == theirs.path
    assert ours.headers["authorization"] == theirs.headers["authorization"] == "Bearer the-key"
    defaults = {"stream": False, "safe_prompt": False}
    stated = {name: value for name, value in theirs.body.items() if value != defaults.get(name, ...)}
    for turn in stated["messages"]:
        turn.pop("prefix", None)
    assert ours.body == stated


def test_a_job_is_made_as_mistrals_own_client_makes_it():
    seen: list[tuple] = []
    line = json.dumps({"custom_id": "a", "body": {"messages": [{"role": "user", "content": "hi"}]}}).encode() + b"\n"
    with Simulator(persona="echo", batch_time_s=0.0, validation_time_s=0.0) as provider:
        answered = Routes.__call__

        async def noted(routes, request):
            raw = b"" if request.content_type.startswith("multipart/") else await request.read()
            path = request.path.rstrip("0123456789").replace("/content", "")
            seen.append((request.method, path.rstrip("0123456789"), json.loads(raw) if raw else None))
            return await answered(routes, request)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Routes, "__call__", noted)

            async def ours():
                backend = opened(provider.service_url("mistral"))
                batch_id = await backend.submit_batch([line], TAG)
                await backend.poll_batch(batch_id)
                await backend.aclose()

            asyncio.run(ours())
            mine, _ = [*seen], seen.clear()
            client = sdk.Mistral(api_key="k", server_url=provider.url + "/mistral")
            file = client.files.upload(file={"file_name": "r-1.jsonl", "content": line}, purpose="batch")
            job = client.batch.jobs.create(
                input_files=[file.id], model=MODEL, endpoint="/v1/chat/completions", metadata={"batchwork": "r-1"},
                timeout_hours=24,
            )  # fmt: skip
            done = client.batch.jobs.get(job_id=job.id)
    for calls in (mine, seen):
        for _, _, body in calls:
            if body is not None:
                body["input_files"] = len(body["input_files"])
    assert mine == seen
    assert (done.status, done.succeeded_requests) == ("SUCCESS", 1)


def test_mistrals_own_client_understands_the_simulated_provider():
    with Simulator(persona="echo", batch_time_s=60.0, validation_time_s=0.01) as provider:
        client = sdk.Mistral(api_key="k", server_url=provider.url + "/mistral")
        answer = client.chat.complete(model=MODEL, messages=[{"role": "user", "content": "hello"}])
        assert answer.choices[0].message.content == "hello"
        line = json.dumps({"custom_id": "a", "body": {"messages": [{"role": "user", "content": "hi"}]}}).encode()
        file = client.files.upload(file={"file_name": "i.jsonl", "content": line}, purpose="batch")
        made = [
            client.batch.jobs.create(input_files=[file.id], model=MODEL, endpoint="/v1/chat/completions")
            for _ in range(2)
        ]
        assert {job.status for job in made} <= {"QUEUED", "RUNNING"}
        assert client.batch.jobs.cancel(job_id=made[1].id).status == "CANCELLATION_REQUESTED"
        provider.advance(100)
        assert sorted(job.status for job in client.batch.jobs.list().data) == ["CANCELLED", "SUCCESS"]
        done = client.batch.jobs.get(job_id=made[0].id)
        content = client.files.download(file_id=done.output_file).read()
        assert json.loads(content)["response"]["body"]["choices"][0]["message"]["content"] == "hi"

import asyncio

import pytest

from batchwork.backends import Setup, open_backend
from batchwork.clock import SystemClock
from batchwork.core.errors import BackendError
from batchwork.core.failure import FailureKind as K
from batchwork.core.ports import BatchTag, FileBatchBackend
from batchwork.core.request import Request
from tests.backends.conftest import Canned, Say

TAG = BatchTag(run_id="r", chunk=1, custom_ids=("a", "b", "c"), intended_at=0.0)
ANSWER = {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}
RESULTS = [
    {"custom_id": "a", "response": {"status_code": 200, "body": ANSWER}, "error": None},
    None,
    {"custom_id": "b", "response": None, "error": {"code": "429", "message": "slow down"}},
]


def at(said, work):
    """What some work with an OpenRouter backend gives, at a server that always says the same; and what it was asked."""

    async def main():
        async with Canned(Say(said)) as server:
            setup = Setup(clock=SystemClock(), max_in_flight=1, base_url=f"{server.url}/v1", api_key="k")
            backend, _ = open_backend("openrouter:openai/gpt-4o-mini", setup)
            try:
                return await work(backend), server.asked
            finally:
                await backend.aclose()

    return asyncio.run(main())


def test_a_batch_is_one_call_with_what_its_requests_have_in_common_before_them():
    async def work(backend):
        assert not isinstance(backend, FileBatchBackend)
        return await backend.submit_batch([backend.batch_line(n, Request.ask("?")) for n in "ab"], TAG)

    made, (asked,) = at({"id": "batch-1", "status": "validating"}, work)
    assert (made, asked.path, [*asked.body]) == ("batch-1", "/v1/batches", ["endpoint", "model", "requests"])
    assert [line["custom_id"] for line in asked.body["requests"]] == ["a", "b"]
    assert "model" not in asked.body["requests"][0]["body"]


def test_one_result_that_cannot_be_read_does_not_hide_the_others():
    async def work(backend):
        seen = []
        try:
            async for name, result in backend.collect_batch("x"):
                seen.append((name, getattr(result, "text", None) or result.kind))
        except BackendError as error:
            seen.append(error.failure.message[:34])
        return seen

    seen, _ = at({"id": "x", "status": "completed", "results": RESULTS}, work)
    assert seen == [("a", "yes"), ("b", K.SERVER), "a result of batch x cannot be read"]


@pytest.mark.parametrize(
    ("batch", "ended", "kind"),
    [
        ({"status": "in_progress"}, False, None),
        ({"status": "failed", "error": {"message": "no such model"}}, True, K.REJECTED),
        ({"status": "expired", "request_counts": {"total": 3, "completed": 0}}, True, K.EXPIRED),
        ({"status": "expired", "request_counts": {"total": 3, "completed": 1}, "results": RESULTS[:1]}, True, None),
    ],
)
def test_the_state_of_a_batch_says_what_became_of_its_requests(batch, ended, kind):
    progress, _ = at({"id": "x", **batch}, lambda backend: backend.poll_batch("x"))
    failure = progress.failure or progress.unlisted
    assert (progress.ended, failure and failure.kind) == (ended, kind)


def test_a_batch_that_does_not_tell_its_size_yet_may_be_ours():
    listed = {"data": [{"id": "x", "status": "validating", "created_at": None}], "has_more": False}
    assert at(listed, lambda backend: backend.find_batch(TAG))[0].value == "undecided"


def test_nothing_cancels_a_batch():
    async def work(backend):
        with pytest.raises(BackendError, match="openrouter cancels no batches: x goes on"):
            await backend.cancel_batch("x")

    assert at({}, work) == (None, [])

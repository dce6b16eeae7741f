"""A provider's queue that is full: its batches are waited for, and nobody's items fail over it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import batchwork
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import BatchProgress, BatchTag
from tests.support.batch_provider import BatchClient, BatchProvider
from tests.support.virtual_time import run_virtual

PROMPTS = [f"p{i}" for i in range(25)]
TOLD: dict[str, Any] = {"model": "scripted", "mode": "batch", "price": (1, 1), "items_per_batch": 10}
FULL = Failure(kind=FailureKind.RATE_LIMITED, message="too many tokens are enqueued")


class QueueClient(BatchClient):
    """Holds so many items at a time; a batch that is one too many is refused at once, or when it has been created."""

    def __init__(self, provider: BatchProvider, room: int, *, late: bool) -> None:
        super().__init__(provider)
        self._room = room
        self._late = late
        self.refused: set[str] = set()

    def _held(self) -> int:
        now, batches = asyncio.get_running_loop().time(), self._provider.batches.items()
        return sum(len(batch.lines) for name, batch in batches if name not in self.refused and now < batch.ends_at)

    async def submit_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        is_full = self._held() + len(lines) > self._room
        if is_full and not self._late:
            raise BackendError(FULL)
        batch_id = await super().submit_batch(lines, tag)
        if is_full:
            self.refused.add(batch_id)
        return batch_id

    async def poll_batch(self, batch_id: str) -> BatchProgress:
        if batch_id in self.refused:
            return BatchProgress(ended=True, failure=FULL)
        return await super().poll_batch(batch_id)


@pytest.mark.parametrize(("room", "late"), [(10, True), (10, False), (20, True), (20, False), (4, True)])
def test_a_queue_that_is_full_of_our_own_batches_is_waited_for(room: int, late: bool) -> None:
    provider = BatchProvider(takes_s=4 * 3600.0)
    client = QueueClient(provider, room, late=late)
    results = run_virtual(batchwork.arun(PROMPTS, backend=client, **TOLD))
    assert [r.text for r in results] == PROMPTS
    assert set(provider.billed.values()) == {1}
    assert len(client.refused) <= 20, "each try uploads a whole batch"


@pytest.mark.parametrize("late", [True, False])
def test_a_queue_that_others_have_filled_pauses_the_run_and_no_item_fails(late: bool) -> None:
    client = QueueClient(BatchProvider(), 0, late=late)
    with pytest.raises(batchwork.RunPaused, match=r"takes no batches|has refused every call") as caught:
        run_virtual(batchwork.arun(PROMPTS, backend=client, **TOLD))
    assert {r.status.value for r in caught.value.results} == {"pending"}

"""Runs managers in children that die at a chosen step or instant. It forks, so that a run costs no imports.

One JSON line in, one JSON line out: how the child ended (0, or minus the signal).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import AsyncIterator
from typing import Any

from pydantic import BaseModel

from batchwork.backends import Setup, open_backend
from batchwork.clock import SystemClock
from batchwork.core.ports import BatchProgress, BatchTag, Sighting
from batchwork.manager import BatchManager

MODEL = "claude-haiku-5-5"


class City(BaseModel):
    city: str


def prompts(count: int) -> list[str]:
    return [f"City: Berlin{i}\nWhich city is it?" for i in range(count)]


class Dying:
    """The real backend, and a process that ends without a word at the n-th step of submit, poll and collect."""

    def __init__(self, model: str, url: str, die_at: int | None) -> None:
        setup = Setup(clock=SystemClock(), max_in_flight=10, base_url=url, api_key="none")
        self._inner: Any
        self._inner, _ = open_backend(model, setup)
        self._left = die_at
        self.traits = self._inner.traits
        self.complete = self._inner.complete
        self.batch_line = self._inner.batch_line
        self.cancel_batch = self._inner.cancel_batch

    @property
    def batch_limits(self) -> Any:
        return self._inner.batch_limits

    async def aclose(self) -> None:
        await self._inner.aclose()

    def step(self, *_: object) -> None:
        if self._left is not None:
            self._left -= 1
            if self._left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

    async def submit_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        self.step()
        batch_id: str = await self._inner.submit_batch(lines, tag)
        self.step()
        return batch_id

    async def poll_batch(self, batch_id: str) -> BatchProgress:
        self.step()
        progress: BatchProgress = await self._inner.poll_batch(batch_id)
        if progress.ended:
            self.step()
        return progress

    async def collect_batch(self, batch_id: str) -> AsyncIterator[Any]:
        self.step()
        async for line in self._inner.collect_batch(batch_id):
            yield line
            self.step()

    async def find_batch(self, tag: BatchTag) -> str | Sighting:
        self.step()
        found: str | Sighting = await self._inner.find_batch(tag)
        self.step()
        return found


class DyingWithFiles(Dying):
    """The same for a provider that makes batches of files."""

    async def upload_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        self.step()
        file_id: str = await self._inner.upload_batch(lines, tag)
        self.step()
        return file_id


def work(told: dict[str, Any]) -> None:
    model = told.get("model", f"anthropic:{MODEL}")
    kind = Dying if model.startswith(("anthropic:", "openrouter:")) else DyingWithFiles
    backend = kind(model, told["url"], told.get("die_at"))
    BatchManager(
        messages=prompts(told["items"]),
        model=model.partition(":")[2],
        backend=backend,
        response_model=City,
        items_per_job=told["items_per_job"],
        max_parallel_jobs=2,
        max_cost=told.get("max_cost", 1),
        max_tokens=100,
        state_path=told["state"],
        save_results_dir=told["results"],
        poll_interval=0.03,
        adopt_wait=0.2,
        on_event=backend.step,
    ).run()


def main() -> None:
    for line in sys.stdin:
        told = json.loads(line)
        child = os.fork()
        if child == 0:
            try:
                work(told)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        if told.get("kill_after") is not None:
            time.sleep(told["kill_after"])
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)


if __name__ == "__main__":
    main()

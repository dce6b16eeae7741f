"""Rows of a Ray Dataset: ours, `map_batches` with the provider's SDK, Ray Data's HTTP stage. Not part of `make perf`.

One worker and two; then two, of which one is killed when a third is billed; then two at a provider that rejects 2% of
the calls. The provider is the simulator, and its bill counts. Seconds are those from its first call to its last.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import batchwork.ray
from batchwork.simulator import Latency, Simulator
from perf._harness import arguments, show_table, verdict
from tests.support.postgres_server import PostgresServer, why_not
from tests.support.ray_cluster import RayCluster, ray_cluster, until, why_no_ray

LEAST_SPEEDUP = 1.8
WINDOW = 20
MODEL = "claude-haiku-4-5"
KEY = "sk-simulated"
REJECTED = "400=0.02"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What came out of one run, and what the provider saw of it."""

    rows: int
    in_order: bool
    failed: int | None  # rows that say so; None: the job as a whole has failed
    mistaken: int  # rows with an error in the place of an answer
    billed: int
    repeated: int
    seconds: float


class Plain:
    """What a user writes: the SDK inside `map_batches`."""

    def __init__(self, url: str) -> None:
        from anthropic import AsyncAnthropic

        self._client = AsyncAnthropic(base_url=url, api_key=KEY)
        self._window = asyncio.Semaphore(WINDOW)

    async def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        batch["response"] = await asyncio.gather(*(self._ask(text) for text in batch["text"]))
        return batch

    async def _ask(self, text: str) -> str:
        async with self._window:
            said: Any = await self._client.messages.create(
                model=MODEL, max_tokens=50, messages=[{"role": "user", "content": f"Say: {text}"}]
            )
        return str(said.content[0].text)


def plain(dataset: Any, url: str, workers: int, _journal: str) -> Any:
    from ray.data import ActorPoolStrategy

    pool = ActorPoolStrategy(min_size=workers, max_size=workers)
    return dataset.map_batches(Plain, compute=pool, num_cpus=0.1, batch_size=WINDOW, fn_constructor_kwargs={"url": url})


def http_stage(dataset: Any, url: str, workers: int, _journal: str) -> Any:
    from ray.data.llm import HttpRequestProcessorConfig, build_processor

    config = HttpRequestProcessorConfig(
        url=f"{url}/v1/messages",
        headers={"x-api-key": KEY, "anthropic-version": "2023-06-01"},
        batch_size=WINDOW,
        concurrency=(workers, workers),
    )
    return build_processor(
        config,
        preprocess=lambda row: {
            **row,
            "payload": {
                "model": MODEL,
                "max_tokens": 50,
                "messages": [{"role": "user", "content": f"Say: {row['text']}"}],
            },
        },
        postprocess=lambda row: {"id": row["id"], "response": str(row["http_response"])},
    )(dataset)


def ours(dataset: Any, url: str, workers: int, journal: str) -> Any:
    return batchwork.ray.run(
        dataset,
        prompt="Say: {text}",
        model=f"anthropic:{MODEL}",
        base_url=url,
        journal=journal,
        key="id",
        max_cost=10,
        max_tokens=50,
        max_in_flight=WINDOW,
        workers=(workers, workers),
    )


SIDES: dict[str, Callable[[Any, str, int, str], Any]] = {
    "batchwork.ray": ours,
    "map_batches + SDK": plain,
    "Ray Data's HTTP stage": http_stage,
}


class Trials:
    """Runs of a cluster against one provider."""

    def __init__(self, cluster: RayCluster, provider: Simulator, server: PostgresServer, count: int) -> None:
        self.cluster, self.provider, self.server, self.count = cluster, provider, server, count

    def run(self, side: str, workers: int, *, faults: str = "", kills: bool = False) -> Seen:
        import ray

        self.provider.reset()
        self.provider.set_faults(faults)
        rows = [{"id": number, "text": f"{side} {number}"} for number in range(self.count)]
        dataset = ray.data.from_items(rows, override_num_blocks=self.count // 50)
        dataset.context.execution_options.preserve_order = True
        dataset.context.wait_for_min_actors_s = 120  # how long actors take to start is not what is measured
        asked = SIDES[side](dataset, self.provider.anthropic_url, workers, self.server.journal())
        striker = threading.Thread(target=self._strike, daemon=True)
        if kills:
            striker.start()
        found: list[dict[str, Any]] | None = None
        with suppress(ray.exceptions.RayError):
            found = asked.take_all()
        if kills:
            striker.join()
        return self._seen(side, found)

    def _strike(self) -> None:
        until(lambda: self._billed() > self.count // 3, "a third is billed")
        self.cluster.kill_actor()

    def _billed(self) -> int:
        return int(self.provider.log()["total"]["billed"])

    def _seen(self, side: str, found: list[dict[str, Any]] | None) -> Seen:
        log, ask = self.provider.log(), f"Say: {side} "  # calls of a job that was given up may still come in
        times = [call["at"] for call in log["requests"] if call["preview"].startswith(ask)]
        tallies = [tally["billed"] for tally in log["prompts"].values() if tally["preview"].startswith(ask)]
        return Seen(
            rows=len(found or ()),
            in_order=[row["id"] for row in found or ()] == list(range(self.count)),
            failed=None if found is None else sum(row.get("status") == "failed" for row in found),
            mistaken=sum("invalid_request_error" in (row["response"] or "") for row in found or ()),
            billed=sum(tallies),
            repeated=sum(times - 1 for times in tallies if times > 1),
            seconds=max(times, default=0.0) - min(times, default=0.0),
        )


def main() -> int:
    smoke = arguments(__doc__ or "").smoke
    if (reason := why_not() or why_no_ray()) is not None:
        print(f"ray: {reason}")
        return 1
    logging.disable(logging.INFO)
    server = PostgresServer()
    try:
        with (
            ray_cluster(2, ANTHROPIC_API_KEY=KEY) as cluster,
            Simulator(persona="echo", latency=Latency(median_s=0.5)) as provider,
        ):
            trials = Trials(cluster, provider, server, 100 if smoke else 800)
            return _measured(trials, smoke=smoke)
    finally:
        server.close()


def _measured(trials: Trials, *, smoke: bool) -> int:
    cases: dict[str, dict[str, Any]] = {
        "1 worker": {"workers": 1},
        "2 workers": {"workers": 2},
        "2, one killed": {"workers": 2, "kills": True},
        "2, 2% rejected": {"workers": 2, "faults": REJECTED},
    }
    seen = {(side, case): trials.run(side, **options) for case, options in cases.items() for side in SIDES}
    head = ("", "rows", "in order", "failed rows", "billed", "again", "provider seconds")
    lines = [
        (f"{case}: {side}", str(one.rows), "yes" if one.in_order else "no", _failed(one), str(one.billed),
         str(one.repeated), f"{one.seconds:.1f}")
        for (side, case), one in seen.items()
    ]  # fmt: skip
    show_table(head, lines)
    speedup = seen["batchwork.ray", "1 worker"].seconds / max(seen["batchwork.ray", "2 workers"].seconds, 1e-3)
    killed = seen["batchwork.ray", "2, one killed"]
    ok = speedup >= LEAST_SPEEDUP and killed.repeated <= WINDOW and killed.in_order
    figure = f"2 workers {speedup:.2f}x of 1, {killed.repeated} calls again after a kill"
    return verdict("ray", figure, f">= {LEAST_SPEEDUP}, <= {WINDOW}", ok=ok, judged=not smoke)


def _failed(seen: Seen) -> str:
    if seen.failed is None:
        return "the job failed"
    return f"{seen.failed}, {seen.mistaken} taken for answers" if seen.mistaken else str(seen.failed)


if __name__ == "__main__":
    raise SystemExit(main())

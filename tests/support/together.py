"""A process that runs prompts on a journal that others work on, too, with short leases; it prints what it has as JSON.

`python -m tests.support.together SETTINGS`, which are JSON: `count` prompts, `lease_s` (null: as users have it), for
how long it dawdles (`dawdle_s`) around each creation of a batch, and the options of the run.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from typing import Any

import batchwork
from batchwork.engine import batch_creator
from batchwork.postgres import workers, writer


def prompts(count: int) -> list[str]:
    return [f"prompt {n:05d}" for n in range(count)]  # all of one length: all of one price


def dawdle(longest_s: float) -> None:
    """Let time pass before and after a batch is made, for whoever wants to come in between."""
    within = batch_creator.within

    async def slow(limit_s: float, call: Any) -> Any:
        if call.__name__ != "submit_batch":
            return await within(limit_s, call)
        await asyncio.sleep(random.uniform(0.0, longest_s))
        batch_id = await within(limit_s, call)
        await asyncio.sleep(random.uniform(0.0, longest_s))
        return batch_id

    batch_creator.within = slow


def main() -> int:
    given: dict[str, Any] = json.loads(sys.argv[1])
    lease_s = given.pop("lease_s")
    if lease_s is not None:
        workers.LEASE_S, workers.GRACE_S, writer.HEARTBEAT_S = lease_s, lease_s / 6.0, lease_s / 20.0
    if longest_s := given.pop("dawdle_s", 0.0):
        dawdle(longest_s)
    asked = prompts(given.pop("count"))
    try:
        results = batchwork.run(asked, **given)
    except (batchwork.BatchworkError, KeyboardInterrupt) as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
        return 1
    right = [outcome.text == prompt for outcome, prompt in zip(results, asked, strict=True)]
    print(json.dumps({"right": sum(right), "succeeded": results.accounting.succeeded}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

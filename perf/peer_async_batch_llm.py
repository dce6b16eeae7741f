"""One measured run of async-batch-llm, in the peers' environment: its bill as JSON on standard output.

Set up as its documentation advises for large runs, and in its best light where ours does the same work: the streaming
front door with a bounded queue, an instant strategy from its own testing module, its SQLite store synced at every
commit, the prompt kept as ours keeps it, no progress, no rate limit, nothing looked up for a resume.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from pathlib import Path

from async_batch_llm import ArtifactIdentity, ProcessorConfig, SqliteArtifactStore, SqliteDurability, process_stream
from async_batch_llm.testing import FakeStrategy


async def main(items: int, in_flight: int, journal: Path) -> int:
    identity = ArtifactIdentity(provider="mock", model="echo")
    usage = {"input_tokens": 20, "output_tokens": 20, "total_tokens": 40}
    strategy = FakeStrategy(lambda prompt: prompt, token_usage=usage, identity=identity)
    store = SqliteArtifactStore(journal, identity=identity, durability=SqliteDurability.FULL, include_prompt=True)
    config = ProcessorConfig(concurrency=in_flight, max_queue_size=in_flight)
    prompts = (f"What is the capital of country number {i}, and why?" for i in range(items))
    settled = 0
    async for result in process_stream(strategy, prompts, config=config, artifact_store=store):
        settled += result.success
    await store.close()
    return settled


def cpu_s() -> float:
    """All threads and children of this process."""
    own, theirs = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + theirs.ru_utime + theirs.ru_stime


if __name__ == "__main__":
    before = cpu_s()
    done = asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])))
    print(json.dumps({"settled": done, "cpu_s": cpu_s() - before}))

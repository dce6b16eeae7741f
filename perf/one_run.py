"""One measured run of batchwork through its front door: its bill as JSON on standard output."""

from __future__ import annotations

import json
import resource
import sys

import batchwork


def cpu_s() -> float:
    """All threads and children of this process."""
    own, theirs = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + theirs.ru_utime + theirs.ru_stime


def main(items: int, in_flight: int, journal: str) -> int:
    prompts = (f"What is the capital of country number {i}, and why?" for i in range(items))
    results = batchwork.run(prompts, model="mock:echo", max_in_flight=in_flight, journal=journal)
    settled = results.accounting.succeeded
    results.close()
    return settled


if __name__ == "__main__":
    before = cpu_s()
    done = main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
    print(json.dumps({"settled": done, "cpu_s": cpu_s() - before}))

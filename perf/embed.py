"""CPU per embedded text against that of a chat item, at the same simulator; memory at 100,000 texts and at a million.

All runs have a journal and a budget. Vectors are short (64), as the texts are, and as long as OpenAI's are (1,536): of
those it is the bytes that cost.
"""

from __future__ import annotations

import json
import resource
import sys
from statistics import median
from typing import Any

import batchwork
from perf._harness import arguments, folder, interleaved, ratio, run_module, show_table, verdict
from perf.one_run import cpu_s
from perf.provider import provider

MOST_OF_AN_ITEM = 1 / 5
MOST_GROWTH_MB = 30
SHORT, LONG = 64, 1536  # dimensions


def main() -> int:
    smoke = arguments(__doc__ or "").smoke
    counts = (1_000, 2_000, 5_000, 20_000, 1) if smoke else (10_000, 50_000, 100_000, 1_000_000, 3)
    items, some, small, large, rounds = counts
    with folder() as place, provider(persona="echo") as simulated:
        number, url = iter(range(1000)), f"{simulated.url}/v1"

        def side(kind: str, count: int, dimensions: int = SHORT) -> dict[str, Any]:
            journal = place / f"{next(number)}.db"
            try:
                return run_module("perf.embed", kind, count, url, journal, dimensions).json()
            finally:
                for part in place.glob(f"{journal.name}*"):
                    part.unlink()

        sides = {
            "chat": lambda: side("chat", items)["us"],
            "embed": lambda: side("embed", small)["us"],
            "long": lambda: side("embed", some, LONG)["us"],
        }
        seen = interleaved(rounds, sides)
        little, much = side("embed", small), side("embed", large)
    show_table(
        ("", "items", "us CPU each"),
        [
            ("chat", f"{items:,}", f"{median(seen['chat']):.1f}"),
            ("embed", f"{small:,}", f"{median(seen['embed']):.1f}"),
            ("embed, more", f"{large:,}", f"{much['us']:.1f}"),
            (f"embed, {LONG:,} numbers each", f"{some:,}", f"{median(seen['long']):.1f}"),
        ],
    )
    shares = [ratio(seen[kind], seen["chat"]) for kind in ("embed", "long")]
    growth = much["mb"] - little["mb"]
    return verdict(
        "embed",
        f"{shares[0]:.3f} of a chat item, {shares[1]:.3f} with {LONG:,} numbers each, {growth:+.0f} MB at {large:,}"
        f" ({much['mb']:.0f} MB)",
        f"{MOST_OF_AN_ITEM}, {MOST_GROWTH_MB} MB",
        ok=max(shares) <= MOST_OF_AN_ITEM and growth <= MOST_GROWTH_MB,
        judged=not smoke,
    )


def measured(kind: str, count: int, url: str, journal: str, dimensions: int) -> dict[str, float]:
    """One run in this process: CPU per item without what importing costs, and the most memory."""
    texts = (f"A short text about item number {i} of the list" for i in range(count))
    told: dict[str, Any] = {"base_url": url, "api_key": "k", "max_cost": 100}
    warm = ["a text to begin with"]
    if kind == "chat":
        batchwork.run(warm, model="openai:gpt-6-luna", max_tokens=20, **told).close()
        before = cpu_s()
        batchwork.run(texts, model="openai:gpt-6-luna", max_tokens=20, journal=journal, **told).close()
    else:
        model = "openai:text-embedding-3-small"
        batchwork.embed(warm, model=model, dimensions=dimensions, **told).close()
        before = cpu_s()
        with batchwork.embed(texts, model=model, dimensions=dimensions, journal=journal, **told) as made:
            assert made.accounting.succeeded == count
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"us": (cpu_s() - before) / count * 1e6, "mb": peak}


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] in ("chat", "embed"):
        print(json.dumps(measured(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5]))))
    else:
        sys.exit(main())

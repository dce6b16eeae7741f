"""One measured run against a rate-limited provider, as a process of its own: its times as JSON on standard output."""

from __future__ import annotations

import json
import sys
import time

import batchwork


def main(url: str, requests: int, options: dict[str, object]) -> None:
    prompts = [f"What is the capital of country number {i}?" for i in range(requests)]
    started = time.monotonic()
    results = batchwork.run(
        prompts,
        model="anthropic:claude-haiku-5-5",
        base_url=url,
        api_key="none",
        max_in_flight=100,
        max_tokens=64,
        **options,  # type: ignore[arg-type]
    )
    seconds = time.monotonic() - started
    print(json.dumps({"seconds": seconds, "succeeded": results.accounting.succeeded}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]))

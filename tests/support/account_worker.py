"""A process that runs prompts on shared accounts; its settings are one JSON argument, its last line is JSON, too."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import batchwork


def prompts(name: str, count: int, pause_s: float) -> Iterator[str]:
    for number in range(count):
        if pause_s:
            time.sleep(pause_s)
        yield f"{name} asks number {number:06d}"


def main() -> int:
    given: dict[str, Any] = json.loads(sys.argv[1])
    rows = prompts(given.pop("name"), given.pop("count"), given.pop("pause_s", 0.0))
    stopped = "interrupted"
    counts = {}
    try:
        results = batchwork.run(rows, **given)
        stopped = results.stopped or "done"
        counts = {"succeeded": results.accounting.succeeded, "deferred": results.accounting.deferred}
    except KeyboardInterrupt:
        pass
    except batchwork.RunPaused as pause:
        stopped = str(pause)
    print(json.dumps({"stopped": stopped, **counts}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

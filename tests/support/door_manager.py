"""A script as users write it: a `BatchManager` over prompts, live or in batches. Its settings are one JSON argument."""

import json
import sys

from batchwork import BatchManager, RunPaused


def main() -> int:
    given = json.loads(sys.argv[1])
    prompts = [line for line in open(given.pop("prompts"), encoding="utf-8").read().splitlines() if line]  # noqa: PTH123, SIM115
    try:
        BatchManager(messages=prompts, **given).run()
    except (KeyboardInterrupt, RunPaused):
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

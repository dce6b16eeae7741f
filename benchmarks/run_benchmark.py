"""`python -m benchmarks.run_benchmark`, as the founding document has it; installed it is `batchwork bench`."""

import sys

from batchwork.benchmarks.run_benchmark import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())

"""`python -m batchwork` is `batchwork`."""

from batchwork.cli import main

main()

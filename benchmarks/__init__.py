"""The founding commands and imports, in a checkout: everything is in `batchwork.benchmarks`."""

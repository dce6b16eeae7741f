"""Saves what is whole in a damaged journal."""

from batchwork.journal.recovery.replacement import Recovered, recover

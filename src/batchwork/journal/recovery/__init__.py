"""Saves what is whole in a damaged journal."""

from batchwork.journal.recovery.replay import Recovered, recover

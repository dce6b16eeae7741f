"""Append events, look up what is settled: durable in SQLite, or in memory."""

from batchwork.journal.memory import MemoryJournal
from batchwork.journal.sqlite import SqliteJournal

__all__ = ["MemoryJournal", "SqliteJournal"]

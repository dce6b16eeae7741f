"""Append events, look up what is settled: durable in SQLite, or in memory."""

from batchwork.journal.archive import back_up, check_whole, set_aside
from batchwork.journal.daybook import DayBook
from batchwork.journal.memory import MemoryJournal, TransientJournal
from batchwork.journal.outputs import is_ours, remember_output
from batchwork.journal.reader import JournalReader
from batchwork.journal.recovery import Recovered, recover
from batchwork.journal.sqlite import SqliteJournal

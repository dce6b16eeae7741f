"""Append events, look up what is settled: durable in SQLite, or in memory."""

from batchwork.journal.archive import back_up, check_whole, set_aside
from batchwork.journal.companions import size_of, writer_of
from batchwork.journal.connections import LARGE_PAGE_BYTES, PAGE_BYTES
from batchwork.journal.daybook import DayBook
from batchwork.journal.location import journal_at, journal_of_output, journal_of_state
from batchwork.journal.memory import MemoryJournal, TransientJournal
from batchwork.journal.outputs import known_as, new_output, remember_output
from batchwork.journal.reader import JournalReader
from batchwork.journal.recovery import Recovered, recover
from batchwork.journal.sqlite import SqliteJournal

"""Run very many language-model calls: none lost, none paid for twice, never over budget, answers in order."""

from batchwork.core.errors import (
    BatchworkError,
    CallbackError,
    ConfigError,
    InputError,
    JournalDamagedError,
    JournalError,
    JournalLockedError,
    JournalWriteError,
    PriceUnknownError,
    RunPaused,
)
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.outcome import Deferred, Failed, Outcome, Pending, Skipped, Status, Succeeded
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Attachment, Message, Request
from batchwork.jobs import BatchJob, BatchResult, BatchResults, batch
from batchwork.manager import BatchManager
from batchwork.outcomes import Results
from batchwork.runs import arun, astream, run, stream

__all__ = [
    "Attachment",
    "BatchJob",
    "BatchManager",
    "BatchResult",
    "BatchResults",
    "BatchworkError",
    "CallbackError",
    "ConfigError",
    "Deferred",
    "Failed",
    "Failure",
    "FailureKind",
    "InputError",
    "JournalDamagedError",
    "JournalError",
    "JournalLockedError",
    "JournalWriteError",
    "Message",
    "Outcome",
    "Pending",
    "PriceUnknownError",
    "Reply",
    "Request",
    "Results",
    "RunPaused",
    "Skipped",
    "Status",
    "Succeeded",
    "Usage",
    "arun",
    "astream",
    "batch",
    "run",
    "stream",
]

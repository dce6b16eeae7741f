"""Run very many language-model calls: none lost, none paid for twice, never over budget, answers in order."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
from batchwork.core.reply import Reply, ToolCall, Usage
from batchwork.core.request import Attachment, Message, Request
from batchwork.results import Results
from batchwork.runs import arun, astream, open_results, run, stream

if TYPE_CHECKING:
    __version__: str
    from batchwork.manager import BatchJob, BatchManager, BatchResult, BatchResults, batch

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
    "ToolCall",
    "Usage",
    "arun",
    "astream",
    "batch",
    "open_results",
    "run",
    "stream",
]

# Documents and evidence take longer to import than a small run takes to end; these bring them in when they are used.
_LATER = frozenset({"BatchJob", "BatchManager", "BatchResult", "BatchResults", "batch"})


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version(__name__)
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.manager"), name)

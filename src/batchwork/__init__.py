"""Run very many language-model calls: none lost, none paid for twice, never over budget, answers in order."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
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
    from batchwork.embed_run import aembed, embed
    from batchwork.embeddings import Embedding, Embeddings
    from batchwork.manager import BatchJob, BatchManager, BatchResult, BatchResults, batch
    from batchwork.results import Results
    from batchwork.runs import arun, astream, open_results, run, stream

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
    "Embedding",
    "Embeddings",
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
    "aembed",
    "arun",
    "astream",
    "batch",
    "embed",
    "open_results",
    "run",
    "stream",
]

# Which module has a name. It is imported when the name is first used: whoever wants one error or the command line alone
# does not wait for all the rest.
_HOMES = {
    "manager": ("BatchJob", "BatchManager", "BatchResult", "BatchResults", "batch"),
    "core.failure": ("Failure", "FailureKind"),
    "core.outcome": ("Deferred", "Failed", "Outcome", "Pending", "Skipped", "Status", "Succeeded"),
    "core.reply": ("Reply", "ToolCall", "Usage"),
    "core.request": ("Attachment", "Message", "Request"),
    "embed_run": ("aembed", "embed"),
    "embeddings": ("Embedding", "Embeddings"),
    "results": ("Results",),
    "runs": ("arun", "astream", "open_results", "run", "stream"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version(__name__)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME_OF.get(name, 'core.errors')}"), name)
    return value

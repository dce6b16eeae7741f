"""Every exception a caller may meet: one leaf per thing a caller would do differently."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from batchwork.core.failure import Failure


class BatchworkError(Exception):
    """The root: catching it catches everything batchwork raises on purpose."""


class ConfigError(BatchworkError, ValueError):
    """An argument is wrong; nothing was sent."""


class PriceUnknownError(ConfigError):
    """A budget was set for a model whose price is not known; state one."""


class SchemaError(ConfigError):
    """A JSON schema that cannot be used; `place` is the JSON pointer of the part that stands in the way."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"JSON schema, at {place or 'the root'}: {problem}")
        self.place = place
        self.problem = problem


class InputError(BatchworkError):
    """The input cannot be read, or stopped being readable half-way."""


class DocumentError(InputError, ValueError):
    """This one file cannot be used; the message names it and says what to do. The others are not concerned."""


class CallbackError(BatchworkError):
    """A callback of the user's raised; the run was stopped cleanly and everything is kept."""


class BackendError(BatchworkError):
    """One provider call failed. The engine turns this into a value; nobody else catches it."""

    def __init__(self, failure: "Failure") -> None:
        super().__init__(f"{failure.kind.value}: {failure.message}")
        self.failure = failure


class NotCreatedError(BackendError):
    """A provider call failed in a step before the one that creates a batch: there is nothing to look for."""


class JournalError(BatchworkError):
    """The journal cannot be used."""


class JournalLockedError(JournalError):
    """Another process is writing this journal."""


class JournalFencedError(JournalLockedError):
    """Others have taken over what this process was at work on, because it was away from the database for too long."""


class JournalDamagedError(JournalError):
    """What stands in the journal contradicts its own checksums."""


class JournalWriteError(JournalError):
    """The journal could not be written: no space, no permission."""


class DatabaseAwayError(JournalError):
    """The database of a journal or an account cannot be reached; what was asked of it is undecided."""


class AccountsAwayError(BatchworkError):
    """The database of the shared accounts cannot be reached; what was asked of it is undecided."""


class Interrupted(BatchworkError):
    """The run was interrupted and has stopped cleanly; the synchronous doors turn this into KeyboardInterrupt."""


class AccountingError(BatchworkError):
    """The counts at the end of a run do not add up: a defect of batchwork, never to be passed over in silence."""


@dataclass(kw_only=True, eq=False, repr=False)
class RunPaused(BatchworkError):
    """The breaker ended the run cleanly: no new calls, everything finished is kept in `results`.

    `cause` is one of `failures` (too many in a row), `credentials`, `quota`, `stalled`, `batch`, `accounts` (those that
    are shared cannot be asked), or `journal`, where its database stayed away: then nobody can read `results`, and there
    are none. `retry_after_s` says in how many seconds calls will be taken again, where the provider told.
    """

    reason: str
    remedy: str
    results: Any = None
    cause: str = "failures"
    retry_after_s: float | None = None

    def __post_init__(self) -> None:
        super().__init__(f"{self.reason} {self.remedy}")

"""The numbers of a run: counted once, shown by progress, results and the final accounting alike."""

from dataclasses import dataclass, field

import msgspec

from batchwork.core.errors import AccountingError
from batchwork.core.outcome import AnyOutcome, Status
from batchwork.core.words import counted


class RunFigures(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What one run has done; recorded at its end, so that it can be told later."""

    sent: int = 0  # items with a call of this run
    is_retry: bool = False  # it took up what had failed, was deferred or pending, and read no input
    reused: int = 0  # items that an earlier run has settled; in a retry, those that sending again cannot mend
    calls: int = 0
    retries: int = 0  # calls for an item that had one in this run
    refusals: int = 0
    truncated: int = 0  # answers that max_tokens cut off, and that are kept all the same
    input_tokens: int = 0
    output_tokens: int = 0
    charged_nano: int | None = None  # by its calls; None: a journal of an earlier version does not tell
    elapsed_s: float = 0.0
    cut_off: int = 0  # calls that were left without their answer
    batches: int | None = None  # provider batches made; None: calls were made one by one


@dataclass(slots=True, kw_only=True)
class Tally:
    """What has happened in this run so far."""

    total: int | None = None  # rows in the input, when it is known beforehand
    read: int = 0  # input rows read
    reused: int = 0  # of those, settled by an earlier run
    open: int = 0  # being worked on: in line, in flight, waiting to be tried again
    in_flight: int = 0  # calls, or items of provider batches
    cut_off: int = 0
    batches: int | None = None  # provider batches made; None: calls are made one by one
    is_retry: bool = False  # of the journal's own items
    sent: int = 0  # items with a call
    calls: int = 0
    retries: int = 0
    refusals: int = 0
    truncated: int = 0
    settled: dict[Status, int] = field(default_factory=lambda: dict.fromkeys(Status, 0))
    charged_nano: int = 0
    elsewhere: dict[Status, int] = field(default_factory=dict)  # the same, by other processes on the same run
    elsewhere_nano: int = 0  # charged there
    spent_before_nano: int = 0
    unconfirmed_nano: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    held_back: int = 0  # items that wait for a later batch until open ones give back what they have reserved
    is_stopping: bool = False  # nothing more is begun
    waiting_until: float | None = None  # on the run's clock: until when the provider wants no call
    waiting_for: str = ""
    notice: str = ""  # why a batch does not move, for people to read
    answered_there: dict[str, int] = field(default_factory=dict)  # of open batches, how many answers each has by now
    started_at: float = 0.0  # on the run's clock
    elapsed_s: float | None = None  # once it has ended

    def count(self, outcome: AnyOutcome) -> None:
        """An item has its outcome."""
        self.settled[outcome.status] += 1
        self.truncated += outcome.truncated and outcome.value is None  # validated JSON is whole all the same

    @property
    def done(self) -> int:
        """Rows that have an outcome, from this run or an earlier one, whoever works on it."""
        return self.reused + sum(self.settled.values()) + sum(self.elsewhere.values())

    def figures(self, elapsed_s: float) -> RunFigures:
        """What the run has done, so long after its start."""
        counts = {name: getattr(self, name) for name in RunFigures.__struct_fields__ if name != "elapsed_s"}
        return RunFigures(elapsed_s=elapsed_s, **counts)

    @property
    def spent_nano(self) -> int:
        """Everything paid on this journal."""
        return self.spent_before_nano + self.charged_nano + self.elsewhere_nano


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounting:
    """Where every input row ended: each once."""

    inputs: int
    succeeded: int
    failed: int
    deferred: int
    skipped: int
    pending: int

    def __str__(self) -> str:
        names = ("succeeded", "failed", "deferred", "skipped", *(("pending",) if self.pending else ()))
        parts = [f"{getattr(self, name):,} {name}" for name in names]
        return f"{counted(self.inputs, 'input')} = " + " + ".join(parts)

    def brief(self, *, missing: int = 0) -> str:
        """The same in a few words, with how many rows are `missing` because they were not reached."""
        rest = {"deferred": self.deferred, "pending": self.pending, "not reached": missing}
        return ", ".join(
            f"{count:,} {name}"
            for name, count in {"succeeded": self.succeeded, "failed": self.failed, **rest}.items()
            if count or name not in rest
        )


def account(counts: dict[Status, int], *, inputs: int | None = None) -> Accounting:
    """The accounting of a journal's own count; an AccountingError when that is not `inputs`, where they are known."""
    found = sum(counts.values())
    if inputs is not None and found != inputs:
        raise AccountingError(f"{inputs} inputs were read, but the journal holds {found} of them: please report this")
    return Accounting(inputs=found, **{status.value: counts[status] for status in Status})

"""The summary of a run on the command line: accounting, exit code, and one line that says what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from batchwork.core.money import show
from batchwork.core.ports import Totals
from batchwork.core.stats import Accounting


class Exit(IntEnum):
    """Where several hold, the one furthest down."""

    ALL_SUCCEEDED = 0
    SOME_FAILED = 1
    BAD_INPUT = 2
    BUDGET = 3
    PAUSED = 4
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a run came to."""

    accounting: Accounting
    totals: Totals
    priced: bool
    journal: Path
    paused: str | None = None
    interrupted: bool = False
    error: str | None = None
    total: int | None = None  # rows in the input, when it is known and was not read to its end
    open_batches: int = 0  # that go on at the provider

    @property
    def code(self) -> Exit:
        """The exit code."""
        return self._verdict()[0]

    def lines(self) -> list[str]:
        """The accounting, the cost, and what to do next."""
        cost = show(self.totals.spent_nano) if self.priced or self.totals.spent_nano else "unknown"
        if self.totals.unconfirmed_nano:
            cost += f", of which {show(self.totals.unconfirmed_nano)} unconfirmed (booked at the worst case)"
        texts = [str(self.accounting) + self._not_reached(), f"cost {cost}"]
        if self.error is not None:
            texts.append(f"error: {self.error}")
        if self.open_batches:
            texts.append(f"{self.open_batches} batches go on at the provider; the same command takes them up again")
        return [*texts, self._verdict()[1]]

    def _not_reached(self) -> str:
        missing = 0 if self.total is None else self.total - self.accounting.inputs
        return f" ({missing:,} more rows not reached)" if missing > 0 else ""

    def _verdict(self) -> tuple[Exit, str]:
        """How it ended, and what to do next: the first of these that holds."""
        counts, again = self.accounting, "run the same command again"
        if self.interrupted:
            return Exit.INTERRUPTED, f"Interrupted: everything finished is kept; {again} to go on."
        if self.paused is not None:
            return Exit.PAUSED, f"Paused: {self.paused}"
        if counts.deferred:
            text = f"Stopped by the budget: {again} with a higher --max-cost for the deferred ones."
            return Exit.BUDGET, text
        if self.error is not None:
            return Exit.BAD_INPUT, f"Everything finished is kept; mend the cause and {again}."
        if counts.failed:
            text = f"Some failed: see the column 'error'; `batchwork retry {self.journal}` tries them again."
            return Exit.SOME_FAILED, text
        if counts.pending:
            return Exit.SOME_FAILED, f"Some are pending: {again} to go on."
        return Exit.ALL_SUCCEEDED, "All succeeded."

"""What a run hands back: its outcomes in input order, read from the journal as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Protocol, overload

from batchwork.core.money import to_dollars
from batchwork.core.outcome import Outcome, Pending
from batchwork.core.ports import Entry, Totals
from batchwork.core.stats import Accounting


class Source(Protocol):
    """Where outcomes are read from: a journal or a reader of one."""

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[Entry]:
        """Places in input order."""
        ...

    def count(self) -> int:
        """How many places there are."""
        ...

    def totals(self) -> Totals:
        """The money."""
        ...

    def close(self) -> None:
        """Let go."""
        ...


class Results(Sequence[Outcome]):
    """Outcomes in input order. Lazy: nothing is held in memory but what is being looked at.

    `stopped` says why a run ended early (`"budget"`, `"paused"`, `"interrupted"`), `accounting` where every
    input ended, `total_cost` what was paid on this journal, failed attempts included.
    """

    def __init__(self, source: Source, *, accounting: Accounting, stopped: str | None, priced: bool) -> None:
        self._source = source
        self._priced = priced
        self.accounting = accounting
        self.stopped = stopped

    @property
    def source(self) -> Source:
        """Where the outcomes are read from."""
        return self._source

    @property
    def total_cost(self) -> Decimal | None:
        """Dollars paid on this journal over all runs; None when the price is not known."""
        spent = self._source.totals().spent_nano
        return to_dollars(spent) if self._priced or spent else None

    @property
    def unconfirmed_cost(self) -> Decimal:
        """The part of `total_cost` booked at its worst case, because a call was cut off after it was sent."""
        return to_dollars(self._source.totals().unconfirmed_nano)

    def __len__(self) -> int:
        return self._source.count()

    def __iter__(self) -> Iterator[Outcome]:
        # A generator, so that `for r in run(...)` keeps this object, and with it the journal, open while it goes on.
        for entry in self._source.entries():
            yield _outcome(entry)

    @overload
    def __getitem__(self, at: int) -> Outcome: ...
    @overload
    def __getitem__(self, at: slice) -> list[Outcome]: ...

    def __getitem__(self, at: int | slice) -> Outcome | list[Outcome]:
        length = len(self)
        if isinstance(at, slice):
            start, stop, step = at.indices(length)
            low, high = (start, stop) if step > 0 else (stop + 1, start + 1)
            window = [_outcome(entry) for entry in self._source.entries(low, high)]
            return [window[i - low] for i in range(start, stop, step)]
        index = at + length if at < 0 else at
        for entry in self._source.entries(index, index + 1):
            return _outcome(entry)
        raise IndexError(f"there are {length} results, no number {at}")

    def __repr__(self) -> str:
        return f"<Results: {self.accounting}>"

    def close(self) -> None:
        """Let go of the journal; also done when the object goes."""
        self._source.close()

    def __del__(self) -> None:
        self.close()


def _outcome(entry: Entry) -> Outcome:
    if entry.outcome is not None:
        return entry.outcome
    return Pending(index=entry.index, attempts=entry.attempts, cost_nano=entry.paid_nano)

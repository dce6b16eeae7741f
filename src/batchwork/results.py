"""What a run hands back: its outcomes in input order, read from the journal as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import islice
from typing import Protocol, overload

from batchwork.core.money import to_dollars
from batchwork.core.outcome import Outcome, Pending, Status
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


class EveryPlace:
    """A source with all places of an input whose length is known: what no run has read yet is pending."""

    def __init__(self, source: Source, total: int) -> None:
        self._source = source
        self._total = total

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[Entry]:
        """Places in input order, without a gap."""
        end = self._total if stop is None else min(stop, self._total)
        at = start
        for entry in self._source.entries(start, end):
            yield from map(_unread, range(at, entry.index))
            yield entry
            at = entry.index + 1
        yield from map(_unread, range(at, end))

    def count(self) -> int:
        """How many places there are."""
        return self._total

    def totals(self) -> Totals:
        """The money."""
        return self._source.totals()

    def close(self) -> None:
        """Let go."""
        self._source.close()


def _unread(index: int) -> Entry:
    return Entry(index=index, item=-1, status=Status.PENDING, paid_nano=0, attempts=0)


def spent_on(source: Source, *, priced: bool) -> Decimal | None:
    """Dollars paid over all runs; None when the price is not known, which is never zero."""
    spent = source.totals().spent_nano
    return to_dollars(spent) if priced or spent else None


class Results(Sequence[Outcome]):
    """Outcomes in input order. Lazy: nothing is held in memory but what is being looked at.

    `stopped` says why a run ended early (`"budget"`, `"paused"`, `"cancelled"`), `accounting` where every
    input ended, `total_cost` what was paid on this journal, failed attempts included, as far as it is `priced`.
    """

    def __init__(self, source: Source, *, accounting: Accounting, stopped: str | None, priced: bool) -> None:
        self._source = source
        self.priced = priced
        self._length: int | None = None
        self._has_gaps: bool | None = None
        self.accounting = accounting
        self.stopped = stopped

    @property
    def source(self) -> Source:
        """Where the outcomes are read from."""
        return self._source

    @property
    def total_cost(self) -> Decimal | None:
        """Dollars paid on this journal over all runs; None when the price is not known."""
        return spent_on(self._source, priced=self.priced)

    @property
    def unconfirmed_cost(self) -> Decimal:
        """The part of `total_cost` booked at its worst case, because a call was cut off after it was sent."""
        return to_dollars(self._source.totals().unconfirmed_nano)

    def __len__(self) -> int:
        if self._length is None:  # counted once: `results[i]` in a loop must not count every time
            self._length = self._source.count()
        return self._length

    def __iter__(self) -> Iterator[Outcome]:
        # A generator, so that `for r in run(...)` keeps this object, and with it the journal, open while it goes on.
        for entry in self._source.entries():
            yield _outcome(entry)

    @overload
    def __getitem__(self, at: int) -> Outcome: ...
    @overload
    def __getitem__(self, at: slice) -> list[Outcome]: ...

    def __getitem__(self, at: int | slice) -> Outcome | list[Outcome]:
        if isinstance(at, slice):
            wanted = range(*at.indices(len(self)))
            if not wanted:
                return []
            low, high = min(wanted), max(wanted)
            window = self._between(low, high + 1)
            return [window[i - low] for i in wanted]
        index = at + len(self) if at < 0 else at
        if not 0 <= index < len(self):
            raise IndexError(f"there are {len(self)} results, no number {at}")
        return self._between(index, index + 1)[0]

    def _between(self, low: int, high: int) -> list[Outcome]:
        """The outcomes from the `low`-th on; where a run that ended early left gaps, they are counted out."""
        if self._has_gaps is None:
            self._has_gaps = next(iter(self._source.entries(len(self))), None) is not None
        entries = islice(self._source.entries(), low, high) if self._has_gaps else self._source.entries(low, high)
        return [_outcome(entry) for entry in entries]

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

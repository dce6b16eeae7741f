"""The results of a run: outcomes in input order, read from the journal as they are looked at."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import islice
from typing import Protocol, TypeVar, overload

from batchwork.core.money import to_dollars
from batchwork.core.outcome import Outcome, Pending, Status
from batchwork.core.ports import Entry, Totals
from batchwork.core.stats import Accounting
from batchwork.core.words import counted

T = TypeVar("T")


class OutcomeSource(Protocol):
    """Where outcomes are read from: a journal or a reader of one."""

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[Entry]:
        """Places in input order."""

    def count(self) -> int:
        """How many places there are."""

    def totals(self) -> Totals:
        """The money."""

    def close(self) -> None:
        """Let go."""


class EveryPlace:
    """A source with all places of an input whose length is known: what no run has read yet is pending."""

    def __init__(self, source: OutcomeSource, total: int) -> None:
        self._source = source
        self._total = total
        self.totals = source.totals
        self.close = source.close

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


class SomePlaces:
    """A source with some places of another one alone, counted from 0, in the order given."""

    def __init__(self, source: OutcomeSource, places: Sequence[int]) -> None:
        self._source = source
        self._places = places
        self.totals = source.totals
        self.close = source.close

    def entries(self, start: int = 0, stop: int | None = None) -> Iterator[Entry]:
        """These places."""
        for place in self._places[start:stop]:
            yield from self._source.entries(place, place + 1)

    def count(self) -> int:
        """How many there are."""
        return len(self._places)


def _unread(index: int) -> Entry:
    return Entry(index=index, item=-1, status=Status.PENDING, paid_nano=0, attempts=0)


class LazyResults(Sequence[T]):
    """Items in input order, each made when it is looked at. Lazy: nothing is held in memory but what is looked at."""

    def __init__(self, source: OutcomeSource, *, priced: bool, keep: object = None) -> None:
        self.source = source
        self.priced = priced
        self._keep = keep  # whoever closes the source when it goes; None: we do
        self._length: int | None = None
        self._has_gaps: bool | None = None

    @abstractmethod
    def _made(self, entry: Entry) -> T:
        """The item of one place."""

    @property
    def total_cost(self) -> Decimal | None:
        """Dollars paid on this journal over all runs; None when the price is not known, which is never zero."""
        spent = self.source.totals().spent_nano
        return to_dollars(spent) if self.priced or spent else None

    @property
    def unconfirmed_cost(self) -> Decimal:
        """The part of `total_cost` that may not be billed: calls cut off or without usage, at their worst case."""
        return to_dollars(self.source.totals().unconfirmed_nano)

    def __len__(self) -> int:
        if self._length is None:  # counted once: `results[i]` in a loop must not count every time
            self._length = self.source.count()
        return self._length

    def __iter__(self) -> Iterator[T]:
        # A generator, so that `for r in run(...)` keeps this object, and with it the journal, open while it goes on.
        for entry in self.source.entries():
            yield self._made(entry)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> list[T]: ...

    def __getitem__(self, at: int | slice) -> T | list[T]:
        if isinstance(at, slice):
            wanted = range(*at.indices(len(self)))
            if not wanted:
                return []
            low, high = min(wanted), max(wanted)
            window = self._between(low, high + 1)
            return [window[i - low] for i in wanted]
        index = at + len(self) if at < 0 else at
        if not 0 <= index < len(self):
            raise IndexError(f"no number {at}: there are {counted(len(self), 'result')}")
        return self._between(index, index + 1)[0]

    def _between(self, low: int, high: int) -> list[T]:
        """The items from the `low`-th on; where a run that ended early left gaps, they are counted out."""
        if self._has_gaps is None:
            self._has_gaps = next(iter(self.source.entries(len(self))), None) is not None
        entries = islice(self.source.entries(), low, high) if self._has_gaps else self.source.entries(low, high)
        return [self._made(entry) for entry in entries]

    def close(self) -> None:
        """Let go of the journal; also done when the object goes."""
        self.source.close()

    def __del__(self) -> None:
        if self._keep is None:
            self.close()


class Results(LazyResults[Outcome]):
    """Outcomes in input order. Lazy: nothing is held in memory but what is being looked at.

    `stopped` says why a run ended early (`"budget"`, `"paused"`, `"cancelled"`), `accounting` where every
    input ended, `total_cost` what was paid on this journal, failed attempts included, as far as it is `priced`.
    """

    def __init__(self, source: OutcomeSource, *, accounting: Accounting, stopped: str | None, priced: bool) -> None:
        super().__init__(source, priced=priced)
        self.accounting = accounting
        self.stopped = stopped

    def _made(self, entry: Entry) -> Outcome:
        return outcome_of(entry)

    def __repr__(self) -> str:
        return f"<Results: {self.accounting}>"


def outcome_of(entry: Entry, *, cancelled: bool = False) -> Outcome:
    """The outcome of one place; `cancelled`: what has none is not to be done any more."""
    if entry.outcome is not None:
        return entry.outcome
    return Pending(index=entry.index, attempts=entry.attempts, cost_nano=entry.paid_nano, cancelled=cancelled)

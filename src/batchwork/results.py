"""The results of a run: outcomes in input order, read from the journal as they are looked at."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any, ClassVar, Protocol, Self, TypeVar, overload

import msgspec

from batchwork.core.errors import InputError, JournalError
from batchwork.core.money import show, to_dollars
from batchwork.core.outcome import Failed, Outcome, Pending, Status, Succeeded
from batchwork.core.ports import Entry, Totals
from batchwork.core.stats import Accounting, account
from batchwork.core.words import counted
from batchwork.tables import RESULT_TYPES, Exports, answer_fields, plain_answer, result_columns, result_values
from batchwork.tables.html import results_html

T = TypeVar("T")
_FIRST_ROWS = 5  # of results that a notebook shows


class OutcomeSource(Protocol):
    """Where outcomes are read from: a journal or a reader of one."""

    def entries(self, start: int = 0, stop: int | None = None, *, asked: bool = True) -> Iterator[Entry]:
        """Places in input order, with what was `asked`, or without."""

    def count(self) -> int:
        """How many places there are."""

    def counts(self, *, below: int | None = None) -> dict[Status, int]:
        """How many of them, or of those below a place, stand where."""

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

    def entries(self, start: int = 0, stop: int | None = None, *, asked: bool = True) -> Iterator[Entry]:
        """Places in input order, without a gap."""
        end = self._total if stop is None else min(stop, self._total)
        at = start
        for entry in self._source.entries(start, end, asked=asked):
            yield from map(_unread, range(at, entry.index))
            yield entry
            at = entry.index + 1
        yield from map(_unread, range(at, end))

    def count(self) -> int:
        """How many places there are."""
        return self._total

    def counts(self, *, below: int | None = None) -> dict[Status, int]:
        """How many of them, or of those below a place, stand where."""
        end = self._total if below is None else min(below, self._total)
        counts = self._source.counts(below=end)
        return counts | {Status.PENDING: counts[Status.PENDING] + end - sum(counts.values())}


class SomePlaces:
    """A source with some places of another one alone, counted from 0, in the order given."""

    def __init__(self, source: OutcomeSource, places: Sequence[int]) -> None:
        self._source: OutcomeSource = source._source if isinstance(source, SomePlaces) else source
        self._places = places
        self.totals = source.totals
        self.close = source.close

    def entries(self, start: int = 0, stop: int | None = None, *, asked: bool = True) -> Iterator[Entry]:
        """These places."""
        for place in self._places[start:stop]:
            yield from self._source.entries(place, place + 1, asked=asked)

    def count(self) -> int:
        """How many there are."""
        return len(self._places)

    def counts(self, *, below: int | None = None) -> dict[Status, int]:
        """How many of them, or of the first ones, stand where."""
        counts = dict.fromkeys(Status, 0)
        for entry in self.entries(0, below, asked=False):
            counts[entry.status] += 1
        return counts


def _unread(index: int) -> Entry:
    return Entry(index=index, item=-1, status=Status.PENDING, paid_nano=0, attempts=0)


class LazyResults(Exports, Sequence[T]):
    """Items in input order, each made when it is looked at. Lazy: nothing is held in memory but what is looked at."""

    _ANSWER: ClassVar[str]  # the column of an answer that is JSON
    _ASKED: ClassVar[bool] = True  # an item is made of what was asked, too

    def __init__(self, source: OutcomeSource, *, priced: bool, keep: object = None) -> None:
        self.source = source
        self.priced = priced
        self._keep = keep  # whoever closes the source when it goes; None: we do
        self._length: int | None = None
        self._has_gaps: bool | None = None

    @abstractmethod
    def _made(self, entry: Entry) -> T:
        """The item of one place."""

    @abstractmethod
    def _values(self, item: T, *, flat: bool) -> dict[str, Any]:
        """Our columns of an item, with its answer where that is JSON; `flat`: what is nested in them is JSON text."""

    @abstractmethod
    def at(self, places: Sequence[int]) -> Self:
        """Those at some places of the input alone, in this order."""

    @property
    def failures(self) -> dict[str, Self]:
        """The failed items by kind, the most frequent kind first; each is a list like this one, and as lazy."""
        places: dict[str, list[int]] = {}
        for entry in self.source.entries(asked=False) if self.source.counts()[Status.FAILED] else ():
            if isinstance(entry.outcome, Failed):
                places.setdefault(entry.outcome.failure.kind.value, []).append(entry.index)
        return {kind: self.at(places[kind]) for kind in sorted(places, key=lambda kind: -len(places[kind]))}

    def _rows(self, *, flat: bool) -> Iterator[dict[str, Any]]:
        columns = None
        for entry in self.source.entries():
            inputs = self._inputs(entry)
            columns = columns or result_columns(inputs, (*self._ours, self._ANSWER))
            ours = self._values(self._made(entry), flat=flat)
            if not flat and self._ANSWER in ours:
                ours[self._ANSWER] = plain_answer(ours[self._ANSWER])
            fields = answer_fields(ours.pop(self._ANSWER), self._ANSWER) if flat and self._ANSWER in ours else {}
            yield columns.row(inputs, ours, fields, self._ANSWER)

    def _inputs(self, entry: Entry) -> Mapping[str, Any]:
        """The columns of the input."""
        return entry.columns or {}

    def __repr__(self) -> str:
        try:
            return f"<{type(self).__name__}: {self._standing()}>"
        except JournalError:
            return f"<{type(self).__name__}: closed>"

    def _standing(self) -> Accounting:
        return account(self.source.counts())

    def _repr_html_(self) -> str | None:
        try:
            title = f"{type(self).__name__}: {self._standing()}"
            if not isinstance(self.source, SomePlaces):  # the money is that of all
                nano = None if self.total_cost is None else self.source.totals().spent_nano
                title += f"; {'cost unknown' if nano is None else show(nano)}"
            rows = list(islice(self._rows(flat=True), _FIRST_ROWS))
            return results_html(title, rows, ours=self._ours, total=len(self))
        except JournalError:
            return None  # it is closed, as its `repr` says

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
        for entry in self.source.entries(asked=self._ASKED):
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
            self._has_gaps = next(iter(self.source.entries(len(self), asked=False)), None) is not None
        start, stop = (0, None) if self._has_gaps else (low, high)
        entries = self.source.entries(start, stop, asked=self._ASKED)
        return [self._made(entry) for entry in (islice(entries, low, high) if self._has_gaps else entries)]

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

    _ANSWER = "parsed"
    _ASKED = False
    _ours = RESULT_TYPES

    def __init__(
        self,
        source: OutcomeSource,
        *,
        accounting: Accounting,
        stopped: str | None,
        priced: bool,
        model: Any = None,  # a Pydantic model that answers are instances of
        keep: object = None,
    ) -> None:
        super().__init__(source, priced=priced, keep=keep)
        self.accounting = accounting
        self.stopped = stopped
        self._model = model

    def _made(self, entry: Entry) -> Outcome:
        return typed_outcome(outcome_of(entry), self._model)

    def at(self, places: Sequence[int]) -> "Results":
        """Those at some places of the input alone, in this order."""
        some = SomePlaces(self.source, places)
        options: Any = {"stopped": self.stopped, "priced": self.priced, "model": self._model}
        return Results(some, accounting=account(some.counts()), keep=self, **options)

    def _values(self, item: Outcome, *, flat: bool) -> dict[str, Any]:  # noqa: ARG002
        return result_values(item) | ({} if item.value is None else {self._ANSWER: item.value})

    def _inputs(self, entry: Entry) -> Mapping[str, Any]:
        return input_columns(entry)

    def _standing(self) -> Accounting:
        return self.accounting


def input_columns(entry: Entry, source: str | None = None) -> Mapping[str, Any]:
    """The columns of an input row; what was no row has its prompt, and the file that it is about, as its columns."""
    if entry.columns is not None:
        return entry.columns
    documents = () if entry.request is None else entry.request.documents
    named = {"source": source or documents[0].title} if documents else {"source": source} if source else {}
    return named if entry.request is None else {**named, "prompt": entry.request.messages[-1].content}


def typed_outcome(outcome: Outcome, model: Any) -> Outcome:
    """The outcome with an instance of the model as what was parsed, where there is an answer."""
    if model is None or not isinstance(outcome, Succeeded) or outcome.parsed is None:
        return outcome
    from pydantic import ValidationError  # noqa: PLC0415 - slow to import, and only a typed run needs it

    from batchwork.schema import typed  # noqa: PLC0415

    try:
        return msgspec.structs.replace(outcome, parsed=typed(outcome.parsed, model))
    except ValidationError as error:
        raise InputError(
            f"result {outcome.index} was accepted by an earlier {model.__name__} and is not by this one: {error}"
        ) from error


def outcome_of(entry: Entry, *, cancelled: bool = False) -> Outcome:
    """The outcome of one place; `cancelled`: what has none is not to be done any more."""
    if entry.outcome is not None:
        return entry.outcome
    return Pending(index=entry.index, attempts=entry.attempts, cost_nano=entry.paid_nano, cancelled=cancelled)

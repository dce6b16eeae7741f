"""What a job hands back: its items in input order, typed and with their citations, made as they are looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, overload

import msgspec

from batchwork.core.outcome import Outcome, Pending, Status, Succeeded
from batchwork.core.ports import Entry
from batchwork.core.reply import Usage
from batchwork.core.request import Request
from batchwork.documents import Document
from batchwork.manager.finisher import Citations, Finisher, is_imported, raw_of
from batchwork.results import Source, spent_on

Asked = Callable[[int], Request | None]  # what was asked about the item at a place, read when somebody looks


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What is to be known about the run that results are of."""

    priced: bool = True  # what it cost is known
    cancelled: bool = False  # what it left is not to be done


_DONE = Ending()


class BatchResult:
    """One item: where it stands, what came of it, what it cost.

    `status` is `"succeeded"`, `"failed"`, `"deferred"` (over `max_cost`) or `"pending"`; `original_index` its place in
    the input.
    """

    def __init__(
        self, entry: Entry, finisher: Finisher, asked: Asked | None = None, *, cancelled: bool = False
    ) -> None:
        self._entry = entry
        self._finisher = finisher
        self._asked = asked
        self._outcome: Outcome = entry.outcome or Pending(
            index=entry.index, attempts=entry.attempts, cost_nano=entry.paid_nano, cancelled=cancelled
        )

    @property
    def original_index(self) -> int:
        """Its place in the input."""
        return self._entry.index

    @property
    def status(self) -> Status:
        """Where it stands; equal to the plain word, too."""
        return self._outcome.status

    @cached_property
    def value(self) -> Any:
        """An instance of `response_model`, validated JSON where a schema was given, else the text; None without one."""
        return self._finisher.value(self._outcome)

    @cached_property
    def citations(self) -> Citations:
        """For every leaf field, by path, the places in `document.text` that say it, best first."""
        return self._finisher.citations(self._outcome, self.document)

    @cached_property
    def document(self) -> Document | None:
        """The source that the citations point into, with its `text` and `pages`."""
        request = self._entry.request
        if request is None and self._asked is not None:
            request = self._asked(self._entry.index)
        return self._finisher.document(request)

    @property
    def raw(self) -> Any:
        """What the provider said, as JSON: its own where raw results are kept, else text, usage, model and the like."""
        told = raw_of(self._outcome)
        return None if told is None else msgspec.json.decode(told)

    @property
    def text(self) -> str | None:
        """The answer as text, also one that could not be used."""
        return self._outcome.text

    @property
    def cost(self) -> Decimal | None:
        """Dollars paid for it, failed attempts included; None when the price is not known."""
        return self._outcome.cost

    @property
    def usage(self) -> Usage | None:
        """Its tokens."""
        return self._outcome.usage

    @property
    def attempts(self) -> int:
        """How often it was asked."""
        return self._outcome.attempts

    @property
    def error(self) -> str | None:
        """Why there is no answer, as `kind: message`; None after a success."""
        return self._outcome.error

    @property
    def note(self) -> str | None:
        """Something to know about a value or citations that are not there although the item succeeded."""
        outcome = self._outcome
        if not isinstance(outcome, Succeeded):
            return None
        if is_imported(outcome) and outcome.parsed is None:
            return "settled in a state file that arrived without its journal and results: the value is not known"
        if self._finisher.cite and self.document is not None and not self.document.has_text:
            return "the document is an image or a scan: it has no text in which the value could be cited"
        return None

    def __repr__(self) -> str:
        told = self.error if self.error is not None else repr(self.value)
        return f"<BatchResult {self.original_index} {self.status.value}: {told}>"


class BatchResults(Sequence[BatchResult]):
    """Results in input order. Lazy: nothing is held in memory but what is being looked at."""

    def __init__(
        self,
        source: Source,
        finisher: Finisher,
        *,
        only: Sequence[int] | None = None,
        keep: object = None,
        asked: Asked | None = None,
        ending: Ending = _DONE,
    ) -> None:
        self._source = source
        self._ending = ending
        self._finisher = finisher
        self._asked = asked  # where what was asked is not in the source
        self._only = only  # some places alone, in order
        self._keep = keep  # whoever closes the source when it goes; None: we do

    def __len__(self) -> int:
        return self._source.count() if self._only is None else len(self._only)

    def __iter__(self) -> Iterator[BatchResult]:
        # A generator, so that `for r in manager.run()` keeps this object, and with it the journal, open.
        if self._only is None:
            for entry in self._source.entries():
                yield self._result(entry)
        else:
            for index in self._only:
                yield self._at(index)

    @overload
    def __getitem__(self, at: int) -> BatchResult: ...
    @overload
    def __getitem__(self, at: slice) -> list[BatchResult]: ...

    def __getitem__(self, at: int | slice) -> BatchResult | list[BatchResult]:
        length = len(self)
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(length))]
        index = at + length if at < 0 else at
        if not 0 <= index < length:
            raise IndexError(f"there are {length} results, no number {at}")
        return self._at(index if self._only is None else self._only[index])

    def _at(self, index: int) -> BatchResult:
        for entry in self._source.entries(index, index + 1):
            return self._result(entry)
        raise IndexError(f"there is no result at place {index}")

    def _result(self, entry: Entry) -> BatchResult:
        return BatchResult(entry, self._finisher, self._asked, cancelled=self._ending.cancelled)

    def values(self) -> list[Any]:
        """The typed values alone, in input order; None where there is none."""
        return [result.value for result in self]

    def citations(self) -> list[Citations]:
        """The citations alone, in input order."""
        return [result.citations for result in self]

    @property
    def total_cost(self) -> Decimal | None:
        """Dollars paid, over all runs; None when the price is not known."""
        return spent_on(self._source, priced=self._ending.priced)

    def at(self, places: Sequence[int]) -> BatchResults:
        """Those at some places alone, in this order."""
        return BatchResults(
            self._source, self._finisher, only=places, keep=self, asked=self._asked, ending=self._ending
        )

    def __repr__(self) -> str:
        return f"<BatchResults: {len(self)}>"

    def close(self) -> None:
        """Let go of the journal; also done when the object goes."""
        self._source.close()

    def __del__(self) -> None:
        if self._keep is None:
            self.close()

"""The results of a job: its items in input order, typed and with their citations, made as they are looked at."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any

import msgspec

from batchwork.core.outcome import Outcome, Status, Succeeded
from batchwork.core.ports import Entry
from batchwork.core.reply import Usage
from batchwork.core.request import Request
from batchwork.documents import Document
from batchwork.manager.finisher import Citations, Evidence, Finisher, is_imported, raw_of
from batchwork.results import LazyResults, OutcomeSource, SomePlaces, outcome_of

_OURS = {"original_index": int, "status": str, "error": str, "cost": float, "citations": str}  # columns
_OURS_OF_FILES = {"original_index": int, "source": str, **_OURS}
Question = Callable[[int], Request | None]  # what is asked about the item at a place, read when somebody looks


class BatchResult:
    """One item: where it stands, what came of it, what it cost.

    `status` is `"succeeded"`, `"failed"`, `"deferred"` (over `max_cost`) or `"pending"`; `original_index` its place in
    the input.
    """

    def __init__(self, entry: Entry, finisher: Finisher, outcome: Outcome, question: Question | None) -> None:
        self._entry = entry
        self._finisher = finisher
        self._outcome = outcome
        self._question = question
        self.original_index = entry.index
        self.status: Status = outcome.status  # equal to the plain word, too
        self.text: str | None = outcome.text  # the answer, also one that could not be used
        self.usage: Usage | None = outcome.usage
        self.attempts: int = outcome.attempts
        self.truncated: bool = outcome.truncated  # the answer was cut off by max_tokens
        self.tool_calls = outcome.tool_calls
        self.error: str | None = outcome.error  # why there is no answer, as `kind: message`; None after a success

    @cached_property
    def value(self) -> Any:
        """An instance of `response_model`, validated JSON where a schema was given, else the text; None without one."""
        return self._finisher.value(self._outcome)

    @cached_property
    def citations(self) -> Citations:
        """For every leaf field, by path, the places in `document.text` that say it, best first; found once."""
        return self._evidence.citations

    @cached_property
    def rejected_quotes(self) -> list[dict[str, str]]:
        """With `citations="quoted"`, the model's quotes that were not believed: `[{"path", "quote", "why"}]`."""
        return self._evidence.rejected_quotes

    @property
    def _evidence(self) -> Evidence:
        return self._finisher.evidence(self._outcome, lambda: self.document)

    @cached_property
    def document(self) -> Document | None:
        """The source that the citations point into, with its `text` and `pages`."""
        asked = self._entry.request if self._question is None else self._question(self.original_index)
        return self._finisher.document(asked)

    @property
    def raw(self) -> Any:
        """What the provider said, as JSON: its own where raw results are kept, else text, usage, model and the like."""
        body = raw_of(self._outcome)
        return None if body is None else msgspec.json.decode(body)

    @property
    def cost(self) -> Decimal | None:
        """Dollars paid for it, failed attempts included; None when the price is not known."""
        return self._outcome.cost

    @property
    def note(self) -> str | None:
        """Something to know about a value or citations that are missing or not whole although the item succeeded."""
        outcome = self._outcome
        if not isinstance(outcome, Succeeded):
            return None
        if is_imported(outcome) and outcome.parsed is None:
            return "settled in a state file that arrived without its journal and results: the value is not known"
        if outcome.truncated and outcome.parsed is None:
            return "the answer was cut off by max_tokens; a manager with a higher one asks anew"
        if self._finisher.cite and self.document is not None and not self.document.has_text:
            return "the document is an image or a scan: it has no text in which the value could be cited"
        return None

    def __repr__(self) -> str:
        content = self.error if self.error is not None else repr(self.value)
        return f"<BatchResult {self.original_index} {self.status.value}: {content}>"


class BatchResults(LazyResults[BatchResult]):
    """Results in input order. Lazy: nothing is held in memory but what is being looked at."""

    _ANSWER = "value"

    def __init__(
        self,
        source: OutcomeSource,
        finisher: Finisher,
        *,
        priced: bool = True,  # what the run cost is known
        cancelled: bool = False,  # what the run left is not to be done
        question: Question | None = None,  # where what is asked is not in the source
        keep: object = None,
    ) -> None:
        super().__init__(source, priced=priced, keep=keep)
        self._finisher = finisher
        self._cancelled = cancelled
        self._question = question

    def _made(self, entry: Entry) -> BatchResult:
        return BatchResult(entry, self._finisher, outcome_of(entry, cancelled=self._cancelled), self._question)

    def values(self) -> list[Any]:
        """The typed values alone, in input order; None where there is none."""
        return [result.value for result in self]

    def citations(self) -> list[Citations]:
        """The citations alone, in input order."""
        return [result.citations for result in self]

    @property
    def _ours(self) -> Mapping[str, type]:
        return _OURS if self._finisher.source_of is None else _OURS_OF_FILES

    def _values(self, item: BatchResult, *, flat: bool) -> dict[str, Any]:
        values: dict[str, Any] = {"original_index": item.original_index}
        if self._finisher.source_of is not None:
            values["source"] = self._finisher.source_of(item.original_index)
        values["status"] = item.status.value
        if item.value is not None or self._finisher.schema is None or not flat:
            values[self._ANSWER] = item.value
        if not flat:
            values["citations"] = item.citations
        elif item.citations:
            values["citations"] = msgspec.json.encode(item.citations).decode()
        return values | {"cost": None if item.cost is None else float(item.cost), "error": item.error}

    def at(self, places: Sequence[int]) -> "BatchResults":
        """Those at some places alone, in this order."""
        some = SomePlaces(self.source, places)
        options: Any = {"priced": self.priced, "cancelled": self._cancelled, "question": self._question}
        return BatchResults(some, self._finisher, keep=self, **options)

"""Batches that are made of requests inside of the call: how one is found whose creation has an unknown outcome.

It carries nothing by which it could be found again but the custom ids inside it, and these can be read only once it has
ended. Looking for one therefore has three answers: found, surely not there, not decided yet.
"""

from collections.abc import AsyncIterator, Callable
from functools import cached_property
from typing import Any, ClassVar

from batchwork.backends._headers import moment
from batchwork.backends._wire import BatchPage, WireBackend
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure
from batchwork.core.ports import BatchTag, Candidate, Sighting
from batchwork.core.reply import Reply


class InlineBackend(WireBackend):
    """A wire with such batches: each is a `Stored` with `created_at`, `has_ended` and a `total` of its requests."""

    decode_page: Callable[[bytes], BatchPage[Any]]
    after: ClassVar[str]  # the parameter that asks for the next page of the list
    collect_batch: Callable[[str], AsyncIterator[tuple[str, Reply | Failure]]]

    @cached_property
    def _first_names(self) -> dict[str, str]:
        """The first custom id of each ended batch that was looked at: a search looks again and again."""
        return {}

    async def find_batch(self, tag: BatchTag) -> str | Sighting | Candidate:
        """Look at every batch that is young enough, of the right size, and ours by its custom ids."""
        undecided = False
        unreadable: Candidate | None = None
        async for batch, oldest, youngest in self._listed(self.decode_page, self.after, tag):
            created = moment(batch.created_at)
            if created is not None and created < oldest:
                break
            if batch.id in tag.known or (created is not None and created > youngest):
                continue
            if not batch.has_ended:
                undecided = undecided or not batch.total or _is_about(batch.total, len(tag.custom_ids))
            elif (ours := await self._holds(batch.id, tag)) is None:
                unreadable = unreadable or Candidate(batch.id)
            elif ours:
                return str(batch.id)
        return Sighting.UNDECIDED if undecided else unreadable or Sighting.ABSENT

    async def _holds(self, batch_id: str, tag: BatchTag) -> bool | None:
        """Whether an ended batch is ours; None when not a line of its results can be read."""
        if (name := self._first_names.get(batch_id)) is None:
            try:
                async for name, _ in self.collect_batch(batch_id):
                    self._first_names[batch_id] = name
                    break
            except BackendError:
                return None
        return None if name is None else name in tag.custom_ids  # one is enough: it names our run and our batch


def _is_about(counted: int, size: int) -> bool:
    """Whether a batch may hold so many requests although its counts say otherwise: they are not always right."""
    return abs(counted - size) <= max(1, size // 10)

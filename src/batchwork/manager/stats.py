"""The numbers of a job or of all jobs of a manager, for people and programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStats(Mapping[str, Any]):
    """Where every item is: completed + failed + deferred + pending = total. Read as attributes or by name."""

    total_items: int
    completed_items: int = 0
    failed_items: int = 0
    deferred_items: int = 0
    pending_items: int = 0
    total_cost: Decimal | None = Decimal(0)  # None: the price is not known
    max_cost: Decimal | None = None
    cost_limit_reached: bool = False
    jobs_total: int = 1
    jobs_completed: int = 0  # with nothing left to do, and not all of it failed
    jobs_failed: int = 0  # every item of it failed
    jobs_in_progress: int = 0
    deferred: tuple[int, ...] = ()  # the places of the items that were over budget

    def __getitem__(self, name: str) -> Any:
        if name not in tuple(self):
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return (field.name for field in fields(self))

    def __len__(self) -> int:
        return len(fields(self))

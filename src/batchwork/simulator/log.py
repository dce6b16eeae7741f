"""Remember what was received, answered and billed: the oracle for "nothing paid twice".

Entries keep tokens; money is worked out when the log is read, so that a call costs no price look-up.
"""

from typing import Any

from msgspec import Struct, to_builtins

from batchwork.simulator.bill import Tier, Usage, nano_dollars

_PREVIEW = 80


class LoggedCall(Struct, kw_only=True, gc=False):
    """One call received, live or inside a batch."""

    number: int
    api: str  # by the names of the price table
    path: str
    model: str
    prompt: str
    preview: str
    at: float
    custom_id: str | None = None
    batch_id: str | None = None
    tier: Tier = "standard"
    status: int | None = None
    fault: str | None = None
    answered: bool = False
    billed: bool = False
    usage: Usage | None = None

    def nano_dollars(self) -> int | None:
        """What this call was billed; 0 when it was not, None when its price is unknown."""
        if not self.billed or self.usage is None:
            return 0
        return nano_dollars(self.api, self.model, self.tier, self.usage)


class BatchRecord(Struct, kw_only=True, gc=False):
    """One batch: how its creation was answered and whether its results can be fetched."""

    api: str
    size: int
    create_fault: str | None = None
    downloads: int = 0
    whole_downloads: int = 0
    gone: bool = False


class Tally(Struct, gc=False):
    """How often one prompt or one custom_id was received, answered and billed."""

    received: int = 0
    answered: int = 0
    billed: int = 0
    nano_dollars: int | None = 0
    preview: str = ""

    def add(self, entry: LoggedCall) -> None:
        """Count one call; a single unknown price makes the sum unknown."""
        self.received += 1
        self.answered += entry.answered
        self.billed += entry.billed
        cost = entry.nano_dollars()
        self.nano_dollars = None if cost is None or self.nano_dollars is None else self.nano_dollars + cost

    def shown(self) -> dict[str, Any]:
        """As JSON: unknown money is the word `unknown`, never zero."""
        shown: dict[str, Any] = to_builtins(self)
        return shown | {"nano_dollars": _money(self.nano_dollars)}


def _money(nano_dollars: int | None) -> int | str:
    return "unknown" if nano_dollars is None else nano_dollars


class Log:
    """All calls since the start or the last reset."""

    def __init__(self) -> None:
        self.entries: list[LoggedCall] = []
        self.seen: dict[str, int] = {}
        self.other: dict[str, int] = {}
        self.batches: dict[str, BatchRecord] = {}

    def receive(self, entry: LoggedCall) -> int:
        """Write a call down; returns how often its prompt was seen before."""
        self.entries.append(entry)
        before = self.seen.get(entry.prompt, 0)
        self.seen[entry.prompt] = before + 1
        return before

    def _fetchable(self, entry: LoggedCall) -> bool:
        """Whether the answer reached its caller whole, or still can: it stands in results that are not gone."""
        batch = self.batches.get(entry.batch_id) if entry.batch_id is not None else None
        return entry.answered and (batch is None or not batch.gone)

    def note(self, what: str) -> None:
        """Count a call that asks no model: polls, lists, uploads, refused bodies."""
        self.other[what] = self.other.get(what, 0) + 1

    def report(self) -> dict[str, Any]:
        """Everything, as JSON."""
        total = Tally()
        prompts: dict[str, Tally] = {}
        custom_ids: dict[str, Tally] = {}
        requests: list[dict[str, Any]] = []
        for entry in self.entries:
            known = {"nano_dollars": _money(entry.nano_dollars()), "fetchable": self._fetchable(entry)}
            requests.append(to_builtins(entry) | known)
            total.add(entry)
            prompts.setdefault(entry.prompt, Tally(preview=entry.preview)).add(entry)
            if entry.custom_id is not None:
                custom_ids.setdefault(entry.custom_id, Tally(preview=entry.preview)).add(entry)
        return {
            "simulated": True,
            "total": total.shown(),
            "prompts": {name: tally.shown() for name, tally in prompts.items()},
            "custom_ids": {name: tally.shown() for name, tally in custom_ids.items()},
            "requests": requests,
            "batches": {name: to_builtins(record) for name, record in self.batches.items()},
            "other": dict(self.other),
        }


def preview_of(text: str) -> str:
    """The beginning of a prompt, for the reader of the log."""
    return text[:_PREVIEW]

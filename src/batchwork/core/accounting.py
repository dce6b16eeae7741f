"""Where the items of a journal stand: counted here for notices, for the end of a run and for `status` alike."""

from collections.abc import Iterable

from batchwork.core.batch_book import Ticket
from batchwork.core.outcome import Status
from batchwork.core.ports import JournalView
from batchwork.core.stats import Accounting, account


def account_of(journal: JournalView, tickets: Iterable[Ticket]) -> Accounting:
    """The accounting of a journal with these open batches.

    An item that was deferred and is in a provider's batch now waits for that, not for money.
    """
    counts, inside = journal.counts(), {item for ticket in tickets for item in ticket.items}
    if counts[Status.DEFERRED] and inside:
        deferred = journal.entries(statuses=frozenset({Status.DEFERRED}), bodies=False)
        riding = sum(entry.item in inside for entry in deferred)
        counts[Status.DEFERRED] -= riding
        counts[Status.PENDING] += riding
    return account(counts)

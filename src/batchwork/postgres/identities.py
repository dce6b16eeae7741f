"""The items of a journal in a database by fingerprint and occurrence, looked up for many rows at once."""

from batchwork.postgres.reader import DatabaseItems


class DatabaseIdentities:
    """Knows those that are not committed yet, and those that were fetched for the rows that come next."""

    def __init__(self, table: DatabaseItems) -> None:
        self._table = table
        self._young: dict[tuple[bytes, int], int] = {}
        self._spans: dict[bytes, tuple[int, int]] = {}  # the occurrences of a fingerprint that are known to be or not
        self._found: dict[tuple[bytes, int], int] = {}

    def add(self, fingerprint: bytes, occurrence: int, item: int) -> None:
        """A new item."""
        self._young[fingerprint, occurrence] = item

    def find(self, fingerprint: bytes, occurrence: int) -> int | None:
        """The item of this identity."""
        item = self._young.get((fingerprint, occurrence))
        if item is None:
            low, high = self._spans.get(fingerprint, (0, 0))
            if low <= occurrence < high:
                return self._found.get((fingerprint, occurrence))
            item = self._table.find(fingerprint, occurrence)
        return item

    def foresee(self, spans: dict[bytes, tuple[int, int]]) -> None:
        """Fetch these occurrences, which are asked for next, and forget those of before."""
        rows = self._table.found(spans) if spans else []
        self._spans = spans
        self._found = {(row.fingerprint, row.occurrence): row.item for row in rows}
        self._table.keep(rows)

    def noted(self, items: int) -> None:
        """Items below this ordinal are committed: memory need not know them any more."""
        for identity in [identity for identity, item in self._young.items() if item < items]:
            item = self._young.pop(identity)
            low, high = self._spans.get(identity[0], (0, 0))
            if low <= identity[1] < high:
                self._found[identity] = item

"""The rows of a table as a job's items: read once, when the job is made, because its state shows every one of them."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

from batchwork.core.intake import InputRow, Intake
from batchwork.core.request import Request
from batchwork.manager.quoting import Quoting
from batchwork.tables import RowRequests, Table


class TableRows:
    """One request per row. A row that cannot be asked is an item that fails by itself."""

    ahead = 0  # they are at hand

    def __init__(self, table: Table, requests: RowRequests, quoting: Quoting | None = None) -> None:
        self._rows = list(table.rows())
        self._unit = table.unit
        self._requests = requests
        self._quoting = quoting

    def __len__(self) -> int:
        return len(self._rows)

    def check(self) -> None:
        """Nothing to look for: the rows are at hand."""

    def content(self, index: int) -> Any:
        """The conversation as the state file shows it, or the columns of a row that cannot be asked."""
        taken = self._taken(index)
        if taken.request is None:
            return taken.columns
        return [{"role": turn.role, "content": turn.content} for turn in taken.request.messages]

    def identity(self) -> str:
        """A hash over what is asked about every row, which tells this input from another one."""
        seen = sha256()
        for row in self.rows():
            seen.update(row.fingerprint)
        return seen.hexdigest()

    def rows(self, is_open: Callable[[int], bool] | None = None) -> Iterator[InputRow]:  # noqa: ARG002
        """One request per row."""
        for index in range(len(self)):
            yield self._taken(index)

    def request(self, index: int) -> Request | None:
        """What is asked about a row."""
        return self._taken(index).request

    def _taken(self, index: int) -> Intake:
        taken = self._requests.intake(self._rows[index], self._unit)
        return taken if self._quoting is None else self._quoting.intake(taken)

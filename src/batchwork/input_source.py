"""The input of a run: prompts as they are, or a table with what is asked about each of its rows. Read lazily."""

from collections.abc import Collection, Iterable, Sized
from dataclasses import dataclass

from batchwork.core.errors import ConfigError
from batchwork.core.intake import InputRow, Rows
from batchwork.core.prompt import Defaults, intakes, refuse_one
from batchwork.core.words import PYTHON
from batchwork.options import RunOptions, defaults_of
from batchwork.tables import RowOptions, RowRequests, Table, table_of, template_from


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSource:
    """Rows on their way in."""

    rows: Iterable[InputRow]  # what is all there can be read again
    total: int | None  # how many there are, where that is known
    may_block: bool  # reading the next one may take as long as anything, and is done apart


def input_source(prompts: object, options: RunOptions) -> InputSource:
    """What a run is to read; a ConfigError where it is neither prompts nor a table with a question."""
    defaults = defaults_of(options)
    requests = row_requests(options, defaults)
    if requests is not None:
        table = checked_table(prompts, requests)
        rows = requests.intakes(table) if table.may_block else Rows(lambda: requests.intakes(table))
        return InputSource(rows=rows, total=table.count(), may_block=table.may_block)
    refuse_one(prompts, by_rows=True)
    assert isinstance(prompts, Iterable)
    total = len(prompts) if isinstance(prompts, Sized) else None
    if not isinstance(prompts, Collection):
        return InputSource(rows=intakes(prompts, defaults), total=total, may_block=True)
    return InputSource(rows=Rows(lambda: intakes(prompts, defaults)), total=total, may_block=False)


def row_requests(options: RunOptions, defaults: Defaults) -> RowRequests | None:
    """What is asked about each row of a table; None where the input is no table, but prompts."""
    template = template_from(PYTHON, prompt=options.get("prompt"), template=options.get("template"))
    own = RowOptions(options.get("per_row"))
    if template is not None:
        return RowRequests(template, defaults, own)
    if own:
        raise ConfigError("per_row= goes with a table, and prompt= (or template=) that says what is asked about a row")
    return None


def checked_table(given: object, requests: RowRequests) -> Table:
    """What was handed over as a table that has what is asked for; else ConfigError."""
    table = table_of(given)
    requests.check(table, door=PYTHON)
    return table

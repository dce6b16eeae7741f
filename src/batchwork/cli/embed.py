"""`batchwork embed`: the vectors of the texts in a file, written as Parquet, Arrow or numpy's format."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from batchwork._bridge import run_sync
from batchwork.cli import options
from batchwork.cli.inputs import json_object
from batchwork.cli.run import check_overwrite
from batchwork.core.errors import ConfigError, Interrupted, RunPaused
from batchwork.core.money import NANO, show
from batchwork.core.policy import Policy
from batchwork.core.text_pack import BadText
from batchwork.core.words import command_line, counted
from batchwork.display import Display
from batchwork.embed_run import IN_FLIGHT, EmbedOptions, EmbedRun
from batchwork.embeddings import Embeddings
from batchwork.journal import journal_of_output
from batchwork.journals import write_output
from batchwork.summary import Exit
from batchwork.tables import AnyTemplate, Table, check_columns, open_table, row_texts, template_from

_DEFAULTS = Policy()
_WAYS_OUT: dict[str, Callable[[Embeddings, Path], Path]] = {
    ".parquet": Embeddings.to_parquet,
    ".arrow": Embeddings.to_ipc,
    ".feather": Embeddings.to_ipc,
    ".npy": Embeddings.to_npy,
}
_FAILURES_SHOWN = 5
_TAKEN_HERE = {"options", "mode", "prompt", "template"}


def embed(
    input: options.Input,  # noqa: A002
    model: Annotated[
        str,
        options.question(
            metavar="M", help="PROVIDER:NAME, for example openai:text-embedding-3-small or voyage:voyage-4."
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="OUT", help="Vectors: .parquet, .arrow, .feather or .npy.")
    ],
    column: Annotated[str | None, options.question(metavar="C", help="The column of the text. Default: text.")] = None,
    prompt: Annotated[
        str | None, options.question(metavar="TEXT", help="Several columns in one text: '{title}: {body}'.")
    ] = None,
    template: options.Template = None,
    dimensions: Annotated[int | None, options.question(metavar="N", min=1, help="The length of the vectors.")] = None,
    options_: Annotated[
        str | None,
        options.question("--options", metavar="JSON", help='What else every call has: \'{"input_type": "query"}\'.'),
    ] = None,
    mode: options.ModeOption = options.Mode.LIVE,
    limit: options.Limit = None,
    encoding: options.Encoding = None,
    base_url: options.BaseUrl = None,
    max_cost: options.MaxCost = None,
    price: options.Price = None,
    max_in_flight: options.PacksInFlight = IN_FLIGHT,
    rpm: options.Rpm = None,
    input_tpm: options.InputTpm = None,
    retries: options.Retries = _DEFAULTS.retry.retries,
    timeout: options.Timeout = _DEFAULTS.timeout_s,
    max_wait: options.MaxWait = _DEFAULTS.max_wait_s,
    poll_interval: options.PollInterval = _DEFAULTS.batch.poll_first_s,
    adopt_wait: options.AdoptWait = _DEFAULTS.batch.adopt_wait_s,
    results_wait: options.ResultsWait = _DEFAULTS.batch.results_wait_s,
    journal: options.Journal = None,
    fresh: options.Fresh = False,
    overwrite: options.Overwrite = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", metavar=options.FLAG, help="Send again what failed before.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Embed every text of a file: one vector per row, in input order. A text that is refused fails alone.

    Running it again goes on: a text that has its vector is not sent again, wherever it stands in the file then.

    \b
    Examples:
      batchwork embed texts.jsonl -o vectors.parquet --model openai:text-embedding-3-small
      batchwork embed docs.csv -o vectors.npy --model voyage:voyage-4 --column body --mode batch --max-cost 5
    """
    arguments = locals()
    write = _WAYS_OUT.get(output.suffix.lower())
    if write is None:
        raise ConfigError(f"{output}: the suffix {output.suffix!r} is not known; known are {', '.join(_WAYS_OUT)}")
    journal = arguments["journal"] = journal or journal_of_output(output)
    check_overwrite(output, journal, overwrite=overwrite)
    table = open_table(input, encoding=encoding)
    made_of = template_from(command_line(journal), prompt=prompt, template=template)
    texts = _texts(table, column, made_of, limit)
    names = EmbedOptions.__annotations__.keys() & arguments.keys() - _TAKEN_HERE
    chosen = {name: arguments[name] for name in names}
    chosen |= {"mode": mode.value, "options": json_object(options_, "--options", {"input_type": "query"})}
    display = Display(door=command_line(journal), quiet=quiet)
    run = EmbedRun(texts, cast("EmbedOptions", chosen), on_open=display.opened)
    say = partial(display.say, always=True)
    code = Exit.ALL_SUCCEEDED
    try:
        made = run_sync(run.execute, interrupt=lambda: run.session.interrupt_aloud(say))
    except RunPaused as pause:
        say(str(pause))
        made, code = pause.results, Exit.PAUSED
    except Interrupted:
        say(run.session.how_to_go_on())
        raise typer.Exit(Exit.INTERRUPTED) from None
    finally:
        display.closed()
    with made:
        write_output(journal, output, partial(write, made))
        code = code or _told(made, output, say)
    raise typer.Exit(code)


def _told(made: Embeddings, output: Path, say: Callable[[str], None]) -> Exit:
    """Say what has become of the texts; the exit code."""
    accounting = made.accounting
    cost = "" if made.cost is None else f", {show(int(made.cost * NANO))}"
    say(f"{counted(len(made), 'text')}: {accounting.brief()}{cost}; vectors of {made.dimensions} in {output}")
    if accounting.failed:
        failed = [one for kind in made.failures.values() for one in kind]
        for one in failed[:_FAILURES_SHOWN]:
            say(f"  row {one.index + 1}: {one.error}")
        if len(failed) > _FAILURES_SHOWN:
            say("  ...")
    if accounting.deferred:
        return Exit.BUDGET
    return Exit.SOME_FAILED if accounting.succeeded < accounting.inputs else Exit.ALL_SUCCEEDED


def _column(table: Table, wanted: str | None) -> str:
    first = table.first()
    columns = () if first is None else tuple(first.columns)
    name = wanted or ("text" if "text" in columns or len(columns) != 1 else columns[0])
    if first is not None and table.lacking((name,)):
        raise ConfigError(f"{table.name} has no column {name!r}: state --column, one of {', '.join(table.columns)}")
    return name


def _texts(table: Table, column: str | None, made_of: AnyTemplate | None, limit: int | None) -> Iterator[Any]:
    if made_of is None:
        return _texts_in(table, _column(table, column), limit)
    if column is not None:
        raise ConfigError("--column and --prompt (or --template) exclude each other")
    check_columns(made_of.fields, table)
    return row_texts(table, made_of, limit)


def _texts_in(table: Table, column: str, limit: int | None) -> Iterator[Any]:
    for row in islice(table.rows(), limit):
        if row.problem is not None:
            yield BadText(row.problem)
            continue
        value = row.columns.get(column)
        if value is None:
            yield BadText(f"there is no {column!r}")
        elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            yield str(value)  # a number in a column of texts is meant as it is written
        else:
            yield value

"""The commands and their help: which options each takes, and what it calls."""

import inspect
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

import batchwork
from batchwork.assembly import known_terms, with_kept_limit
from batchwork.cli import journals, options, service
from batchwork.cli import view as viewer
from batchwork.cli.account import account
from batchwork.cli.demo import demo
from batchwork.cli.embed import embed
from batchwork.cli.estimate import Journaled, add_up, lines
from batchwork.cli.inputs import STDOUT, json_object, load_schema, per_row_of, print_json, sampling_of
from batchwork.cli.models import models
from batchwork.cli.run import ResultFile, carry_out, check_results
from batchwork.cli.simulator import simulate
from batchwork.cli.worker import worker
from batchwork.core.errors import ConfigError
from batchwork.core.event import RunInput
from batchwork.core.intake import Rows
from batchwork.core.policy import Policy
from batchwork.core.request import DEFAULT_MAX_TOKENS
from batchwork.core.words import command_line
from batchwork.journal import journal_of_output
from batchwork.journals import is_there, open_reader, output_name
from batchwork.options import RunOptions, defaults_of, plan_of, supplied_of
from batchwork.tables import STDIN, RowOptions, RowRequests, Table, open_table, template_from, total_rows
from batchwork.tables.encoding import checked_encoding


class _Commands(TyperGroup):
    """The commands; --help has no value, and shows none."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name."""
        command = super().get_command(ctx, cmd_name)
        if command is not None and (help_option := command.get_help_option(ctx)) is not None:
            help_option.metavar = options.FLAG
        return command


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Run very many language-model calls: none lost, none paid for twice, never over budget, answers in order.",
    epilog="Exit codes: 0 all succeeded, 1 some failed or were never asked, 2 bad arguments or input,"
    " 3 stopped by the budget, 4 paused, 130 interrupted. Running the same command again goes on where it stopped."
    " In bash, zsh and fish, batchwork --install-completion once, and the Tab key completes commands and options.",
)
app.command()(service.serve), app.command()(service.ask)
_DEFAULTS = Policy()


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"batchwork {batchwork.__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            metavar=options.FLAG,
            is_eager=True,
            callback=_show_version,
            help="Print the version and end.",
        ),
    ] = False,
) -> None:
    pass


@app.command()
def run(
    input: options.Input,  # noqa: A002
    model: options.Model,
    output: options.Out,
    prompt: options.Prompt = None,
    prompt_file: options.PromptFile = None,
    template: options.Template = None,
    per_row: options.PerRow = None,
    system: options.System = None,
    schema: options.SchemaFile = None,
    max_tokens: options.MaxTokens = DEFAULT_MAX_TOKENS,
    temperature: options.Temperature = None,
    sampling: options.Sampling = None,
    extra_body: options.ExtraBody = None,
    mode: options.ModeOption = options.Mode.LIVE,
    reask: options.Reask = _DEFAULTS.reasks,
    limit: options.Limit = None,
    encoding: options.Encoding = None,
    base_url: options.BaseUrl = None,
    max_cost: options.MaxCost = None,
    account: options.Account = None,
    price: options.Price = None,
    max_in_flight: options.MaybeInFlight = None,
    processes: options.Processes = 1,
    rpm: options.Rpm = None,
    input_tpm: options.InputTpm = None,
    output_tpm: options.OutputTpm = None,
    retries: options.Retries = _DEFAULTS.retry.retries,
    timeout: options.Timeout = _DEFAULTS.timeout_s,
    max_wait: options.MaxWait = _DEFAULTS.max_wait_s,
    poll_interval: options.PollInterval = _DEFAULTS.batch.poll_first_s,
    adopt_wait: options.AdoptWait = _DEFAULTS.batch.adopt_wait_s,
    results_wait: options.ResultsWait = _DEFAULTS.batch.results_wait_s,
    journal: options.Journal = None,
    fresh: options.Fresh = False,
    overwrite: options.Overwrite = False,
    csv_safe: options.CsvSafe = False,
    notify: options.Notify = None,
    view: options.View = False,
    quiet: options.Quiet = False,
) -> None:
    """Ask a model about every row of a file; one output row per input row, in input order.

    Running it again goes on: rows that are settled are not sent again, new and changed ones are.

    \b
    Examples:
      batchwork run rivers.jsonl -o out.jsonl --model mock:echo
      batchwork run rivers.csv -o out.csv --model mock:echo --prompt 'Summarise: {text}' --max-cost 5 --price 0.1,0.5
      cat rows.jsonl | batchwork run - -o out.parquet --model mock:echo --prompt-file ask.txt
      cat rows.jsonl | batchwork run - -o - --journal rows.journal.db --model mock:echo | jq .response
    """
    arguments = locals()
    if journal is None and output == STDOUT:
        raise ConfigError("-o - needs a file that remembers the run, for example --journal run.journal.db")
    journal = arguments["journal"] = journal or journal_of_output(output)
    plan_options = _run_options(arguments)
    table = open_table(input, encoding=encoding)
    requests = _requests(arguments, plan_options, table)
    if input != STDIN and output != STDOUT and output.resolve() == Path(input).resolve():
        raise ConfigError("IN and OUT are the same file")
    plan = plan_of(plan_options)
    check_results(output, journal, overwrite=overwrite)
    known = total_rows(input, encoding=encoding)
    given = RunInput(
        total=known if known is None or limit is None else min(known, limit),
        source=input,
        output=None if output == STDOUT else output_name(output, journal),
    )
    code = carry_out(
        plan,
        requests.intakes(table, limit) if input == STDIN else Rows(lambda: requests.intakes(table, limit)),
        results=ResultFile(
            path=output,
            columns=() if input == STDIN else table.columns,
            csv_safe=csv_safe,
            replaces=overwrite,
            limit=limit,
        ),
        door=command_line(journal),
        quiet=quiet,
        apart=input == STDIN,
        processes=processes,
        supplied=replace(supplied_of(plan_options), input=given),
    )
    raise typer.Exit(code)


def _with_arguments_of_run(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the arguments of `run`, so that one word on the command line can be exchanged."""
    signature = inspect.signature(run, eval_str=True)
    changed = {"output": options.MaybeOut, "notify": options.HiddenNotify}
    parameters = [
        p.replace(annotation=changed.get(p.name, p.annotation), default=None if p.name in changed else p.default)
        for p in signature.parameters.values()
    ]
    parameters.sort(key=lambda p: p.default is not inspect.Parameter.empty)
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": None}
    return command


@app.command()
@_with_arguments_of_run
def estimate(**arguments: Any) -> None:
    """What `batchwork run` with the same arguments would need: items, tokens, cost, time. Sends nothing.

    What the journal beside OUT (or --journal) has settled already is not counted again.

    \b
    Examples:
      batchwork estimate rivers.jsonl --model mock:echo --price 0.1,0.5 --max-tokens 200 --rpm 1000
    """
    table = open_table(arguments["input"], encoding=arguments["encoding"])
    plan_options = _run_options(arguments)
    requests = _requests(arguments, plan_options, table)
    plan = plan_of(plan_options)
    output = arguments["output"]
    path = plan.journal or (None if output in (None, STDOUT) else journal_of_output(output))
    plan = with_kept_limit(replace(plan, journal=path))
    terms = known_terms(plan)
    with ExitStack() as stack:
        known = None
        if path is not None and not plan.fresh and is_there(path):
            known = Journaled(stack.enter_context(closing(open_reader(path, pinned=True))))
        rows = requests.intakes(table, arguments["limit"])
        sums = add_up(rows, terms, known, ceiling_nano=plan.policy.max_cost_nano)
    print(*lines(sums, plan, terms, known), sep="\n")


def _requests(arguments: dict[str, Any], run_options: RunOptions, table: Table) -> RowRequests:
    """What is asked about each row, checked against the table."""
    ways = {name: arguments[name] for name in ("prompt", "prompt_file", "template")}
    door = command_line("")
    template = template_from(door, **ways)
    requests = RowRequests(template, defaults_of(run_options), RowOptions(run_options.get("per_row")))
    requests.check(table, door=door)
    return requests


def _run_options(arguments: dict[str, Any]) -> RunOptions:
    """Of everything on a command line, what a run takes."""
    chosen = {name: arguments[name] for name in RunOptions.__annotations__ if name in arguments}
    parsed = {
        "schema": load_schema(arguments["schema"]),
        "mode": arguments["mode"].value,
        "sampling": sampling_of(arguments["temperature"], arguments["sampling"]),
        "extra_body": json_object(arguments["extra_body"], "--extra-body", {"service_tier": "flex"}),
        "per_row": per_row_of(arguments["per_row"]),
    }
    return cast("RunOptions", chosen | parsed)


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
def bench(context: typer.Context) -> None:
    """Compare ways of asking a model about numbers: `batchwork bench --help` lists the options.

    \b
    Examples:
      batchwork bench --mock --no-viz
      batchwork bench --backend claude-code --quick --parallel
    """
    from batchwork.benchmarks.run_benchmark import main  # noqa: PLC0415 - what it needs is an extra

    raise typer.Exit(main(context.args))


@app.command()
def describe(
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="A CSV file with a header.")],
    column: Annotated[str | None, typer.Option(metavar="C", help="Only this column.")] = None,
    encoding: Annotated[str | None, typer.Option(metavar="E", help="How its text is written. Default: UTF-8.")] = None,
    as_json: Annotated[bool, typer.Option("--json", metavar=options.FLAG, help="Every number, as JSON.")] = False,
    plot: Annotated[Path | None, typer.Option(metavar="OUT.png", help="Also draw it.")] = None,
) -> None:
    """Describe the numbers in a file in a few true words: level, spread, trend, season, steps, odd points.

    Every column of numbers, and which of them go together; a column of times gives the time of the others.

    \b
    Examples:
      batchwork describe flow.csv
      batchwork describe flow.csv --column level --json --plot flow.png
    """
    try:
        from batchwork import frame  # noqa: PLC0415
        from batchwork.frame.table import render_table  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError("describing numbers needs numpy and scipy: pip install 'batchwork[frame]'") from error
    try:
        if column is None and plot is None:
            table = frame.describe_dataframe(file, "full", encoding=checked_encoding(encoding))
            if len(table.columns) > 1 or (table.columns and (table.skipped or table.set_aside)):
                print_json(table.as_dict()) if as_json else print(render_table(table))
                return
        described = frame.describe_file(file, column, encoding=checked_encoding(encoding))
        if column is None and plot is not None and described.others:
            raise ConfigError(
                f"say which column to draw: --column {described.column}, or {', '.join(described.others)}"
            )
        if plot is not None:
            frame.plot(described.values, plot, description=described.description, title=described.column)
    except (frame.FrameError, OSError) as error:
        raise ConfigError(str(error).replace("encoding='cp1252'", "--encoding cp1252")) from error
    print_json(described.description.as_dict()) if as_json else print(frame.render(described.description))


app.add_typer(account, name="account")
for _command in (embed, *journals.COMMANDS, worker, models, viewer.view, simulate, demo):
    app.command()(_command)

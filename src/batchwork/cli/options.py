"""The options that commands share, named once."""

from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from batchwork.core.dsn import Dsn, JournalAddress
from batchwork.core.errors import ConfigError
from batchwork.journals import named_journal
from batchwork.settings import BASE_URL, JOURNAL

FLAG = " "  # has no value, and shows none
question = partial(typer.Option, rich_help_panel="What is asked")
limit = partial(typer.Option, rich_help_panel="How much, how fast")
_file = partial(typer.Option, rich_help_panel="Files")
_batch = partial(typer.Option, rich_help_panel="With --mode batch")


class Mode(Enum):
    """How calls are made."""

    LIVE = "live"
    BATCH = "batch"


Input = Annotated[str, typer.Argument(metavar="IN", help="JSONL, CSV, TSV or Parquet by suffix; - is JSONL on stdin.")]


_A_JOURNAL = "The journal of a run, its output file, or a BatchManager's state file."
_OR_DATABASE = "Or postgresql://HOST/DB?journal=NAME."


def _named(context: typer.Context, parameter: typer.CallbackParam, given: str | None) -> JournalAddress | None:
    """The journal that a command line or the environment names."""
    if given is None:
        return None
    source = context.get_parameter_source(parameter.name or "")
    address = named_journal(given)
    return address if source is not None and source.name == "ENVIRONMENT" else without_password(address)


def without_password(address: JournalAddress) -> JournalAddress:
    """An address from a command line; a ConfigError when everybody on the machine can read its password there."""
    if isinstance(address, Dsn) and address.has_password:
        raise ConfigError(
            "everybody on this machine can read a password in a command line: put the address into the variable"
            f" {JOURNAL} and leave it out here, or the password into ~/.pgpass, PGPASSWORD or a service file"
        )
    return address


if TYPE_CHECKING:  # what a command gets, and how typer is told of it
    RunJournalFile: TypeAlias = JournalAddress
    JournalFile: TypeAlias = JournalAddress
    Journal: TypeAlias = JournalAddress | None
else:
    _journal = partial(typer.Argument, metavar="JOURNAL", envvar=JOURNAL, show_envvar=False, callback=_named)
    RunJournalFile = Annotated[str, _journal(help=f"The journal of a run, or its output file. {_OR_DATABASE}")]
    JournalFile = Annotated[str, _journal(help=f"{_A_JOURNAL} {_OR_DATABASE}")]
    Journal = Annotated[
        str | None,
        _file(
            metavar="PATH|DSN",
            envvar=JOURNAL,
            show_envvar=False,
            help=f"Remembers the run. Default: OUT.journal.db. {_OR_DATABASE}",
            callback=_named,
        ),
    ]
_out = _file("-o", "--output", metavar="OUT", help="Results: .jsonl, .csv, .tsv or .parquet; - is JSONL on stdout.")
Out = Annotated[Path, _out]
MaybeOut = Annotated[Path | None, _out]
Encoding = Annotated[
    str | None, _file(metavar="E", help="How the text of IN is written: cp1252, utf-16, shift_jis ... Default: UTF-8.")
]
AsJson = Annotated[bool, typer.Option("--json", metavar=FLAG, help="As JSON.")]
Fresh = Annotated[bool, _file("--fresh", metavar=FLAG, help="Set an old journal aside and start anew.")]
Overwrite = Annotated[bool, _file("--overwrite", metavar=FLAG, help="Replace an OUT that this journal did not write.")]
CsvSafe = Annotated[
    bool, _file("--csv-safe", metavar=FLAG, help="Put ' before cells that a spreadsheet takes for a formula.")
]
Model = Annotated[str, question(metavar="M", help="BACKEND:NAME, for example mock:echo.")]
Prompt = Annotated[
    str | None, question(metavar="TEXT", help="Template; {column} is filled in. Default: the column prompt.")
]
PromptFile = Annotated[Path | None, question(metavar="T", help="The template in a file.")]
Template = Annotated[Path | None, question(metavar="T.j2", help="A Jinja template in a file, instead of --prompt.")]
PerRow = Annotated[
    list[str] | None,
    question(
        metavar="OPTION=COLUMN",
        help="A column that holds a row's own system, max_tokens, temperature ... May be given several times.",
    ),
]
System = Annotated[str | None, question(metavar="TEXT", help="The system prompt.")]
SchemaFile = Annotated[Path | None, question(metavar="S.json", help="JSON schema every answer must satisfy.")]
MaxTokens = Annotated[int, question(metavar="N", help="The longest answer in tokens; what is longer is cut off.")]
Temperature = Annotated[
    str | None,
    question(metavar="T", help="How freely the model chooses its words; short for --sampling temperature=T."),
]
Sampling = Annotated[
    list[str] | None,
    question(metavar="K=V", help="A sampling parameter, its value in JSON: top_p=0.9. May be given several times."),
]
ExtraBody = Annotated[
    str | None,
    question(metavar="JSON", help='What else goes into the body of every call: \'{"service_tier": "flex"}\'.'),
]
Reask = Annotated[int, question(metavar="N", help="Ask again so often when an answer breaks the schema.")]
Limit = Annotated[int | None, question(metavar="N", min=0, help="Only the first N rows.")]
View = Annotated[bool, typer.Option("--view", metavar=FLAG, help="Show the run in a browser page while it goes on.")]
_base_url = partial(question, metavar="URL", help="Another server that speaks the backend's protocol.")
BaseUrl = Annotated[str | None, _base_url()]
WorkerBaseUrl = Annotated[str | None, _base_url(envvar=BASE_URL, show_envvar=False)]
MaxCost = Annotated[
    float | None,
    limit(metavar="USD", help="Never spend more, over all runs on the journal; it holds until another one is given."),
]
Processes = Annotated[
    int,
    limit(metavar="N", min=1, help="Work with N processes of this machine; needs --journal postgresql://..."),
]
Account = Annotated[
    list[str] | None,
    limit(
        metavar="NAME",
        help="A shared account whose budget and rates hold, too (`batchwork account`). May be given several times.",
    ),
]
Price = Annotated[str | None, limit(metavar="IN,OUT", help="Dollars per million tokens, when not known.")]
MaybeInFlight = Annotated[
    int | None,
    limit("--max-in-flight", metavar="N", help="The most calls at once. Default: 100, or what suits the backend."),
]
PacksInFlight = Annotated[
    int, limit("--max-in-flight", metavar="N", help="The most calls at once, each with a pack of texts.")
]
Rpm = Annotated[float | None, limit(metavar="N", help="Requests per minute.")]
InputTpm = Annotated[float | None, limit(metavar="N", help="Input tokens per minute.")]
OutputTpm = Annotated[float | None, limit(metavar="N", help="Output tokens per minute.")]
Retries = Annotated[
    int,
    limit(
        metavar="N",
        help="Tries after a failed one (500, timeout, cut connection); turned away (429, 503, 529) does not count.",
    ),
]
Timeout = Annotated[float, limit(metavar="S", help="Seconds for one call.")]
_max_wait = limit(
    "--max-wait",
    metavar="S",
    help="Wait at most so long for a quota to end, and for an item that is turned away (429, 503, 529).",
)
MaxWait = Annotated[float, _max_wait]
MaybeMaxWait = Annotated[float | None, _max_wait]
PollInterval = Annotated[float, _batch(metavar="S", help="Look at a batch first after so long; then ever less often.")]
AdoptWait = Annotated[
    float,
    _batch(metavar="S", help="Look so long for a batch whose creation got no clear answer before it is sent again."),
]
ResultsWait = Annotated[
    float,
    _batch(
        metavar="S",
        help="Results of an ended batch that stay unreadable for so long are lost; `retry` asks for them once more.",
    ),
]
_notify = partial(
    typer.Option,
    metavar="URL|COMMAND",
    help="Gets a JSON notice at the end, at a pause, at 50, 80, 100% of --max-cost: by POST, or a program on its"
    " stdin, with the text as its argument ($1 in a longer command).",
)
Notify = Annotated[str | None, _notify()]
HiddenNotify = Annotated[str | None, _notify("--notify", hidden=True)]  # taken, where it has no meaning
Quiet = Annotated[bool, typer.Option("--quiet", "-q", metavar=FLAG, help="No progress.")]
ModeOption = Annotated[Mode, question("--mode", help="batch: the provider's batches, half the price, within a day.")]

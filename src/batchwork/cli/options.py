"""The options that commands share, named once."""

from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from batchwork.manager.state_file import journal_beside

_question = partial(typer.Option, rich_help_panel="What is asked")
_limit = partial(typer.Option, rich_help_panel="How much, how fast")
_file = partial(typer.Option, rich_help_panel="Files")
_batch = partial(typer.Option, rich_help_panel="With --mode batch")


class Mode(Enum):
    """How calls are made."""

    LIVE = "live"
    BATCH = "batch"


Input = Annotated[str, typer.Argument(metavar="IN", help="JSONL, CSV, TSV or Parquet by suffix; - is JSONL on stdin.")]


def _journal_of(path: Path) -> Path:
    """A journal; whoever names the state file of a BatchManager means the journal beside it."""
    beside = journal_beside(path)
    return beside if path.suffix == ".json" and beside.exists() else path


JournalFile = Annotated[
    Path,
    typer.Argument(
        metavar="JOURNAL", help="The journal of a run, or a BatchManager's state file.", callback=_journal_of
    ),
]
_out = _file("-o", "--output", metavar="OUT", help="Results: .jsonl, .csv, .tsv or .parquet.")
Out = Annotated[Path, _out]
MaybeOut = Annotated[Path | None, _out]
Journal = Annotated[Path | None, _file(metavar="PATH", help="Remembers the run. Default: OUT.journal.db.")]
Fresh = Annotated[bool, _file("--fresh", help="Set an old journal aside and start anew.")]
Overwrite = Annotated[bool, _file("--overwrite", help="Replace an OUT that this journal did not write.")]
CsvSafe = Annotated[bool, _file("--csv-safe", help="Put ' before cells that a spreadsheet takes for a formula.")]
Model = Annotated[str, _question(metavar="M", help="BACKEND:NAME, for example mock:echo.")]
Prompt = Annotated[
    str | None, _question(metavar="TEXT", help="Template; {column} is filled in. Default: the column prompt.")
]
PromptFile = Annotated[Path | None, _question(metavar="T", help="The template in a file.")]
System = Annotated[str | None, _question(metavar="TEXT", help="The system prompt.")]
SchemaFile = Annotated[Path | None, _question(metavar="S.json", help="JSON schema every answer must satisfy.")]
MaxTokens = Annotated[int, _question(metavar="N", help="The longest answer.")]
Reask = Annotated[int, _question(metavar="N", help="Ask again so often when an answer breaks the schema.")]
Limit = Annotated[int | None, _question(metavar="N", min=1, help="Only the first N rows.")]
BaseUrl = Annotated[str | None, _question(metavar="URL", help="Another server that speaks the backend's protocol.")]
MaxCost = Annotated[float | None, _limit(metavar="USD", help="Never spend more, over all runs on the journal.")]
Price = Annotated[str | None, _limit(metavar="IN,OUT", help="Dollars per million tokens, when not known.")]
MaybeInFlight = Annotated[
    int | None,
    _limit("--max-in-flight", metavar="N", help="The most calls at once. Default: 100, or what suits the backend."),
]
Rpm = Annotated[float | None, _limit(metavar="N", help="Requests per minute.")]
InputTpm = Annotated[float | None, _limit(metavar="N", help="Input tokens per minute.")]
OutputTpm = Annotated[float | None, _limit(metavar="N", help="Output tokens per minute.")]
Retries = Annotated[
    int,
    _limit(
        metavar="N",
        help="Tries after a failed one (500, timeout, cut connection). Refusals (429, 503, 529) do not count.",
    ),
]
Timeout = Annotated[float, _limit(metavar="S", help="Seconds for one call.")]
MaxWait = Annotated[
    float,
    _limit(
        metavar="S", help="Wait at most so long for a quota to end, and for an item that is refused (429, 503, 529)."
    ),
]
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
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
ModeOption = Annotated[Mode, _question("--mode", help="batch: the provider's batches, half the price, within a day.")]

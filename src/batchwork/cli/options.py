"""The options that commands share, named once."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from batchwork.manager.state_file import journal_beside

_RUN, _LIMITS, _FILES = "What is asked", "How much, how fast", "Files"
_BATCHES = "With --mode batch"


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
Out = Annotated[
    Path,
    typer.Option(
        "-o", "--output", metavar="OUT", help="Results: .jsonl, .csv, .tsv or .parquet.", rich_help_panel=_FILES
    ),
]
MaybeOut = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="OUT", help="Results: .jsonl, .csv, .tsv or .parquet.", rich_help_panel=_FILES
    ),
]
Journal = Annotated[
    Path | None,
    typer.Option(metavar="PATH", help="Remembers the run. Default: OUT.journal.db.", rich_help_panel=_FILES),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Set an old journal aside and start anew.", rich_help_panel=_FILES)
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace an OUT that this journal did not write.", rich_help_panel=_FILES)
]
CsvSafe = Annotated[
    bool,
    typer.Option(
        "--csv-safe", help="Put ' before cells that a spreadsheet takes for a formula.", rich_help_panel=_FILES
    ),
]
Model = Annotated[str, typer.Option(metavar="M", help="BACKEND:NAME, for example mock:echo.", rich_help_panel=_RUN)]
Prompt = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", help="Template; {column} is filled in. Default: the column prompt.", rich_help_panel=_RUN
    ),
]
PromptFile = Annotated[Path | None, typer.Option(metavar="T", help="The template in a file.", rich_help_panel=_RUN)]
System = Annotated[str | None, typer.Option(metavar="TEXT", help="The system prompt.", rich_help_panel=_RUN)]
SchemaFile = Annotated[
    Path | None, typer.Option(metavar="S.json", help="JSON schema every answer must satisfy.", rich_help_panel=_RUN)
]
MaxTokens = Annotated[int, typer.Option(metavar="N", help="The longest answer.", rich_help_panel=_RUN)]
Reask = Annotated[
    int, typer.Option(metavar="N", help="Ask again so often when an answer breaks the schema.", rich_help_panel=_RUN)
]
Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Only the first N rows.", rich_help_panel=_RUN)]
BaseUrl = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Another server that speaks the backend's protocol.", rich_help_panel=_RUN),
]
MaxCost = Annotated[
    float | None,
    typer.Option(metavar="USD", help="Never spend more, over all runs on the journal.", rich_help_panel=_LIMITS),
]
Price = Annotated[
    str | None,
    typer.Option(metavar="IN,OUT", help="Dollars per million tokens, when not known.", rich_help_panel=_LIMITS),
]
MaxInFlight = Annotated[int, typer.Option(metavar="N", help="The most calls at once.", rich_help_panel=_LIMITS)]
MaybeInFlight = Annotated[
    int | None,
    typer.Option(
        "--max-in-flight",
        metavar="N",
        help="The most calls at once. Default: 100, or what suits the backend.",
        rich_help_panel=_LIMITS,
    ),
]
Rpm = Annotated[float | None, typer.Option(metavar="N", help="Requests per minute.", rich_help_panel=_LIMITS)]
InputTpm = Annotated[float | None, typer.Option(metavar="N", help="Input tokens per minute.", rich_help_panel=_LIMITS)]
OutputTpm = Annotated[
    float | None, typer.Option(metavar="N", help="Output tokens per minute.", rich_help_panel=_LIMITS)
]
Retries = Annotated[int, typer.Option(metavar="N", help="Tries after a failed one.", rich_help_panel=_LIMITS)]
Timeout = Annotated[float, typer.Option(metavar="S", help="Seconds for one call.", rich_help_panel=_LIMITS)]
MaxWait = Annotated[
    float, typer.Option(metavar="S", help="Wait at most so long for a quota to end.", rich_help_panel=_LIMITS)
]
PollInterval = Annotated[
    float,
    typer.Option(
        metavar="S", help="Look at a batch first after so long; then ever less often.", rich_help_panel=_BATCHES
    ),
]
AdoptWait = Annotated[
    float,
    typer.Option(
        metavar="S",
        help="Look so long for a batch whose creation got no clear answer before it is sent again.",
        rich_help_panel=_BATCHES,
    ),
]
ResultsWait = Annotated[
    float,
    typer.Option(
        metavar="S",
        help="Results of an ended batch that stay unreadable for so long are lost; `retry` asks for them once more.",
        rich_help_panel=_BATCHES,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
ModeOption = Annotated[
    Mode,
    typer.Option("--mode", help="batch: the provider's batches, half the price, within a day.", rich_help_panel=_RUN),
]

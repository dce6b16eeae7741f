"""The command `view`: pages over a journal, while a run goes on and after it, or one file of them."""

import sys
from pathlib import Path
from tempfile import gettempdir
from typing import Annotated

import typer

from batchwork.cli import options
from batchwork.core.errors import ConfigError
from batchwork.settings import Settings


def view(
    journal: options.JournalFile,
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="0 takes a free one.")] = 0,
    opens: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    export: Annotated[
        Path | None, typer.Option(metavar="REPORT.html", help="Write one file to send to somebody, and end.")
    ] = None,
    with_input: Annotated[bool, typer.Option("--with-input", hidden=True)] = False,
) -> None:
    """Look into a run in a browser: progress, items, every call; also while it goes on. On this machine only.

    \\b
    Examples:
      batchwork view out.jsonl --open
      batchwork view state.json --port 8700
      batchwork view out.jsonl.journal.db --export report.html
    """
    try:
        from batchwork.view.export import write_report  # noqa: PLC0415 - what it needs is an extra
        from batchwork.view.server import serve_view  # noqa: PLC0415
    except ImportError as error:
        raise ConfigError(f"the viewer needs {error.name}: pip install 'batchwork[view]'") from error
    cache = Settings.from_environment().cache_dir or Path(gettempdir()) / "batchwork"
    if export is not None:
        print(write_report(journal, cache, export, say=lambda text: print(text, file=sys.stderr)))
        return

    def say(url: str) -> None:
        print(f"looking at {journal}; Ctrl-C ends it", file=sys.stderr)
        print(url, flush=True)

    serve_view(journal, cache, port=port, opens=opens, until_input_ends=with_input, say=say)

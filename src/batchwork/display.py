"""Show a run while it goes on: live on a terminal, a plain line every few seconds elsewhere, nothing when quiet."""

from __future__ import annotations

import asyncio
import sys
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from batchwork.engine.engine import Engine
from batchwork.progress import Snapshot, line, snapshot

_LIVE_EVERY_S = 0.2
_PLAIN_EVERY_S = 5.0


class Display:
    """Watches one run. Everything goes to standard error: standard output is for results."""

    def __init__(self, *, quiet: bool, total: int | None) -> None:
        self._total = total
        self._console = Console(stderr=True, quiet=quiet, highlight=False)
        self._live: Live | None = None
        if not quiet and self._console.is_terminal:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._quiet = quiet
        self._task: asyncio.Task[None] | None = None

    def __enter__(self) -> Display:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def watch(self, engine: Engine) -> None:
        """Begin to show this run; called inside its loop."""
        engine.tally.total = self._total
        for notice in _notices(engine):
            self.say(notice)
        if not self._quiet:
            self._task = asyncio.create_task(self._show(engine))

    def say(self, text: str, *, always: bool = False) -> None:
        """One line for the user; quiet means no progress, not that a failure goes unexplained."""
        if not self._quiet:
            self._console.print(Text(text), soft_wrap=True)
        elif always:
            print(text, file=sys.stderr, flush=True)

    async def _show(self, engine: Engine) -> None:
        started = engine.clock.now()
        while True:
            await engine.clock.sleep(_LIVE_EVERY_S if self._live is not None else _PLAIN_EVERY_S)
            now = engine.clock.now()
            seen = snapshot(
                engine.tally,
                elapsed_s=now - started,
                now=now,
                ceiling_nano=engine.gate.ledger.ceiling,
                priced=engine.price is not None,
            )
            if self._live is not None:
                self._live.update(_picture(seen), refresh=True)
            else:
                print(line(seen), file=sys.stderr, flush=True)


def _picture(seen: Snapshot) -> Table:
    picture = Table.grid()
    picture.add_row(ProgressBar(total=seen.total or None, completed=seen.done, pulse=seen.total is None, width=60))
    picture.add_row(Text(line(seen)))
    return picture


def _notices(engine: Engine) -> list[str]:
    said = []
    if engine.backend.traits.notice:
        said.append(engine.backend.traits.notice)
    if engine.price is None:
        said.append(
            f"the price of {engine.plan.model} is not known: cost is shown as unknown, and calls that a kill cuts off"
            " are sent again without being booked (state it with --price)"
        )
    elif engine.price.is_free and engine.plan.price is None:
        said.append(f"{engine.plan.model} costs nothing")
    if engine.standing.recovered:
        said.append(
            f"{engine.standing.recovered} calls were cut off by an earlier crash: booked at their worst case as"
            " unconfirmed, and sent again"
        )
    return said

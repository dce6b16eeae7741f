"""Show a run while it goes on: redrawn in place on a terminal or in a notebook, printed now and then elsewhere."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from batchwork.core.event import Event
from batchwork.core.outcome import Status
from batchwork.core.words import PYTHON, Door, counted
from batchwork.engine.engine import Engine
from batchwork.notebook import NotebookBar, in_notebook
from batchwork.progress import Snapshot, lines, snapshot
from batchwork.summary import Exit, Summary, wrapped

_LIVE_EVERY_S = 0.2
_PLAIN_EVERY_S = 5.0


class Display:
    """Shows one run from `opened`, which is called inside its loop, to `closed`.

    The line of a run is on standard error, because standard output is for results, and goes when the run ends. The
    five lines of a manager are on standard output and stay; `jobs` completes what is known of the run for them. In a
    notebook both are a bar in the output of the cell, and stay. Quiet, nothing is shown.
    """

    def __init__(
        self,
        *,
        door: Door = PYTHON,
        quiet: bool = False,
        is_retry: bool = False,
        jobs: Callable[[Snapshot], Snapshot] | None = None,
    ) -> None:
        self._door = door
        self._is_retry = is_retry
        self._quiet = quiet
        self._jobs = jobs
        self._out = sys.stderr if jobs is None else sys.stdout
        self._console = Console(file=self._out, force_terminal=self._out.isatty(), quiet=quiet, highlight=False)
        self._live: Live | None = None
        self._bar = NotebookBar() if in_notebook() and not quiet else None
        if not quiet and self._bar is None and self._console.is_terminal and not self._console.is_dumb_terminal:
            # What the user's own code prints into a file or a pipe is no part of the picture.
            on_screen = sys.stdout.isatty()
            self._live = Live(
                console=self._console, auto_refresh=False, transient=jobs is None, redirect_stdout=on_screen
            )
        self._engine: Engine | None = None
        self._cancel: Callable[[], None] = lambda: None

    def opened(self, engine: Engine) -> None:
        """Begin to show this run; one that has helped another and goes on by itself is shown anew."""
        self._cancel()
        self._engine = engine
        for notice in _notices(engine, self._door):
            self.say(notice)
        counts = engine.journal.counts()
        if engine.is_helper:
            self.say("joined: another process reads the input, and this one works on it, too")
        elif not self._is_retry and (done := counts[Status.SUCCEEDED] + counts[Status.FAILED]):
            settled = counted(done, "item")
            self.say(
                f"resumed: the journal has {settled} that earlier runs have settled; what this input asks of them is"
                " not sent again"
            )
        if self._live is not None:
            self._live.start()
        if self._jobs is not None:
            self._show(engine)
        if not self._quiet:
            self._show_later(engine)

    def heard(self, event: Event) -> None:
        """Nothing to do: the run is looked at now and then."""

    def closed(self) -> None:
        """Show how a manager's run ended; the line of any other goes."""
        self._cancel()
        engine = self._engine
        if engine is not None and (self._jobs is not None or (self._bar and engine.tally.elapsed_s is not None)):
            self._show(engine)
        if self._live is not None:
            self._live.stop()

    def say(self, text: str, *, always: bool = False) -> None:
        """One line for the user; quiet means no progress, not that a failure goes unexplained."""
        if self._bar is not None:
            self._bar.note(text)
        elif not self._quiet:
            self._console.print(Text(text), soft_wrap=True)
        elif always:
            print(text, file=self._out, flush=True)

    def end(self, summary: Summary, *, verdict: bool = True) -> None:
        """Say what the run came to; without its `verdict` where an exception says that."""
        is_bad = summary.code != Exit.ALL_SUCCEEDED
        width = self._console.width if self._live is not None else None
        tally, run = None if self._engine is None else self._engine.tally, "this run"
        if tally is not None and any(tally.elsewhere.values()):  # the journal has no figures of one process alone
            summary, run = replace(summary, figures=tally.figures(tally.elapsed_s or 0.0)), "own part"
        for text in summary.lines(run=run):
            self.say(wrapped(text, width), always=is_bad)
        if verdict:
            self.say(wrapped(summary.verdict, width, indent=""), always=is_bad)

    def _show_later(self, engine: Engine) -> None:
        def show() -> None:
            self._show(engine)
            self._show_later(engine)

        self._cancel = engine.clock.call_later(
            _PLAIN_EVERY_S if self._live is None and self._bar is None else _LIVE_EVERY_S, show
        )

    def _show(self, engine: Engine) -> None:
        tally = engine.tally
        # A run that has ended may be shown outside of its loop, whose clock is then none.
        now = engine.clock.now() if tally.elapsed_s is None else tally.started_at + tally.elapsed_s
        seen = snapshot(
            tally,
            elapsed_s=now - tally.started_at,
            now=now,
            ceiling_nano=engine.policy.max_cost_nano,
            priced=engine.price is not None,
            held_back=engine.gate.held_back,
        )
        seen = seen if self._jobs is None else self._jobs(seen)
        if self._bar is not None:
            self._bar.show(seen.done, seen.total, lines(seen))
        elif self._live is not None:
            self._live.update(_picture(seen), refresh=True)
        else:
            print(*lines(seen), sep="\n", file=self._out, flush=True)


def _picture(seen: Snapshot) -> Table:
    picture = Table.grid()
    if seen.jobs is None:
        picture.add_row(
            ProgressBar(
                total=seen.total or None,
                completed=seen.done,
                pulse=seen.total is None,
                width=60,
                complete_style="cyan",  # what rich takes by itself is red
                pulse_style="cyan",
            )
        )
    for text in lines(seen):
        picture.add_row(Text(text))
    return picture


def _notices(engine: Engine, door: Door) -> Iterator[str]:
    if engine.backend.traits.notice:
        yield engine.backend.traits.notice
    if door.is_command and engine.plan.mode == "batch" and not engine.uses_batches:
        yield f"{engine.plan.model} has no batches: every row is a live call, at the live price"
    if engine.price is None:
        yield (
            f"the price of {engine.plan.model} is not known: cost is shown as unknown, and calls that a kill cuts off"
            f" are sent again without being booked (state it with {door['price']})"
        )
    elif engine.price.is_free and engine.plan.price is None:
        yield f"{engine.plan.model} costs nothing"
    if engine.standing.recovered:
        calls = counted(engine.standing.recovered, "call was", "calls were")
        yield f"{calls} cut off when an earlier run was killed: booked at the worst case as unconfirmed"

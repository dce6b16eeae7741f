"""Show a manager's progress while it runs: five lines, in place on a terminal, now and then elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TextIO

from batchwork.core.event import Event
from batchwork.core.ports import Clock
from batchwork.engine.engine import Engine
from batchwork.manager.state_file import COMPLETED, FAILED, PROCESSING, StateView
from batchwork.progress import Jobs, five_lines

_ON_A_TERMINAL_S = 0.5
_ELSEWHERE_S = 10.0


class Progress:
    """Watches one run and prints it."""

    def __init__(self, view: StateView, out: TextIO | None = None) -> None:
        self._view = view
        self._out = out or sys.stdout
        self._live = self._out.isatty()
        self._clock: Clock | None = None
        self._engine: Engine | None = None
        self._started = 0.0
        self._done_before = 0
        self._shown = False
        self._stop: Callable[[], None] = lambda: None

    def opened(self, engine: Engine) -> None:
        """Begin."""
        self._engine, self._clock = engine, engine.clock
        self._started = engine.clock.now()
        self._done_before = self._view.done
        self._tick()

    def heard(self, event: Event) -> None:
        """Nothing to do: the view is looked at now and then."""

    def say(self, words: str) -> None:
        """A line of its own, below which the five go on."""
        self._out.write(words + "\n")
        self._out.flush()
        self._shown = False

    def closed(self) -> None:
        """Show how it ended."""
        self._stop()
        if self._engine is not None:
            self._show()

    def _tick(self) -> None:
        assert self._clock is not None
        self._show()
        self._stop = self._clock.call_later(_ON_A_TERMINAL_S if self._live else _ELSEWHERE_S, self._tick)

    def _show(self) -> None:
        lines = five_lines(self.seen())
        if self._live:
            back = f"\x1b[{len(lines)}A" if self._shown else ""
            self._out.write(back + "".join(f"\x1b[2K{line}\n" for line in lines))
        else:
            self._out.write("\n".join(lines) + "\n")
        self._out.flush()
        self._shown = True

    def seen(self) -> Jobs:
        """The run at this instant."""
        assert self._engine is not None
        assert self._clock is not None
        view, engine = self._view, self._engine
        elapsed = self._clock.now() - self._started
        fresh = view.done - self._done_before
        left = view.total - view.done
        return Jobs(
            done=view.done,
            total=view.total,
            jobs_completed=view.job_counts[COMPLETED],
            jobs_failed=view.job_counts[FAILED],
            jobs_total=len(view.state.jobs),
            jobs_in_progress=view.job_counts[PROCESSING],
            spent_nano=view.spent_nano,
            ceiling_nano=engine.plan.policy.max_cost_nano,
            eta_s=elapsed * left / fresh if fresh > 0 else None,
            failed=view.counts[FAILED],
            deferred=len(view.deferred),
        )

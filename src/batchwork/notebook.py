"""A bar in the output of a notebook's cell, redrawn in place. Nothing is imported that the notebook has not."""

import sys
from collections.abc import Iterable
from html import escape
from importlib import import_module
from typing import Any

_MOST_NOTES = 20


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook, which shows more than text."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class NotebookBar:
    """The bar of one run: how far it is, and what there is to say about it."""

    def __init__(self) -> None:
        self._shown: Any = None
        self._notes: list[str] = []
        self._now: tuple[int, int | None, tuple[str, ...]] = (0, None, ())

    def note(self, text: str) -> None:
        """One more line for the user, below the bar."""
        self._notes = [*self._notes, text][-_MOST_NOTES:]
        self.show(*self._now)

    def show(self, done: int, total: int | None, lines: Iterable[str]) -> None:
        """Redraw it; a run whose length is not known has no bar."""
        self._now = (done, total, tuple(lines))
        text = "\n".join((*self._now[2], *self._notes))
        bar = f'<progress value="{done}" max="{total}" style="width:30em"></progress>' if total else ""
        data = {"text/html": f"<div>{bar}<pre>{escape(text)}</pre></div>", "text/plain": text}
        if self._shown is None:
            self._shown = import_module("IPython.display").display(data, raw=True, display_id=True)
        else:
            self._shown.update(data, raw=True)

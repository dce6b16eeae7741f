"""Starts `batchwork view` beside a run, in a process of its own: looking on costs the run nothing.

It ends with the run, even with one that is killed: its standard input is a pipe from here.
"""

import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

from batchwork.core.dsn import JournalAddress
from batchwork.core.errors import ConfigError
from batchwork.settings import environment_for

_NEEDS = ("jinja2", "numpy")
_PATIENCE_S = 5.0  # a page that is open gets a moment to show how the run ended


class ViewProcess:
    """The viewer of one run, from `start`, which is called once its journal is there, to `close`."""

    def __init__(self, journal: JournalAddress | None) -> None:
        if journal is None:
            raise ConfigError("view=True shows a journal: name one with journal=")
        if missing := [name for name in _NEEDS if find_spec(name) is None]:
            raise ConfigError(f"the viewer needs {' and '.join(missing)}: pip install 'batchwork[view]'")
        self._journal = journal
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Begin to show the run; its address is said as soon as it is known."""
        command = [sys.executable, "-m", "batchwork", "view", "--with-input"]
        # A session of its own: Ctrl-C is for the run, and the page shows how that ends.
        self._process = subprocess.Popen(  # noqa: S603
            command,
            env=environment_for(str(self._journal) if isinstance(self._journal, Path) else self._journal.text),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        threading.Thread(target=_say_address, args=(self._process,), daemon=True).start()

    def close(self) -> None:
        """End it."""
        if self._process is None:
            return
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _say_address(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdout is not None
    with process.stdout as output:
        line = output.readline().decode().strip()
    text = f"view     {line}" if line else "the viewer did not start; `batchwork view` says why"
    sys.stderr.write(f"{text}\n")

"""Starts `batchwork worker` beside a run, some times: processes of this machine that work on the same journal."""

import signal
import subprocess
import sys

from batchwork.core.dsn import Dsn, JournalAddress
from batchwork.core.errors import ConfigError
from batchwork.settings import environment_for

_PATIENCE_S = 30.0  # for one that ends: its calls under way are finished first


class WorkerProcesses:
    """The workers of one run, from `start`, which is called once it has begun, to `close`."""

    def __init__(self, journal: JournalAddress, count: int, *, base_url: str | None) -> None:
        if count > 0 and not isinstance(journal, Dsn):
            raise ConfigError(
                "--processes needs --journal postgresql://...: a journal in a file has one process that writes it, and"
                " every call of another one would have to be recorded through that"
            )
        self._journal, self._count, self._base_url = journal, count, base_url
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start them, once. Either address may have a secret in it, so none is in a command line."""
        if self._processes or not self._count:
            return
        assert isinstance(self._journal, Dsn)
        command = [sys.executable, "-m", "batchwork", "worker", "-q"]
        environment = environment_for(self._journal.text, base_url=self._base_url)
        for _ in range(self._count):
            # In a group of its own: Ctrl-C reaches the run, which passes it on, once.
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, process_group=0)  # noqa: S603
            self._processes.append(process)

    def interrupt(self) -> None:
        """Stop them cleanly; called twice, at once."""
        for process in self._processes:
            process.send_signal(signal.SIGINT)

    def close(self) -> None:
        """Wait for them: they end when the run has."""
        for process in self._processes:
            try:
                process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.terminate()
                process.wait()

"""A real PostgreSQL on loopback, run by a test as the user `postgres` (or as whoever runs the tests, if not root)."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
_PR_SET_PDEATHSIG = 1
_PATIENCE_S = 30.0


def why_not() -> str | None:
    """Why no server can be started here; None: one can."""
    if not _FOLDERS:
        return "PostgreSQL is not installed (apt-get install postgresql-15)"
    if os.geteuid() == 0:
        import pwd

        try:
            pwd.getpwnam("postgres")
        except KeyError:
            return "PostgreSQL refuses to run as root, and there is no user postgres"
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "the extra `postgres` is not installed"
    return None


def _die_with_parent() -> None:
    """Should the tests be killed, the server is as well. What counts as the parent is the thread, not the process."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGQUIT)


class PostgresServer:
    """One server with its own folder and port; can be crashed and started again."""

    def __init__(self, **settings: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="batchwork-pg-"))
        self.as_owner: dict[str, Any] = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
        if self.as_owner:
            shutil.chown(self.folder, "postgres", "postgres")
        self.port = free_port()
        self.settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": str(self.folder), **settings}
        self._process: subprocess.Popen[bytes] | None = None
        self._names = 0
        self._program("initdb", "-D", str(self.data), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync")
        self.start()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def address(self) -> str:
        """The database, for the account of many journals."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def journal(self, name: str | None = None) -> str:
        """The address of a journal that nobody has used yet, or of one with this name."""
        self._names += 1
        return f"{self.address}?journal={name or f'j{os.getpid()}_{self._names}'}"

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        options = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        log = (self.folder / "log").open("ab")
        self._process = subprocess.Popen(
            [_FOLDERS[0] / "postgres", "-D", self.data, "-p", str(self.port), *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=self.folder,
            start_new_session=True,
            preexec_fn=_die_with_parent if threading.current_thread() is threading.main_thread() else None,  # noqa: PLW1509
            **self.as_owner,
        )
        log.close()
        _wait_for(self._is_ready, "the server takes connections")

    def _is_ready(self) -> bool:
        import psycopg

        assert self._process is not None
        if self._process.poll() is not None:
            raise RuntimeError((self.folder / "log").read_text()[-2000:])
        try:
            psycopg.connect(self.address, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT cleanly and at once, SIGQUIT as a crash (`-m immediate`)."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(_PATIENCE_S)
            self._process = None

    def crash(self) -> None:
        """End every session at once without a checkpoint, and start again: what was committed is there."""
        self.stop(signal.SIGQUIT)
        self.start()

    def close(self) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def execute(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run one statement beside whatever the test does."""
        import psycopg

        with psycopg.connect(self.address, autocommit=True) as connection:
            cursor = connection.execute(sql, values)  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []

    def _program(self, name: str, *arguments: str) -> None:
        ran = subprocess.run(
            [_FOLDERS[0] / name, *arguments], check=False, capture_output=True, cwd=self.folder, **self.as_owner
        )
        if ran.returncode:
            raise RuntimeError(f"{name}: {ran.stderr.decode()[-1000:]}")


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(is_so: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + _PATIENCE_S
    while not is_so():
        if time.monotonic() > until:
            raise RuntimeError(f"waited {_PATIENCE_S:.0f} s until {what}")
        time.sleep(0.02)

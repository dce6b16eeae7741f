"""The program `batchwork` without the wait for its imports: a process that has made them forks one for every command.

A command has a process, a folder, an environment and streams of its own, as if it had just been started. Whoever asks
for it passes its signals on, hears its exit code, and ends it by going away.
"""

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from runpy import run_module
from typing import Any

_LONGEST_S = 120.0
# What commands import when they need it; nothing of it starts a thread, which would not be there after a fork.
_IMPORTED = (
    *("batchwork.cli", "batchwork.display", "batchwork.manager", "batchwork.simulator", "batchwork.frame.table"),
    *("batchwork.server.web_server", "batchwork.view.server", "batchwork.view.export", "batchwork.benchmarks.program"),
    *("batchwork.backends._chat", "batchwork.backends.anthropic", "batchwork.backends.mock"),
    *("batchwork.schema.models", "jinja2", "rich.progress_bar", "typer.rich_utils", "uvloop"),
)


class Program:
    """Runs commands from `__init__` to `close`."""

    def __init__(self, folder: Path) -> None:
        self._address = folder / "program"
        command = [sys.executable, __file__, "serve", str(self._address)]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self._server = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._server.stdout is not None
        assert self._server.stdout.readline() == b"ready\n"
        script = folder / "bin" / "batchwork"
        script.parent.mkdir()
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -IS {__file__} ask {self._address} "$@"\n')
        script.chmod(0o755)
        self.bin = script.parent  # for the PATH of a shell, which finds `batchwork` there

    def __call__(
        self, *arguments: str, cwd: Path, env: Mapping[str, str], stdin: str | None = None, module: str = "batchwork"
    ) -> subprocess.CompletedProcess[str]:
        """Run `python -m MODULE ARGUMENTS` to its end; what it printed and its exit code."""
        with (
            tempfile.TemporaryFile("w+") as given,
            tempfile.TemporaryFile("w+") as out,
            tempfile.TemporaryFile("w+") as err,
        ):
            given.write(stdin or "")
            given.seek(0)
            streams = [stream.fileno() for stream in (given, out, err)]
            with _asked(self._address, [module, *arguments], str(cwd), dict(env), streams) as server:
                server.settimeout(_LONGEST_S)
                code = int(server.makefile().readline())
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(arguments, code, out.read(), err.read())

    def close(self) -> None:
        """End it; commands that go on, too."""
        self._server.communicate()


def _asked(
    address: Path | str, arguments: list[str], cwd: str, env: dict[str, str], streams: list[int]
) -> socket.socket:
    server = socket.socket(socket.AF_UNIX)
    server.connect(str(address))
    message = json.dumps({"arguments": arguments, "cwd": cwd, "env": env}).encode() + b"\n"
    socket.send_fds(server, [message], streams)
    return server


def ask(address: str, arguments: list[str]) -> int:
    """The script `batchwork`: a command with this process's streams; its exit code."""
    server = _asked(address, ["batchwork", *arguments], str(Path.cwd()), dict(os.environ), [0, 1, 2])
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda sent, _: server.send(bytes([sent])))
    code = int(server.makefile().readline())
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def serve(address: str) -> None:
    """Take commands until standard input ends. Returns in the process of each one, and nowhere else."""
    for name in _IMPORTED:
        import_module(name)
    gc.freeze()  # no command goes through all that at its end
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who look after a command
    print("ready", flush=True)
    while listener in select.select([listener, sys.stdin], [], [])[0]:
        asked, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            return _begin(asked)
        asked.close()
    os._exit(0)


def _begin(asked: socket.socket) -> None:
    """Fork the command, and look after it until its end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    message, streams, _, _ = socket.recv_fds(asked, 1 << 16, 3)
    while not message.endswith(b"\n"):
        message += asked.recv(1 << 16)
    command: dict[str, Any] = json.loads(message)
    ended, open_until_then = os.pipe()
    if (child := os.fork()) == 0:
        asked.close()
        os.close(ended)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(command["cwd"])
        os.environ.clear()
        os.environ.update(command["env"])
        sys.argv[:] = command["arguments"]
        sys.path[:1] = [command["cwd"], *command["env"].get("PYTHONPATH", "").split(os.pathsep)]
        return
    for stream in (*streams, open_until_then):
        os.close(stream)
    while ended not in (ready := select.select([asked, ended, sys.stdin], [], [])[0]):
        told = asked.recv(1) if asked in ready else b""
        os.kill(child, told[0] if told else signal.SIGKILL)
        if not told:
            break
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(OSError):
        asked.sendall(f"{code}\n".encode())
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        sys.exit(ask(sys.argv[2], sys.argv[3:]))
    serve(sys.argv[2])
    run_module(sys.argv[0], run_name="__main__", alter_sys=True)

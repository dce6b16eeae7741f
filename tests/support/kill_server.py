"""Runs `batchwork.run` in children that somebody else kills. It forks, so that a run costs no imports.

One JSON line in, one out: `{"prompts": ..., "options": ...}` starts a child and tells its process id, `"wait"` waits
for it and tells how it ended (0, 3 for a pause, or minus the signal).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import batchwork
import batchwork.backends._chat.service  # loaded here, so that no child has to
import batchwork.backends.anthropic
from tests.support.fast_time import fast_loops

PAUSED = 3
_ROOT = Path(__file__).resolve().parents[2]


class Children:
    """The server's other end: one child at a time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def start(self, prompts: list[Any], **options: Any) -> int:
        """Start a run; its process id."""
        return int(self._ask({"prompts": prompts, "options": options}))

    def wait(self) -> int:
        """How the run ended."""
        return int(self._ask("wait"))

    def _ask(self, what: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(what), file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())


@contextmanager
def children() -> Iterator[Children]:
    """A server that ends with the block."""
    command = [sys.executable, "-m", "tests.support.kill_server"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT) as process:
        yield Children(process)
        assert process.stdin is not None
        process.stdin.close()


def _work(prompts: list[Any], options: dict[str, Any]) -> int:
    with fast_loops() if options.pop("fast", False) else nullcontext():
        try:
            batchwork.run(prompts, **options).close()
        except batchwork.RunPaused:
            return PAUSED
    return 0


def main() -> None:
    child = 0
    for line in sys.stdin:
        told = json.loads(line)
        if told == "wait":
            _, status = os.waitpid(child, 0)
            print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)
            continue
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = _work(told["prompts"], told["options"])
            except BaseException:
                traceback.print_exc()
            os._exit(code)
        print(json.dumps(child), flush=True)


if __name__ == "__main__":
    main()

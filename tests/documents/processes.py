"""Programs that read documents, and the processes that they start."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

ENDLESS = b"<html>" + b"<b>x</b>" * 1_000_000  # many seconds of work, in little memory


def readers_of(pid: int) -> list[int]:
    """The processes that this one started and that still run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != b"Z":
            found.append(int(stat.parent.name))
    return found


def run_script(script: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

"""The computing time that a process has used and the memory that it holds, asked of the system."""

import os
import re
from pathlib import Path
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TIME = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)")


class ProcessUsage(NamedTuple):
    """Of one process, since it started."""

    cpu_s: float
    memory: int  # bytes that are in memory now


def usage_of(pid: int) -> ProcessUsage | None:
    """What a process has used; None when it is gone, or the system does not tell."""
    try:
        line = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None if Path("/proc/self/stat").exists() else _from_ps(pid)
    fields = line[line.rindex(b")") + 2 :].split()  # the name before it may hold anything
    return ProcessUsage(cpu_s=(int(fields[11]) + int(fields[12])) / _TICKS, memory=int(fields[21]) * _PAGE)


def _from_ps(pid: int) -> ProcessUsage | None:
    """Where there is no /proc."""
    import subprocess  # noqa: PLC0415 - slow to import, for a reader that starts cold

    command = ["/bin/ps", "-o", "rss=,time=", "-p", str(pid)]
    try:
        out = subprocess.run(command, capture_output=True, text=True, check=False, timeout=5, env={}).stdout  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    memory, _, spent = out.strip().partition(" ")
    time = _TIME.fullmatch(spent.strip())
    if not memory.isdecimal() or time is None:
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in time.groups())
    return ProcessUsage(cpu_s=((days * 24 + hours) * 60 + minutes) * 60 + seconds, memory=int(memory) * 1024)

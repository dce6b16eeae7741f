"""What every measurement needs: a table, medians of interleaved rounds, children with their own bill, the peers.

CPU time and not wall time wherever possible: the machine is shared. A measured run is a process of its own, so that
neither side inherits the other's imports, heap or warm caches.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_PEERS = ROOT / ".venv-peers"
_PEERS_WANTED = ROOT / "perf" / "peers.txt"
_MEMORY = Path("/dev/shm")
NOT_JUDGED = "smoke, not judged"
TOO_BUSY = "not judged: the machine is too busy"
MOST_BY_OTHERS = 0.25  # cores that other processes may use while something is measured


def arguments(description: str) -> argparse.Namespace:
    """The command line of every measurement."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--smoke", action="store_true", help="a cut of a few seconds")
    return parser.parse_args()


# -- showing --------------------------------------------------------------------------------------


def show_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns that line up: the first to the left, numbers to the right."""
    widths = [max(len(line[i]) for line in (head, *rows)) for i in range(len(head))]
    for line in (head, *rows):
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        print("  ".join(cells).rstrip(), flush=True)


def verdict(name: str, figure: str, bar: str, *, ok: bool, judged: bool = True, timed: bool = True) -> int:
    """The last line, and the exit status.

    A cut too small to be judged by the bar says so instead; so does a measurement of time (`timed`) on a machine that
    others used meanwhile.
    """
    if not judged:
        word = NOT_JUDGED
    elif timed and (others := used_by_others()) > MOST_BY_OTHERS:
        word = f"{TOO_BUSY} ({others:.2f} cores used by others)"
    else:
        word = "ok" if ok else "short"
    print(f"{name}: {figure} (bar {bar}) {word}", flush=True)
    return int(word == "short")


# -- measuring ------------------------------------------------------------------------------------


def _machine_and_own_s() -> tuple[float, float, float]:
    """Seconds on the clock, CPU seconds of the whole machine, and ours: of this process group and of what it started,
    in whatever group that is, ended children too."""
    busy, ticks, parents = 0, {}, {}
    own = {os.getpid()}
    with suppress(OSError):  # a system without it is taken to be idle
        user, nice, system, _idle, _wait, irq, soft, *_ = map(int, Path("/proc/stat").read_text().split()[1:9])
        busy = user + nice + system + irq + soft
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # it has just ended
                fields, process = stat.read_text().rpartition(")")[2].split(), int(stat.parent.name)
                ticks[process], parents[process] = sum(map(int, fields[11:15])), int(fields[1])
                own |= {process} if int(fields[2]) == os.getpgrp() else set()
    while more := {process for process, parent in parents.items() if parent in own} - own:
        own |= more
    ticks_per_s = os.sysconf("SC_CLK_TCK")
    return os.times().elapsed, busy / ticks_per_s, sum(ticks.get(process, 0) for process in own) / ticks_per_s


_AT_START = _machine_and_own_s()


def used_by_others() -> float:
    """How many cores processes that are not ours have used on average since this one began to measure."""
    elapsed, machine, own = (now - then for now, then in zip(_machine_and_own_s(), _AT_START, strict=True))
    return max(0.0, machine - own) / max(elapsed, 1e-3)


def interleaved(rounds: int, sides: Mapping[str, Callable[[], float]]) -> dict[str, list[float]]:
    """What every side measured; a round measures each of them once, so that all meet the same weather."""
    seen: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, measure in sides.items():
            seen[name].append(measure())
    return seen


def ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """The median over the rounds of one side by the other."""
    return median(a / b for a, b in zip(above, below, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A child process that ended well."""

    cpu_s: float  # all its threads and children
    wall_s: float
    peak_mb: float
    out: str

    def json(self) -> dict[str, Any]:
        """Its last line of output."""
        told: dict[str, Any] = json.loads(self.out.strip().splitlines()[-1])
        return told


def run_child(
    command: Sequence[object], *, stdin: Path | None = None, environment: Mapping[str, str] | None = None
) -> Finished:
    """Run a process to its end and read its bill from the system.

    The peak counts from the fork on, so that it is never below this process's own few megabytes.
    """
    started = os.times().elapsed
    with tempfile.TemporaryFile() as out, (stdin or Path(os.devnull)).open("rb") as given:
        words = [str(part) for part in command]
        process = subprocess.Popen(words, stdin=given, stdout=out, cwd=ROOT, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode()
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {process.returncode}\n{text}")
    return Finished(
        cpu_s=usage.ru_utime + usage.ru_stime,
        wall_s=os.times().elapsed - started,
        peak_mb=usage.ru_maxrss / 1024,
        out=text,
    )


def run_module(name: str, *parts: object) -> Finished:
    """Run one of this suite's modules as a process of its own."""
    return run_child([sys.executable, "-m", name, *map(str, parts)])


@contextmanager
def folder(*, in_memory: bool = False) -> Iterator[Path]:
    """A folder that goes away again; in memory where the machine has room for files there."""
    there = _MEMORY if in_memory and os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="batchwork-perf-", dir=there) as path:
        yield Path(path)


# -- the peers ------------------------------------------------------------------------------------


def peers_python() -> Path:
    """The interpreter of the peers' environment, which is made on first use and when the pins have changed."""
    python = _PEERS / "bin" / "python"
    mark = _PEERS / ".installed"
    wanted = _PEERS_WANTED.read_text()
    if mark.exists() and mark.read_text() == wanted:
        return python
    print(f"installing the peers into {_PEERS.name} (once)", file=sys.stderr, flush=True)
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(_PEERS)], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(_PEERS_WANTED)]
    subprocess.run(pip, check=True)
    mark.write_text(wanted)
    return python

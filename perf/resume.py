"""How soon a run that is 99.9% settled makes its first new call, against a bare loop over the same rows.

The settled rows stand before the new ones, so all of them have to be passed over first. The command's start and its
imports are counted in; the bare loop's are not.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from perf._harness import ROOT, arguments, folder, interleaved, ratio, run_child, run_module, show_table, verdict
from perf.rows import PROMPT, write_rows

MOST_TIMES_BARE = 3.0
MOST_MB = 250.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """The bill of a resumed run: up to its first new call, and at its end."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def main() -> int:
    smoke = arguments(__doc__ or "").smoke
    count, rounds = (50_000, 2) if smoke else (1_000_000, 3)
    with folder() as place:
        given, table = place / "in.jsonl", place / "bare.db"
        write_rows(given, count)
        run_module("perf.bare_lookups", given, table)
        settled = count - max(1, count // 1000)
        run_child([*_command(place), "--limit", settled])
        peaks: list[float] = []
        walls: list[float] = []

        def ours() -> float:
            done = _resume(place)
            peaks.append(done.peak_mb)
            walls.append(done.wall_s)
            return done.cpu_s

        def bare() -> float:
            told = run_module("perf.bare_lookups", given, table).json()
            assert told["found"] == count
            return float(told["cpu_s"])

        seen = interleaved(rounds, {"batchwork": ours, "bare": bare})
    times, peak = ratio(seen["batchwork"], seen["bare"]), max(peaks)
    show_table(
        (f"{count:,} rows, {settled:,} settled", "CPU to the first new call", "wall", "peak RSS"),
        [
            ("batchwork run, again", f"{median(seen['batchwork']):.2f} s", f"{median(walls):.2f} s", f"{peak:.0f} MB"),
            ("read, hash, look up", f"{median(seen['bare']):.2f} s", "", ""),
        ],
    )
    return verdict(
        "resume",
        f"{times:.2f}x of the bare loop, {peak:.0f} MB",
        f"{MOST_TIMES_BARE:g}x, {MOST_MB:.0f} MB",
        ok=(smoke or times <= MOST_TIMES_BARE) and peak <= MOST_MB,
    )


def _command(place: Path) -> list[object]:
    model = f"mock:echo?log={place / 'calls'}"
    return [
        *(sys.executable, "-m", "batchwork", "run", place / "in.jsonl", "-o", place / "out.jsonl"),
        *("--journal", place / "run.db", "--model", model, "--prompt", PROMPT, "--quiet"),
    ]


def _resume(place: Path) -> Resumed:
    """Run it again and look at its bill when the mock's own log shows the first new call; then call it off.

    The run is ended by a kill at that instant and its journal put back, so that every round finds the same work.
    """
    journal, calls = place / "run.db", place / "calls"
    kept = _copy_aside(journal)
    logged = calls.stat().st_size
    started = time.monotonic()
    process = subprocess.Popen([str(part) for part in _command(place)], cwd=ROOT, stdout=subprocess.DEVNULL)
    while calls.stat().st_size == logged:
        if process.poll() is not None:
            raise SystemExit(f"the resumed run ended with {process.returncode} before a new call")
        time.sleep(0.002)
    wall_s, cpu_s = time.monotonic() - started, _cpu_s(process.pid)
    process.kill()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    _put_back(journal, kept)
    return Resumed(cpu_s=cpu_s, wall_s=wall_s, peak_mb=usage.ru_maxrss / 1024)


def _cpu_s(pid: int) -> float:
    """What a process that is still running has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _copy_aside(journal: Path) -> Path:
    """The journal as the first run left it, with its log if it has one."""
    kept = journal.with_name("kept")
    if not kept.exists():
        kept.mkdir()
        for part in journal.parent.glob(f"{journal.name}*"):
            shutil.copyfile(part, kept / part.name)
    return kept


def _put_back(journal: Path, kept: Path) -> None:
    for part in journal.parent.glob(f"{journal.name}*"):
        part.unlink()
    for part in kept.iterdir():
        shutil.copyfile(part, journal.with_name(part.name))


if __name__ == "__main__":
    sys.exit(main())

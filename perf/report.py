"""Run every measurement, and write what was seen into docs/performance.md: `make perf`.

Each measurement has a time after which it is ended and called unfinished, so that all of them together end within 90
minutes. What a measurement prints goes into the page as it is; nothing in the page comes from anywhere else. It is
written after each of them, so that a run that is cut off leaves what it has seen. What was measured on this machine
before and is not measured now stays in the page with its date, so that a single one can be renewed.
"""

import argparse
import os
import platform
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Timer

from perf._harness import ROOT

PAGE = ROOT / "docs" / "performance.md"
WITHIN_S = 90 * 60
LONGEST_S = 25 * 60  # of one measurement

_INTRODUCTION = """\
# Performance

Written by `make perf`, which measures everything here and beside the peers, and by nothing else. Ratios within one run
count; absolute times belong to this machine on that day. A measurement of time that other processes disturbed says
"not judged". `make perf PERF=NAME` renews a single one, `make perf-against REF=COMMIT` compares two commits.
"""
_ROW = re.compile(r"^\| (\w+) \| (.*) \| (.*) \| (.*) \|$", re.MULTILINE)
_DETAILS = re.compile(r"^## (\w+)\n\n.*?\n\n```\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Section:
    """What one measurement said, and when."""

    text: str
    took: str
    on: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", help="the measurements, in this order")
    parser.add_argument("--smoke", action="store_true", help="cuts of a few seconds each; the page is left alone")
    options = parser.parse_args()
    started = time.monotonic()
    sections, seen = known(PAGE.read_text(encoding="utf-8") if PAGE.exists() else "", _machine()), []
    for name in options.names:
        left_s = WITHIN_S - (time.monotonic() - started)
        text, took_s = _measured(name, min(LONGEST_S, left_s), smoke=options.smoke)
        sections[name] = Section(text.rstrip(), f"{took_s:.0f} s", f"{datetime.now(UTC):%Y-%m-%d}")
        seen.append(name)
        print(f"-- {name}: {took_s:.0f} s\n", flush=True)
        if not options.smoke:
            PAGE.write_text(page(sections, options.names, _machine()), encoding="utf-8")
    short = [name for name in seen if not _last_line(sections[name].text).endswith(" ok")]
    print(f"perf: {len(seen) - len(short)} of {len(seen)} ok; not ok: {', '.join(short) or 'none'}")
    return 0


def _measured(name: str, within_s: float, *, smoke: bool) -> tuple[str, float]:
    """What a measurement printed, line by line as it came, and how long it took."""
    command = [sys.executable, "-m", f"perf.{name}", *(["--smoke"] if smoke else [])]
    started = time.monotonic()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    end = Timer(max(within_s, 1), os.killpg, (process.pid, signal.SIGTERM))
    end.start()
    lines = []
    for line in process.stdout:
        print(line, end="", flush=True)
        lines.append(line)
    process.wait()
    end.cancel()
    took_s = time.monotonic() - started
    if process.returncode not in (0, 1):
        why = f"unfinished after {took_s:.0f} s" if process.returncode == -signal.SIGTERM else "broken, see its output"
        lines.append(f"{name}: {why}\n")
        print(lines[-1], end="", flush=True)
    return "".join(lines), took_s


def page(sections: dict[str, Section], names: list[str], machine: str) -> str:
    """The whole page, with `names` that are not measured yet."""
    missing = Section("", "", "")
    rows, details = [], []
    for name in dict.fromkeys([*sections, *names]):
        section = sections.get(name, missing)
        said = "not measured yet" if section is missing else _last_line(section.text)
        rows.append(f"| {name} | {said} | {section.took} | {section.on} |")
        if section is not missing:
            details.append(f"## {name}\n\n{_purpose(name)}\n\n```\n{section.text}\n```\n")
    table = "\n".join(["| measurement | verdict | took | on |", "|---|---|---|---|", *rows])
    return "\n".join([_INTRODUCTION, f"{machine}.\n", table, "", *details])


def known(page: str, machine: str) -> dict[str, Section]:
    """What a page says, if it is of this machine."""
    if f"\n{machine}.\n" not in page:
        return {}
    rows = {name: (took, on) for name, _, took, on in _ROW.findall(page)}
    return {name: Section(text, *rows[name]) for name, text in _DETAILS.findall(page) if name in rows}


def _purpose(name: str) -> str:
    """The first paragraph of the measurement's own docstring."""
    place = ROOT / "perf" / name
    file = place / "__main__.py" if place.is_dir() else place.with_suffix(".py")
    return file.read_text(encoding="utf-8").split('"""')[1].split("\n\n")[0].strip()


def _machine() -> str:
    cpu = next((line for line in _read("/proc/cpuinfo").splitlines() if line.startswith("model name")), "")
    memory = next((line.split() for line in _read("/proc/meminfo").splitlines() if line.startswith("MemTotal")), None)
    parts = [f"{os.cpu_count()} cores", cpu.partition(":")[2].strip()]
    parts += [f"{int(memory[1]) / 2**20:.0f} GiB"] if memory else []
    return ", ".join([*filter(None, parts), f"{platform.system()}, Python {platform.python_version()}"])


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["nothing printed"])[-1].replace("|", "/")


if __name__ == "__main__":
    sys.exit(main())

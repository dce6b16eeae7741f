"""Whether this checkout costs more CPU than another commit: `make perf-against REF=COMMIT`.

Both sides run the same measurements of this checkout, in the same environment, each as a process of its own; only the
package under test comes from the one checkout or the other. The rounds are interleaved and change places, so that both
sides meet the same weather. A ratio is taken within each round; its median has an interval by order statistics, which
supposes nothing about how the noise is spread. A commit costs more when that interval lies wholly above the bar.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import comb
from pathlib import Path
from statistics import median
from typing import NamedTuple

from perf._harness import ROOT, folder, run_child, show_table
from perf.http import canned_server

BAR = 1.03
COVERAGE = 0.95
WIDEST = 0.10  # an interval that is wider and holds the bar says nothing
ROUNDS = 12
_NOW, _THEN = "now", "then"


class Interval(NamedTuple):
    """Where the median of a ratio lies, with a probability of at least `COVERAGE`."""

    low: float
    middle: float
    high: float

    def __str__(self) -> str:
        return f"{self.middle:.3f} [{self.low:.3f}, {self.high:.3f}]"


def interval(ratios: Sequence[float]) -> Interval | None:
    """The median and its interval; None when there are too few rounds for one."""
    ordered, count = sorted(ratios), len(ratios)
    outside = 0.0  # the probability that the median lies below the value that is left out last
    left_out = -1
    for rank in range(count // 2):
        outside += comb(count, rank) / 2**count
        if 1 - 2 * outside < COVERAGE:
            break
        left_out = rank
    if left_out < 0:
        return None
    return Interval(ordered[left_out], median(ordered), ordered[count - 1 - left_out])


def judged(seen: Interval | None) -> str:
    """`ok`, `short`, or that the machine is too busy to judge."""
    if seen is None:
        return "not judged: too few rounds"
    if seen.low > BAR:
        return "short"
    if seen.high > BAR and seen.high - seen.low > WIDEST:
        return "not judged: the machine is too busy"
    return "ok"


def verdict_of(verdicts: Mapping[str, str]) -> tuple[str, int]:
    """The last word on all measurements, and the exit status."""
    for word in ("short", "not judged"):
        found = [name for name, verdict in verdicts.items() if verdict.startswith(word)]
        if found:
            return f"{word}: {', '.join(found)}", int(word == "short")
    return "ok", 0


# -- the two sides ----------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ref", help="the commit to compare with")
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help=f"of every measurement (default {ROUNDS}, at least 6)"
    )
    parser.add_argument("--only", metavar="WORD", default="", help="the measurements whose name begins so")
    parser.add_argument("--smoke", action="store_true", help="a cut of a few seconds, which is not judged")
    told = parser.parse_args()
    rounds = 1 if told.smoke else told.rounds
    with checkout(told.ref) as other, canned_server() as url, folder(in_memory=True) as place:
        sources = {_NOW: ROOT / "src", _THEN: other / "src"}
        measurements = {
            name: measure
            for name, measure in _measurements(url, place, scale=20 if told.smoke else 1).items()
            if name.startswith(told.only)
        }
        seen = _rounds(rounds, measurements, sources)
    rows, verdicts = [], {}
    for name, sides in seen.items():
        found = interval([now / then for now, then in zip(sides[_NOW], sides[_THEN], strict=True)])
        verdicts[name] = judged(found)
        cells = [f"{median(sides[side]):.1f}" for side in (_NOW, _THEN)]
        rows.append((name, *cells, "-" if found is None else str(found), verdicts[name]))
    show_table(("us CPU per item", "now", told.ref[:12], "ratio, 95% interval", "verdict"), rows)
    word, status = verdict_of(verdicts)
    print(f"against {told.ref[:12]}: {rounds} rounds (bar: no interval wholly above {BAR:g}) {word}", flush=True)
    return status


@contextmanager
def checkout(ref: str) -> Iterator[Path]:
    """A second checkout in a temporary folder, removed afterwards."""
    look = ["git", "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"]
    if subprocess.run(look, cwd=ROOT, check=False, stdout=subprocess.DEVNULL).returncode != 0:
        raise SystemExit(f"{ref!r} is not a commit of this repository: make perf-against REF=COMMIT")
    with folder() as place:
        path = place / "checkout"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(path), ref], cwd=ROOT, check=True)
        try:
            yield path
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(path)], cwd=ROOT, check=True)


Measure = Callable[[Path], float]  # microseconds of CPU per item, with the package from this folder


def _measurements(url: str, place: Path, *, scale: int) -> dict[str, Measure]:
    """What is measured, each a few seconds long."""
    number = itertools.count()

    def engine(source: Path) -> float:
        items = 20_000 // scale
        told = _child(source, "perf.one_run", items, 100, place / f"{next(number)}.db")
        assert told["settled"] == items, told
        return told["cpu_s"] / items

    def http(side: str) -> Measure:
        def measure(source: Path) -> float:
            requests = 3_000 // scale
            told = _child(source, "perf.http_side", side, url, requests)
            assert told["answered"] == requests, told
            return told["cpu_s"] / requests

        return measure

    def state(source: Path) -> float:
        items = 4_000 // scale
        own = place / f"state-{next(number)}"
        own.mkdir()
        return _child(source, "perf.state", "--child", "ours", items, own)["cpu"] / items

    def window(source: Path) -> float:
        calls = 15_000 // scale
        return _child(source, "perf.window", "--child", calls)["cpu_s"] / calls

    def evidence(source: Path) -> float:
        told = _child(source, "perf.evidence_side", scale)
        return told["cpu_s"] / told["documents"]

    return {
        "engine": engine,
        "evidence": evidence,
        "http": http("batchwork"),
        "http with max_cost": http("batchwork-budget"),
        "state": state,
        "window": window,
    }


def _child(source: Path, module: str, *parts: object) -> dict[str, float]:
    """What one process tells about itself; the package under test is found in `source` before anywhere else."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    return run_child([sys.executable, "-m", module, *parts], environment=environment).json()


def _rounds(
    rounds: int, measurements: Mapping[str, Measure], sources: Mapping[str, Path]
) -> dict[str, dict[str, list[float]]]:
    for side, source in sources.items():
        _check_origin(side, source)
    seen: dict[str, dict[str, list[float]]] = {name: {side: [] for side in sources} for name in measurements}
    for number in range(rounds):
        sides = list(sources.items()) if number % 2 == 0 else list(reversed(sources.items()))
        for name, measure in measurements.items():
            for side, source in sides:
                seen[name][side].append(1e6 * measure(source))
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    return seen


def _check_origin(side: str, source: Path) -> None:
    """A side that imported the other one's package would always be found to cost the same. Warms the side up, too."""
    show = "import batchwork, batchwork.manager, json; print(json.dumps({'at': batchwork.__file__}))"
    environment = {**os.environ, "PYTHONPATH": str(source)}
    at = Path(str(run_child([sys.executable, "-c", show], environment=environment).json()["at"]))
    if not at.is_relative_to(source):
        raise SystemExit(f"{side}: batchwork was imported from {at}, not from {source}")


if __name__ == "__main__":
    sys.exit(main())

"""`make fuzz`: managers of 200 files, 50 of them mutated, until the time is over.

Every round has a seed, and the same seed makes the same files. The 150 that are whole succeed; each of the others is
read or fails by name within its limits; nothing is left behind. What breaks this is kept in a folder, with its seed.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from batchwork import BatchManager
from batchwork.documents import DocumentError, DocumentLimits, read_document
from tests.support.mutated_documents import FORMATS, mutated

WHOLE, BROKEN = 150, 50
LIMITS: dict[str, Any] = {"max_memory_mb": 256, "max_cpu_s": 5.0, "max_wall_s": 30.0, "max_characters": 2_000_000}
MOST_READERS = 4
MOST_GROWTH_MB = 150.0
SCHEMA = {"type": "object", "properties": {"total": {"type": "number"}, "company": {"type": "string"}}}


class Broken(Exception):
    """A promise was not kept."""


def files_of(seed: int) -> tuple[list[bytes], set[int]]:
    """The files of a round, and which of them were mutated."""
    dice = random.Random(seed)
    kinds = list(FORMATS)
    whole = [FORMATS[kind](dice) for kind in dice.choices(kinds, k=WHOLE)]
    whole = [data if is_read(data) else b"a file that is whole" for data in whole]
    broken = [mutated(FORMATS[dice.choice(kinds)](dice), dice, dice.choice(whole)) for _ in range(BROKEN)]
    mixed = [(data, False) for data in whole] + [(data, True) for data in broken]
    dice.shuffle(mixed)
    return [data for data, _ in mixed], {index for index, (_, is_mutated) in enumerate(mixed) if is_mutated}


def is_read(data: bytes) -> bool:
    """Whether a sample is good: some that chance made are not, such as a BMP image."""
    try:
        read_document(data, limits=DocumentLimits(**LIMITS))
    except DocumentError:
        return False
    return True


def run_round(seed: int) -> Counter[str]:
    """What became of the mutated files of one round.

    Raises:
        Broken: a file that is whole did not succeed, a mutated one took down the run or failed without a cause.
    """
    files, broken = files_of(seed)
    answering = {"model": "mock:reader", "schema": SCHEMA} if seed % 2 else {"model": "mock:echo"}
    started = time.monotonic()
    manager = BatchManager(
        files=files, prompt="What is the total?", mode="live", enable_citations=True, **answering, **LIMITS
    )
    results = list(manager.run())
    took = time.monotonic() - started
    if took > len(broken) * LIMITS["max_wall_s"]:
        raise Broken(f"the round took {took:.0f} s")
    causes: Counter[str] = Counter()
    for index, result in enumerate(results):
        if index not in broken and result.status != "succeeded":
            raise Broken(f"file {index} is whole, and {result.status}: {result.error}")
        if result.status == "failed":
            cause = re.match(r"bad_input: \S+(?: document)? (.+)", str(result.error), re.DOTALL)
            if cause is None:
                raise Broken(f"file {index} failed without a cause: {result.error!r}")
            causes[" ".join(cause[1].split()[:4])] += 1
        else:
            causes["read"] += index in broken
    return causes


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def memory_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def children() -> list[str]:
    """The states of the processes that this one started."""
    states = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            states.append(fields[0].decode())
    return states


def keep(seed: int, folder: Path, problem: str) -> None:
    """Write the mutated files of a round down, and what was wrong."""
    place = folder / f"seed-{seed}"
    place.mkdir(parents=True, exist_ok=True)
    files, broken = files_of(seed)
    for index in broken:
        (place / f"{index:03d}").write_bytes(files[index])
    (place / "problem.txt").write_text(f"python -m tests.fuzz_documents --seed {seed} --rounds 1\n\n{problem}\n")
    print(f"seed {seed}: {problem}\nkept in {place}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3_600)
    parser.add_argument("--rounds", type=int, default=sys.maxsize)
    parser.add_argument("--seed", type=int, default=None, help="of the first round; the next ones count on")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"))
    given = parser.parse_args()
    first = random.SystemRandom().randrange(10**9) if given.seed is None else given.seed
    started, causes, failures, rounds = time.monotonic(), Counter[str](), 0, 0
    settled: tuple[int, float] | None = None  # open files and memory, once everything was used
    while rounds < given.rounds and (rounds == 0 or time.monotonic() - started < given.seconds):
        seed = first + rounds
        rounds += 1
        try:
            causes += run_round(seed)
            states, now = children(), (open_files(), memory_mb())
            if len(states) > MOST_READERS or "Z" in states:
                raise Broken(f"processes are left behind: {states}")
            settled = settled or (now if rounds == 3 else None)
            if settled is not None and now[0] > settled[0] + 2 * MOST_READERS:
                raise Broken(f"files are left open: {now[0]}, and {settled[0]} after three rounds")
            if settled is not None and now[1] > settled[1] + MOST_GROWTH_MB:
                raise Broken(f"memory has grown to {now[1]:.0f} MB, from {settled[1]:.0f} MB after three rounds")
        except Exception as error:  # whatever it is, it is what we look for
            keep(seed, given.keep, f"{type(error).__name__}: {error}")
            failures += 1
            if failures == 5:
                break
    for cause, count in causes.most_common(25):
        print(f"{count:7,}  {cause}")
    print(f"fuzz: {rounds} rounds of {WHOLE + BROKEN} files from seed {first}, {failures} broken", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

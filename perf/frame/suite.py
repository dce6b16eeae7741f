"""Run the cells and keep the counts."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from batchwork.frame import render
from perf.frame.cases import Case, Family
from perf.frame.judge import Tally, numbers_are_right, ours, peers, says_noise
from perf.frame.peer import Peer


@dataclass(frozen=True, slots=True)
class Cell:
    family: Family
    size: int  # 0: lengths from 10 to 30
    ours: Tally
    peers: Tally | None


def cases_of(family: Family, size: int, count: int) -> list[Case]:
    """The same series whatever else is run: the seed is the cell's own name."""
    dice = np.random.default_rng([zlib.crc32(family.name.encode()), size, 20260101])
    return [family.make(dice, size) for _ in range(count)]


def run_cell(family: Family, size: int, count: int, peer: Peer | None, for_peer: int) -> Cell:
    mine, theirs = Tally(), Tally()
    expected = tuple(family.bars)
    cases = cases_of(family, size, count)
    for case in cases:
        claims, description = ours(case)
        mine.add(case, claims, expected, family.ignore)
        text = render(description)
        wrong = numbers_are_right(case.values, text) or (says_noise(text) if case.truth.noiseless else None)
        if wrong or len(text) > 880:
            mine.wrong_numbers.append(wrong or f"{len(text)} characters")
    if peer is None:
        return Cell(family, size, mine, None)
    some = cases[:for_peer]
    for case, answer in zip(some, peer.describe([case.values for case in some]), strict=True):
        theirs.add(case, peers(answer), expected, family.ignore)
    return Cell(family, size, mine, theirs)

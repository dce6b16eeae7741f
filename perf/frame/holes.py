"""Series with holes: the same truths, with values missing in one piece, in several, and scattered."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from perf.frame.cases import (
    Case,
    Dice,
    Family,
    Truth,
    cycle,
    filtered,
    mixed,
    one_step,
    rise,
    saw,
    sine,
    spikes,
    walk,
    white,
)

SHARES = (2, 10, 20, 40)
Maker = Callable[[Dice, int], Case]


def one_piece(dice: Dice, n: int, count: int) -> np.ndarray:
    start = int(dice.integers(n // 12, n - n // 12 - count))
    return np.arange(start, start + count)


def pieces(dice: Dice, n: int, count: int) -> np.ndarray:
    """Three to five runs of different lengths, not at the ends."""
    cuts = np.sort(dice.choice(np.arange(1, count), int(dice.integers(2, 5)), replace=False))
    sizes = np.diff([0, *cuts, count])
    room = n - count - 2 * 5
    starts = np.sort(dice.integers(0, room, sizes.size)) + 5 + np.cumsum([0, *sizes[:-1]])
    return np.concatenate([np.arange(a, a + size) for a, size in zip(starts, sizes, strict=True)])


def scattered(dice: Dice, n: int, count: int) -> np.ndarray:
    return dice.choice(n, count, replace=False)


WAYS = {"one piece": one_piece, "pieces": pieces, "scattered": scattered}


def holed(make: Maker, share: int, way: Callable[[Dice, int, int], np.ndarray]) -> Maker:
    def holed_case(dice: Dice, n: int) -> Case:
        case = make(dice, n)
        lost = np.setdiff1d(way(dice, n, n * share // 100), list(case.truth.odd))
        values = case.values.copy()
        values[lost] = np.nan
        return Case(values, case.truth)

    return holed_case


def _season_in_trend(dice: Dice, n: int) -> Case:
    case = cycle(saw, (2, 2, 2))(dice, n)
    return Case(case.values + 6.0 * np.linspace(0, 1, n), Truth(trend=1, periods=case.truth.periods))


def _nothing(noise: Callable[[Dice, int], np.ndarray]) -> Maker:
    return lambda dice, n: Case(noise(dice, n), Truth())


# name, maker, bars, kept out of tuning
_KINDS: list[tuple[str, Maker, dict[str, float], bool]] = [
    ("line", rise(lambda t: t, (8, 8, 8)), {"trend": 0.98}, False),
    ("steep line", rise(lambda t: t, (60, 60, 60)), {"trend": 0.98}, False),
    ("season", cycle(sine, (2, 2, 2)), {"season": 0.95}, False),
    ("step", one_step((4, 4, 4)), {"step": 0.95}, False),
    ("odd points", spikes((10, 10, 10)), {"odd": 0.95}, False),
    ("white", _nothing(white), {}, False),
    ("random walk", _nothing(walk), {}, False),
    ("curve", rise(lambda t: np.exp(3 * t), (12, 12, 12)), {"trend": 0.95}, True),
    ("season in a trend", _season_in_trend, {"trend": 0.9, "season": 0.9}, True),
    ("AR 0.7", _nothing(filtered([1], [1, -0.7])), {}, True),
    ("mixed", mixed, {"trend": 0.8, "season": 0.8, "step": 0.8, "odd": 0.8}, True),
]

HOLED = [
    Family(
        name=f"{kind}, {share}% missing, {name}",
        make=holed(make, share, way),
        sizes=(300,),
        bars=bars,
        kept_out=kept_out,
    )
    for kind, make, bars, kept_out in _KINDS
    for share in SHARES
    for name, way in WAYS.items()
]

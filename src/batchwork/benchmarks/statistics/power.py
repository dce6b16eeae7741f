"""What a number of pairs can show: the power of the exact test, and its two inverses.

Nothing is approximated: the number of discordant pairs is binomial, and so is, among them, the number that favours one
side; the test's own critical values are used.
"""

from functools import lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, gammaln, xlog1py, xlogy

from batchwork.benchmarks.config import DISCORDANCE

_MOST_PAIRS = 1_000_000


def power_of(pairs: int, difference: float, *, discordance: float = DISCORDANCE, level: float = 0.05) -> float:
    """The chance that `pairs` pairs show a true `difference` as significant at `level`, in the right direction."""
    _check(difference, level)
    if discordance < difference or discordance > 1:
        raise ValueError(f"a difference of {difference} needs a discordance from {difference} to 1, got {discordance}")
    discordant, chance = _discordant(pairs, discordance)
    against = (discordance - difference) / (2 * discordance)  # of a discordant pair to favour the wrong side
    most = _critical(discordant, level)
    found = np.where(most >= 0, bdtr(np.maximum(most, 0), discordant, against), 0.0)
    return float(chance @ found)


def trials_needed(power: float, detect: float, *, discordance: float = DISCORDANCE, level: float = 0.05) -> int:
    """The pairs needed to see a true difference of `detect` with this `power`, one data set to each.

    Raises ValueError: a value is out of its range, or the number is beyond all reason.
    """
    if not 0 < power < 1:
        raise ValueError(f"power must be between 0 and 1, got {power}")
    _check(detect, level)
    share = max(discordance, detect)
    if 8 * share / detect**2 > _MOST_PAIRS:  # about what a power of 0.8 needs; nobody will ask that much
        raise ValueError(
            f"a difference of {detect} needs about {8 * share / detect**2:.0e} pairs; look for a larger one"
        )
    enough = 1
    while power_of(enough, detect, discordance=share, level=level) < power:
        enough *= 2
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if power_of(middle, detect, discordance=share, level=level) < power:
            too_few = middle
        else:
            enough = middle
    return enough


@lru_cache(maxsize=1024)
def smallest_difference(
    pairs: int, *, discordance: float = DISCORDANCE, level: float = 0.05, power: float = 0.8
) -> float | None:
    """The smallest true difference that so many pairs show with this power; None when they can show none at all.

    A difference cannot be larger than the discordance; beyond it, all that differs is taken to differ one way.
    """

    def seen(difference: float) -> bool:
        return power_of(pairs, difference, discordance=max(discordance, difference), level=level) >= power

    low, high = 0.0, 1.0
    if pairs < 1 or not seen(high):
        return None
    while high - low > 0.0005:
        middle = (low + high) / 2
        if seen(middle):
            high = middle
        else:
            low = middle
    return high


def _check(difference: float, level: float) -> None:
    if not 0 < difference <= 1:
        raise ValueError(f"the difference to detect must be above 0 and at most 1, got {difference}")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level}")


def _discordant(pairs: int, discordance: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The numbers of discordant pairs that can come up, and the chance of each; the far tails are left out."""
    spread = 9 * sqrt(pairs * discordance * (1 - discordance)) + 9
    low, high = max(0, int(pairs * discordance - spread)), min(pairs, int(pairs * discordance + spread))
    number = np.arange(low, high + 1)
    ways = gammaln(pairs + 1) - gammaln(number + 1) - gammaln(pairs - number + 1)
    return number, np.exp(ways + xlogy(number, discordance) + xlog1py(pairs - number, -discordance))


def _critical(discordant: NDArray[np.int64], level: float) -> NDArray[np.int64]:
    """For each number of discordant pairs, the most that may favour one side if the test is to reject; -1: never."""
    low, high = np.full_like(discordant, -1), discordant // 2
    while np.any(low < high):  # a bisection of all at once; `low` always rejects
        middle = (low + high + 1) // 2
        rejects = 2 * bdtr(middle, discordant, 0.5) <= level
        low, high = np.where(rejects, middle, low), np.where(rejects, high, middle - 1)
    return low

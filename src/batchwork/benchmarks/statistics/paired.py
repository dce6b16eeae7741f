"""Whether two conditions that were asked the same differ, and by how much in terms that do not depend on the scale."""

from collections.abc import Sequence
from math import asin, sqrt

import numpy as np


def exact_p(nets: Sequence[int]) -> float:
    """The exact two-sided p of the paired answers, given the net difference of each data set.

    If the conditions were alike, each data set would favour either side by the toss of a coin: this is the share of all
    tosses that give a total as far from zero as the one seen. With one pair per data set it is McNemar's exact test on
    the discordant pairs. Where data sets have several pairs, which are not independent, it stays exact, and McNemar's
    would not.
    """
    sizes = [abs(net) for net in nets if net]
    reach = sum(sizes)
    totals = np.zeros(2 * reach + 1)  # the chance of each total, from -reach to reach
    totals[reach] = 1.0
    for size in sizes:
        tossed = np.zeros_like(totals)
        tossed[size:] += totals[:-size] / 2
        tossed[:-size] += totals[size:] / 2
        totals = tossed
    seen = abs(sum(nets))
    far = np.abs(np.arange(-reach, reach + 1)) >= seen
    return min(1.0, float(totals[far].sum()))


def matched_odds_ratio(only_second: int, only_first: int) -> float:
    """How many pairs only the second condition got right for each that only the first did; above 1 favours the second.

    Half a pair is added to both, so that it is finite when one side has none, and 1 when neither has.
    """
    return (only_second + 0.5) / (only_first + 0.5)


def cohens_h(first: float, second: float) -> float:
    """The difference of two shares on the arcsine scale, where 0.2 is small, 0.5 medium and 0.8 large anywhere."""
    return 2 * asin(sqrt(second)) - 2 * asin(sqrt(first))

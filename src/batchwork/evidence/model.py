"""The fitted part of the finder: what a place scores, and how sure it is that the best one is right.

Both are data (`model.json`), fitted on the labelled documents by `make evidence-fit`: a weighted sum of features by
group of places, a forest of small decision trees, and a curve from what the trees say to what came true.
"""

import json
import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from operator import itemgetter, mul
from typing import Any


@cache
def model() -> dict[str, Any]:
    """The weights of places by group, the trees, and the steps of the calibration."""
    fitted: dict[str, Any] = json.loads(files(__package__).joinpath("model.json").read_text(encoding="utf-8"))
    return fitted


def score(group: str, features: Sequence[float]) -> float:
    """How well a place fits, as log odds."""
    weights: list[float] = model()["places"][group]
    total: float = sum(map(mul, weights, features))
    return total


def confidence(signs: Sequence[float]) -> float:
    """How sure it is that the best place is right, 0 to 1, as often as that was so in the labelled documents."""
    steps: list[list[float]] = model()["calibration"]
    odds = 0.0
    for tree in model()["trees"]:
        node = tree
        while type(node) is list:
            sign, threshold, below, above = node
            node = below if signs[sign] <= threshold else above
        odds += node
    raw = 1 / (1 + math.exp(-odds))
    if not steps:
        return raw
    at = min(bisect_right(steps, raw, key=itemgetter(0)), len(steps) - 1)
    (low, low_value), (high, high_value) = steps[at - 1], steps[at]
    return low_value + (high_value - low_value) * (raw - low) / (high - low)

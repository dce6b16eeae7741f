"""The fitted weights: features -> score of a place, and evidence for the best place -> a calibrated confidence."""

import json
import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from operator import mul
from typing import Any


@cache
def _model() -> dict[str, Any]:
    model: dict[str, Any] = json.loads(files(__package__).joinpath("model.json").read_text(encoding="utf-8"))
    return model


def score(group: str, features: Sequence[float]) -> float:
    """How well a place fits, as log odds."""
    weights: list[float] = _model()["places"][group]
    return sum(map(mul, weights, features))


def confidence(group: str, features: Sequence[float]) -> float:
    """How sure it is that the best place is right, 0 to 1, as often as that was so in the labelled documents."""
    weights: list[float] = _model()["decisions"][group]
    odds = sum(map(mul, weights, features))
    raw = 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))
    steps: list[list[float]] = _model()["calibration"]
    if not steps:
        return raw
    at = bisect_right([step[0] for step in steps], raw)
    if at == 0:
        return steps[0][1]
    if at == len(steps):
        return steps[-1][1]
    (low, low_value), (high, high_value) = steps[at - 1], steps[at]
    return low_value + (high_value - low_value) * (raw - low) / (high - low)

"""Correct p-values for the number of questions asked at once."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """The p-values adjusted by Holm's method: at most 5% false alarms among *all* of those that are below 0.05.

    With `weights` a question may get a larger share of the 5% than another; what a settled question no longer
    needs passes on to the others in proportion.
    """
    shares = [1.0] * len(p_values) if weights is None else list(weights)
    adjusted = [1.0] * len(p_values)
    reached, remaining = 0.0, sum(shares)
    for at in sorted(range(len(p_values)), key=lambda i: p_values[i] / shares[i]):
        reached = max(reached, min(1.0, p_values[at] * remaining / shares[at]))
        adjusted[at] = reached
        remaining -= shares[at]
    return adjusted

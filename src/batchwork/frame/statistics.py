"""Decide the plain numbers of a series: what numpy says, without overflow at either end of the scale."""

import numpy as np

from batchwork.frame.description import Statistics
from batchwork.frame.noise import Floats
from batchwork.frame.samples import Samples

_LONG = 50_000


def exponent_of(values: Floats) -> int:
    """A power of two by which values come near 1, so that no square overflows or vanishes."""
    largest = float(np.max(np.abs(values))) if values.size else 0.0
    return int(np.frexp(largest)[1]) if largest > 0 else 0


def ldexp_or_inf(number: float, exponent: int) -> float:
    """number times 2**exponent; infinite beyond the largest float, which the words then say."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.ldexp(number, exponent))


def statistics_of(samples: Samples) -> Statistics | None:
    """The numbers of the finite values, or None if there are none."""
    values = samples.values
    if values.size == 0:
        return None
    exponent = exponent_of(values)
    scaled = np.ldexp(values, -exponent)
    low, high = int(np.argmin(scaled)), int(np.argmax(scaled))
    mean = float(scaled.mean())
    slope, r2 = _line(scaled, samples.at)
    sizes = dict(zip(("p5", "p25", "median", "p75", "p95"), _percentiles(scaled, (5, 25, 50, 75, 95)), strict=True))
    sizes |= {"iqr": sizes["p75"] - sizes["p25"], "mean": mean, "std": float(scaled.std()), "total": mean * values.size}
    sizes |= {"minimum": scaled[low], "maximum": scaled[high], "range": scaled[high] - scaled[low]}
    sizes |= {"first": scaled[0], "last": scaled[-1], "slope": slope * samples.timeline.per_unit}
    return Statistics(
        **{name: ldexp_or_inf(number, exponent) for name, number in sizes.items()},
        minimum_at=_first_row(samples, low),
        maximum_at=_first_row(samples, high),
        last_at=int(samples.rows[-1]),
        r2=r2,
    )


def _percentiles(values: Floats, percents: tuple[float, ...]) -> list[float]:
    """Linear percentiles, as numpy defines them; of a short series, one sort is cheaper than five selections."""
    last = values.size - 1
    ranks = sorted({min(int(last * percent / 100.0) + more, last) for percent in percents for more in (0, 1)})
    ordered = np.sort(values) if values.size < _LONG else np.partition(values, ranks)
    found = []
    for percent in percents:
        place = (ordered.size - 1) * percent / 100.0
        low = int(place)
        a, b = float(ordered[low]), float(ordered[min(low + 1, ordered.size - 1)])
        found.append(a + (b - a) * (place - low))
    return found


def _first_row(samples: Samples, place: int) -> int:
    """The original index of an extreme; of equal ones the first in the original order."""
    same = samples.values == samples.values[place]
    return int(samples.rows[same].min())


def _line(scaled: Floats, at: Floats) -> tuple[float, float]:
    """Least-squares slope per step over everything, and the share of the variance it explains."""
    if scaled.size < 2:
        return 0.0, 0.0
    t = at - at.mean()
    y = scaled - scaled.mean()
    across, along, up = float(t @ y), float(t @ t), float(y @ y)
    if along <= 0 or up <= 0:
        return 0.0, 0.0
    return across / along, min(across * across / (along * up), 1.0)

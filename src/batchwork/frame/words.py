"""Decide the words: a description as labelled numbers in at most 220 tokens (four characters each).

Every number stands right after a plain label. Lists give way first when room is short.
"""

from math import floor, isfinite, log10

from batchwork.frame.description import Anomaly, Description, Statistics
from batchwork.frame.timeline import unit_below

MOST_CHARACTERS = 880
_LEAST, _MOST = 4, 15  # significant digits
_ROUNDING = 1e-12
_LABELS = ("mean", "median", "std", "min", "max", "range", "p5", "p25", "p75", "p95", "IQR", "first")
_FIELDS = {"min": "minimum", "max": "maximum", "IQR": "iqr"}
_AFTER_GAP = " (after a gap)"


def write(number: float, spread: float = 0.0) -> str:
    """The number in the fewest characters that keep four digits, and a hundredth of the spread."""
    if number == 0 or not isfinite(number):
        return "0" if number == 0 else "beyond 1.8e308"
    size = floor(log10(abs(number)))
    digits = _LEAST
    if spread > 0:
        digits = max(digits, size - floor(log10(spread)) + 3)
    if 0 <= size < 7:
        digits = max(digits, size + 1)  # whole numbers below ten million are written out
    digits = min(digits, _MOST)
    if -4 <= size < 15 and (size < 7 or digits > size):
        text = f"{number:.{max(digits - 1 - size, 0)}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, _, power = f"{number:.{digits - 1}e}".partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    text = f"{mantissa}e{int(power)}"
    return text if isfinite(float(text)) else repr(number)  # rounded up beyond the largest float


def _say(number: float, spread: float = 0.0) -> str:
    """A number, and nothing where it is only what rounding left."""
    return write(0.0 if abs(number) < _ROUNDING * spread else number, spread)


def render(description: Description) -> str:
    """The description in words."""
    for listed in (6, 4, 3, 2, 1, 0):
        text = _render(description, listed)
        if len(text) <= MOST_CHARACTERS:
            return text
    return text[: MOST_CHARACTERS - 1].rsplit(". ", 1)[0] + "."


def _render(d: Description, listed: int) -> str:
    parts = [_head(d)]
    if d.statistics is None:
        parts.append("No finite value to describe")
    else:
        spread = d.statistics.std
        parts.append(_numbers(d, d.statistics))
        if d.trend is not None:
            parts += [_trend(d, d.statistics), _seasons(d, spread)]
            parts += [_changes(d, listed, spread), _anomalies(d, listed, spread)]
        parts += [_distribution(d), _volatility(d), _last(d, spread)]
    if d.quality:
        parts.append("quality: " + "; ".join(note[:90] for note in d.quality[: max(1, listed)]))
    return ". ".join(part for part in parts if part) + "."


def _head(d: Description) -> str:
    name = f"{d.context[:60].strip()}: " if d.context else ""
    unit = f", unit {d.unit[:12]}" if d.unit else ""
    infinite = f", infinite {d.infinite}" if d.infinite else ""
    base = f", all values relative to {d.base}" if d.base else ""
    return f"{name}count {d.count}, missing {d.missing}{_gaps(d)}{infinite}{unit}{base}"


def _gaps(d: Description) -> str:
    if d.gaps is None or d.count < 2:
        return ""
    after, before = d.gaps.after_time or d.gaps.after, d.gaps.before_time or d.gaps.before
    where = f"after {after}" if before is None else f"before {before}"
    if after is not None and before is not None:
        where = f"between {after} and {before}"
    return f" ({where})" if d.gaps.count == 1 else f" ({d.gaps.count} gaps, longest {d.gaps.longest} {where})"


def _numbers(d: Description, s: Statistics) -> str:
    if d.count == 1:
        return f"value {_say(s.last)} at {s.last_at}"
    if s.range == 0:
        only = _say(s.mean)
        return f"constant: mean {only}, median {only}, std 0, min {only} at {s.minimum_at}, max {only}, range 0"
    places = {"min": f" at {s.minimum_at}", "max": f" at {s.maximum_at}"}
    return ", ".join(
        f"{label} {_say(getattr(s, _FIELDS.get(label, label)), s.std)}{places.get(label, '')}" for label in _LABELS
    )


def _trend(d: Description, s: Statistics) -> str:
    assert d.trend is not None
    line = f"slope {_say(s.slope)} per {d.slope_per}, R2 {s.r2:.3g}"
    if d.trend.direction == "none":
        wanders = "wanders, " if d.trend.wanders else ""
        return f"trend: none ({wanders}{line}, {'certain' if d.trend.certain else 'not significant'})"
    curved = " (curved)" if d.trend.curved else ""
    wanders = ", wanders" if d.trend.wanders else ""
    sure = "certain" if d.trend.certain else f"confidence {min(d.trend.confidence, 0.999) * 100:.4g}%"
    return f"trend: {d.trend.direction}{curved}, {line}, {sure}{wanders}"


def _seasons(d: Description, spread: float) -> str:
    if not d.seasons:
        return "season: none"
    return "season: " + "; ".join(
        f"period {season.period:.4g}{_duration(season.duration_s)}, strength {season.strength:.2f}, "
        f"amplitude {_say(season.amplitude, spread)}"
        for season in d.seasons
    )


def _duration(seconds: float | None) -> str:
    if seconds is None or not seconds > 0:
        return ""
    size, name = unit_below(seconds)
    count = f"{seconds / size:.3g}"
    return f" steps ({count} {name}{'s' * (count != '1')})"


def _changes(d: Description, listed: int, spread: float) -> str:
    points = d.change_points
    if not points:
        return "change points: none"
    shown = sorted(sorted(points, key=lambda p: -abs(p.after - p.before))[: max(listed, 1)], key=lambda p: p.index)
    text = "; ".join(
        f"at {p.index}{_AFTER_GAP * p.after_gap} from {_say(p.before, spread)} to {_say(p.after, spread)}"
        for p in shown
    )
    more = f" (largest {len(shown)} listed)" if len(shown) < len(points) else ""
    return f"change points: {len(points)}{more}: {text}"


def _anomalies(d: Description, listed: int, spread: float) -> str:
    if not d.anomaly_count:
        return "anomalies: none"
    shown = sorted(d.anomalies[: max(listed, 1)], key=lambda a: a.index)
    text = "; ".join(f"at {a.index} value {_say(a.value, spread)} ({_far(a, spread)})" for a in shown)
    more = f" (farthest {len(shown)} listed)" if len(shown) < d.anomaly_count else ""
    return f"anomalies: {d.anomaly_count}{more}: {text}"


def _far(anomaly: Anomaly, spread: float) -> str:
    size = abs(anomaly.deviations)
    if size >= 1e4:  # without noise there is nothing to measure it by
        return f"expected {_say(anomaly.expected, spread)}"
    return f"{size:.3g} sigma {'above' if anomaly.deviations > 0 else 'below'}"


def _distribution(d: Description) -> str:
    shape = d.distribution
    if shape.kind in ("unknown", "constant"):
        return ""
    rest = " around the structure" if shape.of_rest else ""
    modes = f", modes {_say(shape.modes[0])} and {_say(shape.modes[1])}" if len(shape.modes) == 2 else ""
    distinct = f", {shape.distinct} distinct values" if shape.distinct else ""
    return f"distribution: {shape.kind}{rest}{modes}{distinct}"


def _volatility(d: Description) -> str:
    v = d.volatility
    if v is None:
        return ""
    if v.noise == 0:
        return "volatility: no noise"
    if v.index is None or v.before is None or v.after is None:
        return f"volatility: steady, noise std {_say(v.noise)}"
    return f"volatility: changes at {v.index}, noise std from {_say(v.before)} to {_say(v.after)}"


def _last(d: Description, spread: float) -> str:
    if d.last is None or d.count < 2:
        return ""
    place = {"usual": "within p5-p95", "high": "above p95", "low": "below p5"}[d.last.place]
    return f"last {_say(d.last.value, spread)} at {d.last.index}, {place}"

"""What holds for every series."""

import math
import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from batchwork.frame import Description, describe_series

ANYTHING = st.lists(
    st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.integers(), st.none(), st.booleans()), max_size=60
)


NUMBERS = st.lists(st.floats(min_value=-1e6, max_value=1e6), min_size=0, max_size=80)


def _numbers(part: object) -> list[float]:
    if isinstance(part, dict):
        return [number for item in part.values() for number in _numbers(item)]
    if isinstance(part, list | tuple):
        return [number for item in part for number in _numbers(item)]
    return [part] if isinstance(part, float) else []


def _verdict(description: Description) -> tuple[object, ...]:
    return (
        description.trend and description.trend.direction,
        tuple(round(season.period, 3) for season in description.seasons),
        tuple(point.index for point in description.change_points),
        tuple(sorted(anomaly.index for anomaly in description.anomalies)),
        description.distribution.kind,
        description.volatility is not None and description.volatility.index,
    )


@settings(max_examples=150, deadline=None)
@given(ANYTHING)
def test_no_input_crashes_and_no_text_is_longer_than_220_tokens(values: list[object]) -> None:
    text = describe_series(values, context="a rather long context that says what the series is about, at length")
    assert len(text) <= 880
    assert not re.search(r"\b(nan|inf)\b", text, re.IGNORECASE)


@settings(max_examples=60, deadline=None)
@given(NUMBERS)
def test_every_number_of_a_description_is_finite(values: list[float]) -> None:
    for number in _numbers(describe_series(values, output="json")):
        assert math.isfinite(number)


@settings(max_examples=40, deadline=None)
@given(NUMBERS)
def test_statistics_are_those_of_numpy(values: list[float]) -> None:
    statistics = describe_series(values, output="full").statistics
    if not values:
        assert statistics is None
        return
    array = np.array(values)
    assert statistics is not None
    for mine, theirs in (
        (statistics.mean, array.mean()),
        (statistics.std, array.std()),
        (statistics.median, np.median(array)),
        (statistics.p5, np.percentile(array, 5)),
        (statistics.p95, np.percentile(array, 95)),
    ):
        # numpy squares without scaling: what lies below 1e-150 vanishes in its own standard deviation.
        assert math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-9 * np.abs(array).max() + 1e-150)
    assert array[statistics.minimum_at] == array.min()
    assert array[statistics.maximum_at] == array.max()


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([2.0**-30, 0.25, 8.0, 2.0**40]), st.sampled_from([-64.0, 0.0, 1024.0]))
def test_unit_and_offset_change_no_verdict(seed: int, factor: float, offset: float) -> None:
    dice = np.random.default_rng(seed)
    at = np.arange(120)
    values = dice.standard_normal(120) + 4.0 * (at >= 70) + 2.0 * np.sin(at * 2 * np.pi / 12)
    values = np.round(values, 3)
    moved = describe_series(values * factor + offset * factor, output="full")
    assert _verdict(moved) == _verdict(describe_series(values, output="full"))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_the_order_of_rows_matters_only_where_time_does(seed: int) -> None:
    dice = np.random.default_rng(seed)
    values = dice.exponential(size=90)
    order = dice.permutation(90)
    one, other = describe_series(values, output="full"), describe_series(values[order], output="full")
    assert one.statistics is not None
    assert other.statistics is not None
    for name in ("median", "minimum", "maximum", "p5", "p25", "p75", "p95", "iqr", "range"):
        assert getattr(one.statistics, name) == getattr(other.statistics, name)
    assert math.isclose(one.statistics.std, other.statistics.std, rel_tol=1e-12)
    assert other.statistics.maximum_at == int(np.argmax(values[order]))

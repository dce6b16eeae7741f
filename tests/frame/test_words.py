"""The words and the numbers in them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.frame import describe_series, render
from batchwork.frame.words import write

NOISE = np.random.default_rng(0).standard_normal(300)


NAN = float("nan")


def test_the_text_is_rendered_from_the_description_alone() -> None:
    assert render(describe_series(NOISE, output="full")) == describe_series(NOISE)


def test_every_statistic_has_its_label() -> None:
    text = describe_series(NOISE)
    labels = ["count", "missing", "mean", "median", "std", "min", "max", "range", "p5", "p25", "p75", "p95", "IQR"]
    for label in [*labels, "slope", "last", "first"]:
        assert f"{label} " in text


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, 2.0, NAN, NAN, 5.0], "missing 2 (between 1 and 4)"),
        ([NAN, 2.0, 3.0], "missing 1 (before 1)"),
        ([1.0, 2.0, NAN], "missing 1 (after 1)"),
        ([1.0, NAN, 2.0, 4.0, NAN, NAN, 3.0], "missing 3 (2 gaps, longest 2 between 3 and 6)"),
    ],
)
def test_a_gap_is_described_as_a_gap(values: list[float], words: str) -> None:
    assert words in describe_series(values)


@pytest.mark.parametrize(
    ("number", "spread", "text"),
    [
        (0.0, 0.0, "0"),
        (12.3456, 0.0, "12.35"),
        (1e-6, 0.0, "1e-6"),
        (-1.23456e12, 0.0, "-1.235e12"),
        (123456.0, 0.0, "123456"),
        (1000002.4, 0.8, "1000002.4"),
        (0.00123456, 0.0, "0.001235"),
        (5.0, 2.0, "5"),
    ],
)
def test_numbers_are_written_short_and_exactly_enough(number: float, spread: float, text: str) -> None:
    assert write(number, spread) == text


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(min_value=0, allow_nan=False, allow_infinity=False))
def test_a_written_number_is_right_to_the_digits_shown(number: float, spread: float) -> None:
    assert math.isclose(float(write(number, spread)), number, rel_tol=5.01e-4, abs_tol=0.0)

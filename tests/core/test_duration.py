"""Lengths of time in words."""

import pytest

from batchwork.core.duration import duration, rough_duration


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (135.2, "2 min 15 s"),
        (3600, "1 h 0 min"),
        (9000, "2 h 30 min"),
    ],
)
def test_a_length_of_time_has_two_units(seconds: float, words: str) -> None:
    assert duration(seconds) == words
    assert duration(seconds, second="sec") == words.replace(" s", " sec")


@pytest.mark.parametrize(("seconds", "words"), [(119, "119 s"), (300, "5 min"), (3600, "60 min"), (9000, "2.5 h")])
def test_a_rough_one_has_one(seconds: float, words: str) -> None:
    assert rough_duration(seconds) == words

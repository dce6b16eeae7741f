"""What counts as a number, and where it stood."""

from decimal import Decimal

import numpy as np
import pytest

from batchwork.frame import FrameError, describe_series


def test_indices_stay_those_of_the_original_series_around_missing_values() -> None:
    values = np.random.default_rng(1).standard_normal(200)
    values[[3, 50, 51]] = np.nan
    values[120] = 40.0
    full = describe_series(values, output="full")
    assert (full.count, full.missing, full.length) == (197, 3, 200)
    assert [anomaly.index for anomaly in full.anomalies] == [120]
    assert full.statistics is not None
    assert full.statistics.maximum_at == 120


def test_infinities_are_left_out_counted_and_placed() -> None:
    text = describe_series([1.0, 2.0, float("inf"), 3.0, float("-inf"), 2.0])
    assert "count 4, missing 0, infinite 2" in text
    assert "first at 2" in text
    assert "inf," not in text


def test_nothing_at_all_is_said_to_be_nothing() -> None:
    assert describe_series([]) == "count 0, missing 0. No finite value to describe."


def test_all_missing_is_counted_as_missing() -> None:
    assert describe_series([None, float("nan"), None]) == "count 0, missing 3. No finite value to describe."


def test_one_point_is_its_value_and_place() -> None:
    assert describe_series([None, 7.25]) == "count 1, missing 1. value 7.25 at 1."


def test_two_points_get_numbers_and_no_claims() -> None:
    full = describe_series([1.0, 3.0], output="full")
    assert full.statistics is not None
    assert full.statistics.mean == 2.0
    assert full.trend is None
    assert full.change_points == ()


def test_a_constant_is_constant_and_nothing_else() -> None:
    full = describe_series([4.5] * 100, output="full")
    assert full.distribution.kind == "constant"
    assert (full.trend, full.seasons, full.change_points, full.anomaly_count) == (None, (), (), 0)


def test_booleans_are_zeros_and_ones_and_said_to_be() -> None:
    text = describe_series([True, False, True, True])
    assert "mean 0.75" in text
    assert "booleans" in text


def test_decimals_are_numbers() -> None:
    full = describe_series([Decimal("1.5"), Decimal("2.5"), Decimal("NaN")], output="full")
    assert full.statistics is not None
    assert full.statistics.mean == 2.0
    assert full.missing == 1


def test_integers_beyond_exact_floats_keep_their_differences() -> None:
    full = describe_series([2**60, 2**60 + 1, 2**60 + 2], output="full")
    assert full.base == 2**60
    assert full.statistics is not None
    assert full.statistics.mean == 1.0
    assert f"relative to {2**60}" in describe_series(np.array([2**60, 2**60 + 1]))


def test_strings_that_are_numbers_are_read_as_numbers() -> None:
    full = describe_series(["1", " 2.5 ", "3e0", "", "NA"], output="full")
    assert full.count == 3
    assert full.missing == 2
    assert any("text" in note for note in full.quality)


def test_a_string_that_is_no_number_is_named_with_its_place() -> None:
    with pytest.raises(FrameError, match=r"item 2 is the text 'abc'"):
        describe_series(["1", "2", "abc"])


def test_an_object_that_is_no_number_is_named_with_its_place() -> None:
    with pytest.raises(FrameError, match="item 1 is"):
        describe_series([1, object(), 3])


def test_two_dimensions_are_refused_with_the_remedy() -> None:
    with pytest.raises(FrameError, match="describe_dataframe"):
        describe_series(np.zeros((3, 4)))


@pytest.mark.parametrize("data", [None, "12345", {"a": 1}, 5.0, b"12"])
def test_what_is_no_series_is_refused(data: object) -> None:
    with pytest.raises(FrameError, match="expected"):
        describe_series(data)


def test_complex_and_datetime_values_are_refused() -> None:
    with pytest.raises(FrameError, match="complex"):
        describe_series(np.array([1j, 2.0]))
    with pytest.raises(FrameError, match="datetime"):
        describe_series(np.array(["2024-01-01"], dtype="datetime64[D]"))


def test_the_largest_floats_do_not_overflow() -> None:
    text = describe_series([1e308, -1e308, 0.0, 1e308, -1e308] * 4)
    assert "std 8.944e307" in text
    assert "range beyond 1.8e308" in text
    assert "nan" not in text


def test_subnormal_numbers_are_described() -> None:
    text = describe_series([5e-324, 1e-320, 2e-320, 0.0])
    assert "max 2e-320 at 2" in text


def test_object_arrays_are_read_item_by_item() -> None:
    full = describe_series(np.array([1, 2.0, None, Decimal(3)], dtype=object), output="full")
    assert (full.count, full.missing) == (3, 1)


def test_masked_arrays_have_their_masked_values_missing() -> None:
    full = describe_series(np.ma.array([1.0, 2.0, 99.0], mask=[False, False, True]), output="full")
    assert (full.count, full.missing) == (2, 1)


def test_huge_numbers_given_as_text_are_all_there() -> None:
    told = describe_series([str(value) for value in (-1.7e308, 1.7e308, 3.0, 4.0, 5.0)], output="full")
    assert (told.count, told.infinite, told.base) == (5, 0, 0)


def test_huge_whole_numbers_that_lie_close_together_are_told_by_their_differences() -> None:
    assert describe_series([2**60, 2**60 + 1, 2**60 + 3], output="full").base == 2**60
    assert describe_series([2**60, 5, -(2**60)], output="full").base == 0

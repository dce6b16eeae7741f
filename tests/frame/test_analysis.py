"""Everything at once, nothing where there is nothing, and one thread of linear algebra inside a description."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from batchwork.frame import describe_series
from batchwork.frame.analysis import one_thread
from tests.frame.given import described, dice


@pytest.mark.parametrize("seed", range(5))
def test_white_noise_has_nothing_to_claim(seed: int) -> None:
    d = described(dice(seed).standard_normal(300))
    assert d.trend is not None
    assert d.trend.direction == "none"
    assert (d.seasons, d.change_points, d.anomaly_count) == ((), (), 0)
    assert d.distribution.kind == "normal"


def test_random_walks_rarely_have_a_trend_a_season_or_a_step() -> None:
    wrong = 0
    for seed in range(25):
        d = described(np.cumsum(dice(seed).standard_normal(300)))
        assert d.trend is not None
        wrong += d.trend.direction != "none" or bool(d.seasons) or bool(d.change_points)
    assert wrong <= 4


def test_everything_at_once_is_told_apart() -> None:
    at = np.arange(500)
    values = 20 + 0.02 * at + 3 * np.sin(at * 2 * np.pi / 24) + 6.0 * (at >= 300) + dice(17).standard_normal(500)
    values[[100, 400]] += (15.0, -15.0)
    values[50:55] = np.nan
    d = described(values)
    assert d.trend is not None
    assert d.trend.direction == "rising"
    assert [round(season.period) for season in d.seasons] == [24]
    assert [abs(point.index - 300) <= 2 for point in d.change_points] == [True]
    assert sorted(anomaly.index for anomaly in d.anomalies) == [100, 400]
    assert d.missing == 5


def counts() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_one_thread_inside_and_as_many_as_before_outside() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        before = counts()
        with one_thread(), one_thread():
            assert set(counts()) == {1}
        assert counts() == before


def test_descriptions_in_several_threads_leave_the_process_as_it_was() -> None:
    values = np.random.default_rng(0).standard_normal(200)
    with threadpool_limits(limits=2, user_api="blas"):
        before = counts()
        with ThreadPoolExecutor(4) as pool:
            texts = set(pool.map(lambda _: describe_series(values), range(12)))
        assert len(texts) == 1
        assert counts() == before


def test_a_step_beside_an_odd_point_in_a_hole_stands_in_the_widest_gap() -> None:
    values = dice(5).standard_normal(300) + 8.0 * (np.arange(300) >= 120)
    values[100:190] = np.nan
    values[180] = -30.0
    d = described(values)
    assert [(point.index, point.after_gap) for point in d.change_points] == [(180, True)]
    assert [anomaly.index for anomaly in d.anomalies] == [180]

"""Linear algebra runs on one thread inside a description, and on as many as before around it."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from batchwork.frame import describe_series
from batchwork.frame.threads import one_thread


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

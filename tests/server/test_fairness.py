"""One beside a thousand."""

import http.client
import json
import threading
import time
from statistics import median

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from tests.server.house import House, serving
from tests.support.waiting import becomes_true


def timed(house: House) -> float:
    started = time.perf_counter()
    assert house.prompt(prompt="small").status == 200
    return time.perf_counter() - started


def test_a_request_of_one_is_not_stuck_behind_a_request_of_a_thousand() -> None:
    backend = MockBackend(clock=SystemClock(), latency_s=0.1)
    with serving(backend, max_in_flight=50, batch_size=100) as house:
        timed(house)

        def compared() -> float:
            alone = median(timed(house) for _ in range(5))
            large = threading.Thread(target=house.prompts, args=(["large"] * 500,))
            large.start()
            assert becomes_true(lambda: backend.in_flight > 40)
            beside = median(timed(house) for _ in range(5))
            assert large.is_alive()
            large.join()
            return beside / alone

        assert any(compared() <= 1.5 for _ in range(3))  # a busy machine may be late, but not each time
    assert backend.most_in_flight <= 50


def test_the_places_left_for_newcomers_are_few() -> None:
    backend = MockBackend(clock=SystemClock(), latency_s=0.05)
    with serving(backend, max_in_flight=20, batch_size=100) as house:
        house.prompts(["x"] * 100)
    assert backend.most_in_flight == 18


def test_many_small_requests_use_the_whole_window() -> None:
    backend = MockBackend(clock=SystemClock(), latency_s=0.3)
    with serving(backend, max_in_flight=10) as house:
        threads = [threading.Thread(target=house.prompt, kwargs={"prompt": "x"}) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert backend.most_in_flight == 10


def test_large_requests_take_turns() -> None:
    backend = MockBackend(clock=SystemClock(), latency_s=0.02)
    ended: dict[str, float] = {}
    with serving(backend, max_in_flight=10) as house:

        def ask(name: str, size: int) -> None:
            connection = http.client.HTTPConnection(house.host, house.port, timeout=30)
            body = json.dumps({"prompts": [{"prompt": "x"}] * size})
            connection.request("POST", "/api/v1/prompts", body, {"content-type": "application/json"})
            assert connection.getresponse().status == 200
            connection.close()
            ended[name] = time.perf_counter()

        first = threading.Thread(target=ask, args=("first", 400))
        first.start()
        assert becomes_true(lambda: backend.in_flight > 0)
        second = threading.Thread(target=ask, args=("second", 60))
        second.start()
        first.join()
        second.join()
    assert ended["second"] < ended["first"]

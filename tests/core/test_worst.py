"""The most a call can cost."""

from batchwork.core.pricing import FREE, stated
from batchwork.core.request import Request
from batchwork.core.worst import WorstCase

_REQUEST = Request.ask("name a river", max_tokens=100)


def test_what_a_backend_adds_around_a_request_is_part_of_its_worst_case() -> None:
    price = stated(1, 1)  # a micro-dollar per token
    plain, around = (WorstCase(price, overhead_tokens=tokens) for tokens in (0, 2000))
    assert around.input_tokens(_REQUEST) == plain.input_tokens(_REQUEST) + 2000
    assert around.nano(_REQUEST) == plain.nano(_REQUEST) + 2000 * 1000


def test_a_count_that_is_known_goes_before_the_bound() -> None:
    assert WorstCase(stated(1, 1), overhead_tokens=50).nano(_REQUEST, input_tokens=7) == 107 * 1000


def test_what_is_free_or_not_known_reserves_nothing() -> None:
    assert [WorstCase(price, overhead_tokens=5).nano(_REQUEST) for price in (None, FREE)] == [0, 0]

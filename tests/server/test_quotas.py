"""What a request holds of the server."""

import pytest

from batchwork.server.api import ApiError
from batchwork.server.config import ConnectionLimits, ServerConfig
from batchwork.server.keys import key_ring
from batchwork.server.quotas import Lease, Quotas

KEYS = ["the-first-key-of-two", "the-second-key-of-two"]


def quotas(keys: int = 2, **settings: int) -> Quotas:
    limits = ConnectionLimits(max_connections=4)
    return Quotas(ServerConfig(model="mock:echo", keys=key_ring(KEYS[:keys]), connections=limits, **settings))  # type: ignore[arg-type]


def test_a_lease_gives_back_all_it_held_whatever_happens() -> None:
    held = quotas()

    def fail() -> None:
        with Lease(held, 1) as lease:
            lease.take_bytes(100)
            lease.begin()
            lease.add_bytes(50)
            assert (held.bytes.used, held.requests.used) == (150, 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (held.bytes.used, held.requests.used) == (0, 0)


def test_one_caller_of_several_leaves_room_for_the_others_and_alone_has_all() -> None:
    several, alone = quotas(), quotas(keys=1)
    with Lease(several, 1) as first, Lease(several, 1) as second, Lease(several, 1) as third:
        first.begin()
        second.begin()
        with pytest.raises(ApiError, match="left for others") as refused:
            third.begin()
        assert refused.value.code == "too_busy"
        with Lease(several, 2) as other:
            other.begin()
    leases = [Lease(alone, 1) for _ in range(4)]
    for lease in leases:
        lease.begin()
    assert alone.requests.used == 4


def test_prompts_beyond_the_total_are_refused_unless_they_come_alone() -> None:
    held = quotas(max_open_prompts=10)
    held.take_prompts(1, 50)
    with pytest.raises(ApiError, match="50 of 10 prompts"):
        held.take_prompts(2, 1)

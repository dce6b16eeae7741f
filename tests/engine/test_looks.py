from itertools import islice

import pytest

from batchwork.clock import SystemClock
from batchwork.core.failure import FailureKind
from batchwork.core.policy import BatchPolicy, Policy
from batchwork.engine.looks import Sight, looks
from tests.support.scripted import failure
from tests.support.virtual_time import run_virtual


def test_looks_grow_apart_up_to_the_longest_and_go_on_without_end() -> None:
    pauses = list(islice(looks(BatchPolicy(poll_first_s=5.0)), 50))
    assert pauses[:2] == [5.0, 7.5]
    assert pauses == sorted(pauses)
    assert pauses[-1] == BatchPolicy().poll_longest_s


@pytest.mark.parametrize(("was_seen", "gives_up"), [(False, True), (True, False)])
def test_a_batch_that_was_seen_once_is_waited_for_longer(was_seen: bool, gives_up: bool) -> None:
    async def main() -> bool:
        clock, policy = SystemClock(), Policy()
        sight = Sight("b1", where="here", policy=policy, clock=clock)
        if was_seen:
            sight.seen()
        assert not sight.lost(failure(FailureKind.CONNECTION))
        await clock.sleep(max(policy.stall_s, policy.batch.adopt_wait_s))
        return sight.lost(failure(FailureKind.CONNECTION))

    assert run_virtual(main()) is gives_up

from batchwork.core.lease import RateAnswer
from batchwork.core.leased_bucket import LeasedBucket
from batchwork.core.policy import RatePolicy
from batchwork.core.reply import Limit, ReportedLimits
from batchwork.engine.rates import Rates
from tests.support.gates import need


class Shared:
    """A rate that others use as well."""

    def __init__(self) -> None:
        self.buckets = [LeasedBucket(kind="requests", per_s=10.0, on_short=lambda: None)]

    def learn(self, kind: str, per_minute: float) -> bool:
        return False

    def cool(self, seconds: float) -> None:
        raise NotImplementedError


def test_headers_that_tell_what_remains_do_not_lower_our_part_of_a_shared_rate() -> None:
    shared = Shared()
    rates = Rates(RatePolicy(), now=0.0, shared=[shared])
    shared.buckets[0].answered(RateAnswer(kind="requests", per_s=10.0, amount=2.0), 0.0)
    rates.learn(ReportedLimits(requests=Limit(per_minute=600, remaining=0)), 1.0)
    assert rates.wait_for(need(), 1.0) == 0.0

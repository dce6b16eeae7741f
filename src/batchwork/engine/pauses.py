"""Why a run through provider batches pauses, and what to do about it."""

from batchwork.core.breaker import Pause, no_access
from batchwork.core.failure import Failure, FailureKind


def stalled(failure: Failure, where: str) -> Pause:
    """No batch is taken, for too long."""
    if failure.kind is FailureKind.CONNECTION:
        return Pause(
            reason=f"The provider cannot be reached at {where} ({failure}).",
            remedy="Check the address (base_url) and the network, then run the same command again: no batch was made,"
            " and what is finished is kept.",
            cause="stalled",
        )
    return Pause(
        reason=f"The provider takes no batches ({failure}).",
        remedy="Wait until it recovers and run the same command again: what is finished is kept.",
        cause="stalled",
    )


def out_of_sight(batch: str, failure: Failure, where: str) -> Pause:
    """A batch is or may be at the provider, which cannot be asked about it."""
    if failure.kind is FailureKind.AUTH:
        return no_access(failure)
    return Pause(
        reason=f"The provider at {where} cannot be asked about batch {batch} ({failure}).",
        remedy="Check the address (base_url) and the network, then run the same command again: it looks for the batch"
        " before anything is sent, so that nothing is paid for twice.",
        cause="stalled",
    )


def not_known(batch_id: str, failure: Failure) -> Pause:
    """A batch is not found where it was made."""
    return Pause(
        reason=f"The provider does not know batch {batch_id} ({failure.message}).",
        remedy="Run the same command again with the key and base URL that the batch was made with: it may be paid for.",
        cause="batch",
    )

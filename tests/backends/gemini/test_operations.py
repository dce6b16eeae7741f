import json

import pytest

from batchwork.backends.gemini.operations import decode_operation, progress_of
from batchwork.core.failure import FailureKind as K


def operation(state, **fields):
    stats, output = fields.pop("stats", {}), fields.pop("output", None)
    metadata = {"state": state, "createTime": "2026-11-15T00:00:00.123456789Z", "batchStats": stats}
    if output is not None:
        metadata["output"] = output
    return decode_operation(json.dumps({"name": "batches/x", "metadata": metadata, **fields}).encode())


def test_counts_are_texts_and_the_end_is_48_hours_after_the_making():
    progress = progress_of(
        operation("BATCH_STATE_RUNNING", stats={"requestCount": "10", "successfulRequestCount": "4"})
    )
    assert (progress.ended, progress.total, progress.done) == (False, 10, 4)
    assert progress.expires_at == pytest.approx(1_794_700_800 + 48 * 3600, abs=1)


@pytest.mark.parametrize("state", ["BATCH_STATE_PENDING", "JOB_STATE_QUEUED", "BATCH_STATE_UNSPECIFIED", ""])
def test_what_is_not_said_to_have_ended_goes_on(state):
    assert not progress_of(operation(state)).ended


@pytest.mark.parametrize("state", ["BATCH_STATE_SUCCEEDED", "JOB_STATE_SUCCEEDED", "JOB_STATE_PARTIALLY_SUCCEEDED"])
def test_a_batch_that_has_ended_well_is_collected(state):
    progress = progress_of(operation(state, output={"responsesFile": "files/a"}))
    assert progress.ended
    assert (progress.failure, progress.unlisted) == (None, None)


@pytest.mark.parametrize("state", ["EXPIRED", "CANCELLED"])
def test_what_did_not_run_is_told_from_what_may_be_billed(state):
    nothing = progress_of(operation(f"BATCH_STATE_{state}", done=True, error={"code": 4, "message": "late"}))
    assert nothing.failure.kind is K.EXPIRED
    assert not nothing.failure.unconfirmed
    some = progress_of(operation(f"BATCH_STATE_{state}", stats={"successfulRequestCount": "3"}))
    assert some.failure.kind is K.RESULT_LOST
    assert some.failure.unconfirmed
    partly = progress_of(operation(f"BATCH_STATE_{state}", output={"responsesFile": "files/a"}))
    assert partly.failure is None
    assert partly.unlisted.kind is K.EXPIRED


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 3, "message": "a bad line"}, K.REJECTED),
        ({"code": 8, "message": "too many tokens are enqueued"}, K.RATE_LIMITED),
        ({"code": 13, "message": "sorry"}, K.SERVER),
        ({"code": 503, "message": "sorry", "status": "UNAVAILABLE"}, K.OVERLOADED),
        (None, K.REJECTED),
    ],
)
def test_a_batch_that_failed_says_why_by_a_number_of_grpc_or_of_http(error, kind):
    failed = progress_of(operation("BATCH_STATE_FAILED", done=True, error=error))
    assert failed.ended
    assert failed.failure.kind is kind

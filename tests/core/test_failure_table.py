"""What a failure means, by its kind and by what was being done."""

from __future__ import annotations

import pytest

from batchwork.core.failure import Failure, FailureKind
from batchwork.core.failure_table import (
    Operation,
    Trait,
    is_refusal,
    may_be_billed,
    may_have_created,
    traits_of,
)

K = FailureKind


def failure(kind: FailureKind, status: int | None = None, *, unconfirmed: bool = False) -> Failure:
    return Failure(kind=kind, message="scripted", status=status, unconfirmed=unconfirmed)


def test_every_kind_has_traits_for_every_operation() -> None:
    for kind in FailureKind:
        for operation in Operation:
            assert isinstance(traits_of(kind, operation), Trait)


@pytest.mark.parametrize("status", [500, 501, 502, 503, 504, 520, 529, 599, 408, 409])
@pytest.mark.parametrize("kind", [K.SERVER, K.OVERLOADED, K.TIMEOUT, K.AUTH, K.REJECTED])
def test_a_status_that_proves_nothing_may_have_created_a_batch_whatever_its_text_says(
    status: int, kind: FailureKind
) -> None:
    assert may_have_created(failure(kind, status))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 429])
@pytest.mark.parametrize("kind", [K.REJECTED, K.AUTH, K.TOO_LONG, K.RATE_LIMITED, K.OVERLOADED, K.SERVER])
def test_a_status_that_says_no_created_nothing(status: int, kind: FailureKind) -> None:
    assert not may_have_created(failure(kind, status))


@pytest.mark.parametrize("kind", [K.TIMEOUT, K.SERVER, K.OVERLOADED, K.INTERNAL, K.RESULT_LOST])
def test_without_a_status_the_kind_says_whether_a_batch_may_have_been_created(kind: FailureKind) -> None:
    assert may_have_created(failure(kind))


def test_a_connection_says_itself_whether_anything_was_sent_over_it() -> None:
    assert may_have_created(failure(K.CONNECTION, unconfirmed=True))
    assert not may_have_created(failure(K.CONNECTION))


@pytest.mark.parametrize("status", [408, 502, 504, 520, 522, 524])
def test_a_gateway_that_gave_up_waiting_may_leave_a_bill(status: int) -> None:
    assert may_be_billed(failure(K.SERVER, status))


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 503, 529])
def test_an_error_that_the_provider_states_itself_is_not_billed(status: int) -> None:
    assert not may_be_billed(failure(K.SERVER, status))


def test_a_lost_result_may_be_billed_and_is_not_sent_again() -> None:
    assert may_be_billed(failure(K.RESULT_LOST))
    assert Trait.RETRYABLE not in traits_of(K.RESULT_LOST)


def test_refusals_are_those_that_turn_a_call_away() -> None:
    assert {kind for kind in FailureKind if is_refusal(failure(kind))} == {K.RATE_LIMITED, K.OVERLOADED}


def test_no_look_at_a_batch_is_given_up_but_for_a_key_that_is_not_accepted() -> None:
    for operation in (Operation.POLL, Operation.COLLECT):
        hopeless = {kind for kind in FailureKind if Trait.HOPELESS in traits_of(kind, operation)}
        assert hopeless == {K.AUTH}

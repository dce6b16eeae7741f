"""What a call is booked at, whatever came back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.charge import Charge, charge_for
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.pricing import stated
from batchwork.core.reply import Reply, Usage

PRICE = stated(1, 2)
WORST = 999
TOLD = Usage(input_tokens=10, output_tokens=5)


def charged(result: Reply | Failure) -> Charge:
    return charge_for(result, price=PRICE, worst_nano=WORST)


def failure(**told: object) -> Failure:
    return Failure(**({"kind": FailureKind.SERVER, "message": "scripted"} | told))  # type: ignore[arg-type]


def test_what_the_provider_told_is_what_it_costs() -> None:
    assert charged(Reply(text="yes", usage=TOLD)) == Charge(PRICE.cost(TOLD))


def test_a_cost_that_the_backend_reports_goes_before_the_price() -> None:
    assert charged(Reply(text="yes", usage=TOLD, reported_cost_nano=7)) == Charge(7)


def test_an_answer_without_a_usage_is_booked_at_its_worst_case() -> None:
    assert charged(Reply(text="yes")) == Charge(WORST, unconfirmed=True)


def test_no_text_was_ever_made_of_nothing() -> None:
    assert charged(Reply(text="yes", usage=Usage())) == Charge(WORST, unconfirmed=True)
    assert charged(Reply(text="", usage=Usage())) == Charge(0)


def test_an_answer_that_cannot_be_used_costs_what_it_used() -> None:
    reply = Reply(text="no", usage=TOLD)
    assert charged(failure(kind=FailureKind.REFUSED, reply=reply, usage=TOLD)) == Charge(PRICE.cost(TOLD))


def test_an_answer_that_cannot_be_used_and_tells_no_usage_is_booked_at_its_worst_case() -> None:
    assert charged(failure(kind=FailureKind.REFUSED, reply=Reply(text="no"))) == Charge(WORST, unconfirmed=True)


def test_a_failure_that_may_be_billed_is_booked_at_its_worst_case() -> None:
    for told in ({"unconfirmed": True}, {"status": 504}, {"kind": FailureKind.RESULT_LOST}):
        assert charged(failure(**told)) == Charge(WORST, unconfirmed=True)


def test_a_failure_that_is_not_billed_costs_nothing() -> None:
    assert charged(failure(status=500)) == Charge(0)
    assert charged(failure(kind=FailureKind.EXPIRED)) == Charge(0)


def test_without_a_price_nothing_is_booked() -> None:
    for result in (Reply(text="yes", usage=TOLD), Reply(text="yes"), failure(unconfirmed=True)):
        assert charge_for(result, price=None, worst_nano=0) == Charge(0)


@given(
    st.builds(Usage, input_tokens=st.integers(0, 10**6), output_tokens=st.integers(0, 10**6)),
    st.text(max_size=3),
)
def test_a_charge_is_confirmed_only_where_a_usage_was_told(usage: Usage, text: str) -> None:
    charge = charged(Reply(text=text, usage=usage))
    assert charge.unconfirmed == (bool(text) and usage == Usage())
    assert charge.nano == (WORST if charge.unconfirmed else PRICE.cost(usage))

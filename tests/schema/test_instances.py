"""Between JSON values and the user's own Pydantic models."""

import datetime as dt
import enum
import subprocess
import sys
from decimal import Decimal

import pytest
from pydantic import BaseModel, field_validator

from batchwork.schema import (
    Accepted,
    ModelChecker,
    Rejected,
    SchemaError,
    schema_from_model,
    typed,
)


class _Currency(enum.Enum):
    EUR = "EUR"
    USD = "USD"


class _Line(BaseModel):
    price: Decimal
    day: dt.date | None = None


class _Invoice(BaseModel, strict=True):
    currency: _Currency
    lines: list[_Line]

    @field_validator("lines")
    @classmethod
    def _some(cls, lines: list[_Line]) -> list[_Line]:
        if not lines:
            raise ValueError("an invoice has lines")
        return lines


def test_values_become_decimals_dates_and_enums_in_any_case() -> None:
    value = {"currency": "eur", "lines": [{"price": 1250.5, "day": "2026-01-02"}, {"price": 2, "day": None}]}
    assert typed(value, _Invoice) == _Invoice(
        currency=_Currency.EUR,
        lines=[_Line(price=Decimal("1250.5"), day=dt.date(2026, 1, 2)), _Line(price=Decimal(2))],
    )


def test_a_decimal_is_asked_for_as_a_number_with_its_bounds() -> None:
    class Bounded(BaseModel):
        price: Decimal

    assert schema_from_model(Bounded)["properties"]["price"] == {"title": "Price", "type": "number"}


def test_a_models_own_validators_count_too() -> None:
    checker = ModelChecker(_Invoice)
    good = {"currency": "EUR", "lines": [{"price": 1}]}
    assert checker.check('{"currency": "Eur", "lines": [{"price": 1}]}') == Accepted(good)
    assert checker.check('{"currency": "EUR", "lines": []}') == Rejected(("lines: Value error, an invoice has lines",))
    assert isinstance(checker.check('{"currency": "GBP", "lines": []}'), Rejected)


def test_a_model_that_has_no_schema_is_a_clear_error() -> None:
    class Odd(BaseModel, arbitrary_types_allowed=True):
        thing: subprocess.Popen[bytes]

    with pytest.raises(SchemaError, match="Odd cannot be asked for"):
        schema_from_model(Odd)


def test_pydantic_is_imported_only_when_it_is_needed() -> None:
    code = "import sys, batchwork.schema; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

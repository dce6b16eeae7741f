"""Python values as the JSON they stand for, and when two JSON values are the same."""

import datetime as dt
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from pydantic import BaseModel


def as_json(value: Any) -> Any:
    """The JSON value that a Python value stands for; what is JSON already stays the same object."""
    if isinstance(value, Enum):
        return as_json(value.value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dict):
        return {key: as_json(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(held) for held in value]
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return str(value) if isinstance(value, UUID) else value


def same_json(one: Any, other: Any) -> bool:
    """Equality as JSON has it: 1 is 1.0 and true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(one[key], other[key]) for key in one)
    return bool(one == other)

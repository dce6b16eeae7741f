"""A mention: a place in the text that says a number or a date, with the values it can be read as."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a mention. `weight` below 0.5 means the text does not settle that this is the way."""

    value: Decimal | date
    weight: float = 1.0
    kind: str = "plain"  # plain, fraction (of a percentage), percent, part (of a date or of a longer number)


@dataclass(frozen=True, slots=True)
class Mention:
    """A value as it stands, with its sign, currency, percent sign or magnitude."""

    start: int
    end: int
    readings: tuple[Reading, ...]
    core: int = 0  # where its first digit stands
    money: bool = False

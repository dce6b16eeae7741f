"""Money is an integer of nano-dollars, rounded up: never a float, never a fraction lost in our favour."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, InvalidOperation

from batchwork.core.errors import ConfigError

NANO = 1_000_000_000


def to_dollars(nano: int) -> Decimal:
    """Nano-dollars as exact dollars."""
    return (Decimal(nano) / NANO).normalize() + Decimal(0)


def ceiling_from_dollars(dollars: float | int | str | Decimal) -> int:
    """A limit in nano-dollars, rounded down: a ceiling is never raised by rounding."""
    return int((amount_of(dollars) * NANO).to_integral_value(ROUND_FLOOR))


def nano_from_dollars(dollars: float | int | str | Decimal) -> int:
    """A cost in nano-dollars, rounded up."""
    return int((amount_of(dollars) * NANO).to_integral_value(ROUND_CEILING))


def amount_of(value: object, what: str = "an amount of dollars") -> Decimal:
    """A number of at least 0; a ConfigError for anything else."""
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        raise ConfigError(f"not {what}: {value!r}") from None
    if not amount.is_finite() or amount < 0:
        raise ConfigError(f"{what} must be finite and at least 0, got {value!r}")
    return amount


def show(nano: int | None) -> str:
    """Money for people: cents when there are many, more digits when there are few."""
    if nano is None:
        return "unknown"
    dollars = Decimal(nano) / NANO
    if nano >= NANO or nano == 0:
        return f"${dollars:,.2f}"
    digits = f"{dollars:.{6 if nano >= 1000 else 9}f}".rstrip("0")
    return f"${digits.ljust(len('0.00'), '0')}"


def show_up(nano: int) -> str:
    """Money for people, rounded up as `show` rounds: what they type is not too little."""
    step = NANO // 100 if nano >= NANO else 1000 if nano >= 1000 else 1
    return show(-(-nano // step) * step)

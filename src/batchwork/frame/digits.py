"""Decide how a number is written: four significant digits, and as many more as the spread needs.

1000001, 1000002 and 1000003 differ in their seventh digit; four digits would make them one number.
"""

from __future__ import annotations

from math import floor, isfinite, log10

_LEAST = 4
_MOST = 15


def write(number: float, spread: float = 0.0) -> str:
    """The number in the fewest characters that keep four digits, and a hundredth of the spread."""
    if number == 0 or not isfinite(number):
        return "0" if number == 0 else "beyond 1.8e308"
    size = floor(log10(abs(number)))
    digits = _LEAST
    if spread > 0:
        digits = max(digits, size - floor(log10(spread)) + 3)
    if 0 <= size < 7:
        digits = max(digits, size + 1)  # whole numbers below ten million are written out
    digits = min(digits, _MOST)
    if -4 <= size < 15 and (size < 7 or digits > size):
        text = f"{number:.{max(digits - 1 - size, 0)}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, _, power = f"{number:.{digits - 1}e}".partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    text = f"{mantissa}e{int(power)}"
    return text if isfinite(float(text)) else repr(number)  # rounded up beyond the largest float

"""Calculations, "8 h x EUR 60.00 = EUR 480.00": the result has the label of the line, the second factor is a price."""

import re
from collections.abc import Iterator

from batchwork.evidence.page.labels import Label

_TIMES = r"(?:[x×*·@]|\bat\b|\bà\b|\bzu\b)"
_OPERAND = r"(?:[A-Z]{3}\s?|[$€£]\s?)?\d[\d.,]*\s?%?(?:\s?[^\W\d_]{1,7}\.?)?"
_RESULT = re.compile(rf"{_OPERAND}\s*{_TIMES}\s*{_OPERAND}\s*=\s*$")
_FACTOR = re.compile(rf"(?<![\w.,]){_OPERAND}\s*{_TIMES}\s*$")
_PRICE = Label("factor", {"rate": 0.7, "price": 0.7, "unit": 0.5}, "")
_REACH = 60


def without_operands(before: str) -> str:
    """The words before a place without the calculation of which it is the result."""
    if not before.rstrip().endswith("="):
        return before
    found = _RESULT.search(before, max(0, len(before) - _REACH))
    return before[: found.start()] if found else before


def factor_label(text: str, begin: int, start: int) -> Iterator[Label]:
    """What a figure is that another one is multiplied with: what one costs."""
    if start > begin and _FACTOR.search(text, max(begin, start - _REACH), start):
        yield _PRICE

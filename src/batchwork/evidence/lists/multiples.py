"""A line "3 x 3.60" on a receipt, and whether the item it counts stands above or below: the product tells."""

import re
from decimal import Decimal

from batchwork.evidence.page.layout import Layout

_UNIT = r"(?:\s?(?:kg|g|l|ml|pcs?|st|stk|ea|units?|Stück|m|h|hrs?))?\.?"
_MONEY = r"(?:[€$£]|[A-Z]{3})?\s?(\d[\d.,]{0,11})"
_MULTIPLE = re.compile(
    rf"\s*(?:qty:?\s*)?(\d{{1,6}}(?:[.,]\d{{1,3}})?){_UNIT}\s*(?:[xX×*@]|à|@\s?)\s*{_MONEY}\s?[€$£]?(?:\s?/\s?\w+)?\s*",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d+(?:[.,]\d{3})*[.,]\d{2}(?!\d)")
_CENT = Decimal("0.01")


def side_of_item(layout: Layout, number: int) -> int:
    """Where the item stands that a line multiplies: -1 above it, 1 below; 0 when the line is none, or either may be."""
    line = layout.lines[number]
    found = _MULTIPLE.fullmatch(layout.text, line.start, line.end) if line.kind == "text" else None
    if found is None:
        return 0
    product = (_decimal(found[1]) * _decimal(found[2])).quantize(_CENT)
    return int(_says(layout, number + 1, product)) - int(_says(layout, number - 1, product))


def _says(layout: Layout, number: int, product: Decimal) -> bool:
    if not 0 <= number < len(layout.lines):
        return False
    line = layout.lines[number]
    figures = _FIGURE.findall(layout.text, line.start, line.end)
    return any(_decimal(figure) == product for figure in figures)


def _decimal(figure: str) -> Decimal:
    """The value of a figure whose last mark, with one to three digits behind it, is the decimal one."""
    whole, mark, rest = figure.rstrip(".,").replace(",", ".").rpartition(".")
    return Decimal(f"{whole.replace('.', '') or '0'}.{rest}" if mark else rest)

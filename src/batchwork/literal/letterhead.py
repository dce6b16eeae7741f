"""Read what papers say without a label: who sends them, to whom, on which day, in which currency.

The letterhead is the first line that is no title; the addressee is the first line of the next block; a date
alone on its line is the paper's own; the currency is the one its amounts are written in.
"""

import re

from batchwork.literal.lookup import Found
from batchwork.literal.meaning import GENERIC
from batchwork.literal.page_shape import Stretch, gap_cells, lines
from batchwork.literal.values import dates, numbers

_SENDER = frozenset({"vendor", "seller", "supplier", "company", "issuer", "merchant", "biller", "issuedby"})
_RECEIVER = frozenset({"customer", "client", "buyer", "recipient", "purchaser", "billto"})
_OWN_DATE = frozenset({"invoice", "date", "issue", "issued", "document", "letter", "bill", "receipt"})
_CODES = {
    "$": "USD",
    "US$": "USD",
    "\u20ac": "EUR",
    "\u00a3": "GBP",
    "\u00a5": "JPY",
    "\u20b9": "INR",
    "CA$": "CAD",
    "A$": "AUD",
}
_TITLE = re.compile(r"(?i)\W*(?:tax |pro ?forma )?(?:invoice|bill|receipt|statement|credit note|order|page \d+.*)\W*")
_TOP = 12


def shade(kind: str, words: tuple[str, ...]) -> str:
    """A finer type than the schema's: names are not amounts, numbers and ids have digits."""
    if kind != "string" or not words:
        return kind
    if words[-1] in ("number", "id", "code", "reference") and len(words) > 1:
        return "code"
    return "name" if set(words) & (_SENDER | _RECEIVER | {"name"}) and "address" not in words else kind


def unlabelled(words: tuple[str, ...], text: str, kind: str) -> Found | None:
    """The value of a field that papers often leave without a label, or None."""
    asked = set(words) - GENERIC or set(words)
    if kind == "date" and asked and asked <= _OWN_DATE:
        return _lone_date(text)
    if kind != "string":
        return None
    if "currency" in asked:
        return currency(text)
    if asked and asked <= _SENDER:
        return _letterhead(text)
    return _addressee(text) if asked and asked <= _RECEIVER else None


def currency(text: str) -> Found | None:
    """The currency the amounts are written in, as a code of three letters."""
    for value in numbers(text):
        if value.money:
            at = text.index(value.money, value.start)
            return Found(_CODES.get(value.money, value.money), at, at + len(value.money), 0.6)
    return None


def _top_cells(text: str) -> list[tuple[int, Stretch, Stretch]]:
    """The first pieces of a paper that are neither titles nor labels with values."""
    found = []
    for number, line in enumerate(lines(text)[:_TOP]):
        for cell in gap_cells(line)[:2]:
            if _TITLE.fullmatch(cell.text) or re.search(r"[:<>]|(?i:\binvoice\b)", cell.text):
                continue
            if re.search(r"[A-Za-z]{2}", cell.text) and not dates(text, cell.start, cell.end):
                found.append((number, line, cell))
                break
    return found


def _letterhead(text: str) -> Found | None:
    top = _top_cells(text)
    if not top:
        return None
    return _named(top[0][2])


def _named(cell: Stretch) -> Found:
    said = cell.text.lstrip("#*_ ")
    name = _without_address(said.rstrip("*_ "))
    start = cell.start + len(cell.text) - len(said)
    return Found(name, start, start + len(name), 0.5)


def _without_address(said: str) -> str:
    """ "Acme, 12 Main Street, Springfield" is Acme."""
    name, comma, rest = said.partition(",")
    return name if comma and re.search(r"\d", rest) else said


def _addressee(text: str) -> Found | None:
    top = _top_cells(text)
    if not top:
        return None
    rows = lines(text)
    first = top[0][2]
    one_line = _without_address(first.text) != first.text
    for number, _, cell in top[1:]:
        new_block = number > 0 and not rows[number - 1].text.strip()
        if (new_block or one_line) and not re.match(r"\d", cell.text):
            return _named(cell)
    return None


def _lone_date(text: str) -> Found | None:
    for line in lines(text):
        bare = line.text.strip()
        said = dates(text, line.start, line.end)
        if len(said) == 1 and re.fullmatch(r"(?:[A-Z]\w+, )?", bare[: -(said[0].end - said[0].start)] if bare else "x"):
            return Found(said[0].value, said[0].start, said[0].end, 0.5)
    return None
